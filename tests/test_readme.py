"""Claim: every command and every Python block of the README and of docs/ does what the page shows.

A console block is a session in an empty folder. Lines that begin with ``reduced: `` are on the standard error, the
others on the standard output, where a line ``…`` stands for any lines left out. ``$ echo $?`` shows an exit code;
without it the code is 0. A block marked ``without=NAME`` is run as on a machine without that package.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from reduced.cli import main

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", flags=re.M | re.S)
NOTE = "reduced: "
LEFT_OUT = "…"
# Error estimates and differences at rounding level vary between machines; their size is tested elsewhere.
ROUNDING = re.compile(r"\s+-?(0|\d\.\d+e-\d+)(?=\s)")
ELSEWHERE = "import sys; sys.modules['{}'] = None; from reduced.cli import main; sys.exit(main(sys.argv[1:]))"


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    kind: str
    marks: str
    text: str

    def __str__(self) -> str:
        first = re.sub(r"[^\w.]+", "-", self.text.partition("\n")[0]).strip("-")
        return f"{self.page}-{first}"


def blocks(kind: str) -> list[Block]:
    found = [Block(page.name, *match) for page in PAGES for match in FENCE.findall(page.read_text("utf-8"))]
    return [block for block in found if block.kind == kind]


def session(text: str) -> Iterator[tuple[list[str], str]]:
    """Yield the words of each command with what is shown below it."""
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, shown = part.partition("\n")
        yield shlex.split(command), shown.strip("\n")


CONSOLE, PYTHON, PROMPT = blocks("console"), blocks("python"), blocks("pycon")


@pytest.mark.parametrize("block", CONSOLE, ids=str)
def test_commands_print_what_is_shown(
    block: Block, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)
    missing = block.marks.strip().removeprefix("without=")
    code = 0
    for words, shown in session(block.text):
        if words == ["echo", "$?"]:
            assert shown == str(code)
            code = 0
            continue
        assert code == 0, "an exit code that the page does not show"
        code, out, err = _run(words, missing, lambda: capsys.readouterr())
        notes = [line for line in shown.splitlines() if line.startswith(NOTE)]
        assert set(notes) <= set(err.splitlines())
        if code == 2:
            assert (out, err) == ("", "".join(f"{line}\n" for line in notes))
        _assert_shown(out, "\n".join(line for line in shown.splitlines() if not line.startswith(NOTE)))
    assert code == 0, "an exit code that the page does not show"


def _run(words: list[str], missing: str, captured: Callable[[], tuple[str, str]]) -> tuple[int, str, str]:
    """Run a command, ``reduced`` in this process where it can be."""
    program, *rest = words
    if program == "reduced" and not missing:
        captured()
        code = main(rest)
        return code, *captured()
    if program == "reduced":
        rest = ["-c", ELSEWHERE.format(missing), *rest]
    else:
        assert program == "python"
    done = subprocess.run([sys.executable, *rest], capture_output=True, text=True, encoding="utf-8")
    return done.returncode, done.stdout, done.stderr


def _assert_shown(printed: str, shown: str) -> None:
    """Compare line by line, up to rounding; what is left out may be any lines."""
    lines = _stable(shown).split("\n")
    if LEFT_OUT not in lines:
        assert _stable(printed).split("\n") == lines
        return
    pattern = "".join(r"(?:.*\n)*?" if line == LEFT_OUT else re.escape(line) + r"\n" for line in lines)
    assert re.fullmatch(pattern, _stable(printed) + "\n")


def _stable(text: str) -> str:
    return ROUNDING.sub(" ~", text.strip("\n"))


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_python_blocks_run_and_print_their_comments(
    block: Block, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block.text, block.page, "exec"), {})  # the pages are ours, not a user's
    printed = out.getvalue().splitlines()
    promised = re.findall(r"print\(.*\)  # (.*)$", block.text, flags=re.M)
    for line in promised:
        assert line in printed


@pytest.mark.parametrize("block", PROMPT, ids=str)
def test_python_sessions_answer_as_shown(block: Block) -> None:
    found = doctest.DocTestParser().get_doctest(block.text, {}, block.page, None, 0)
    said = io.StringIO()
    doctest.DocTestRunner(verbose=False).run(found, out=said.write)
    assert said.getvalue() == ""


def test_there_is_something_to_test() -> None:
    assert [page.name for page in PAGES if not page.is_file()] == []
    assert len([block for block in CONSOLE if block.page == "README.md"]) >= 8
    assert len(PYTHON) >= 3
    assert len(PROMPT) >= 1


@pytest.mark.parametrize(
    ("printed", "shown", "same"),
    [
        ("a\nb\nc\n", "a\nb\nc", True),
        ("a\nb\nc\n", "a\nb", False),
        ("a\nb\nc\n", "a\n…", True),
        ("a\nb\nc\n", "b\n…", False),
        ("a\nb\nc\n", "a\n…\nc", True),
        ("a\nb\nc\n", "a\n…\nb", False),
        ("a\nb\nc\n", "a\n…\nx\n…", False),
        (" error 1.23e-17 yes\n", " error 9.87e-16 yes", True),
        (" error 1.23 yes\n", " error 1.24 yes", False),
    ],
)
def test_the_comparison_tells_equal_from_different(printed: str, shown: str, same: bool) -> None:
    if same:
        _assert_shown(printed, shown)
    else:
        with pytest.raises(AssertionError):
            _assert_shown(printed, shown)
