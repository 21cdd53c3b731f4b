"""Claim: as a process the command line behaves: closed or full streams, readers that leave, and early Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
COMMAND = f"{sys.executable} -m reduced"
SHORT = ["--help", "plateau --digits 5"]


def _shell(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=ROOT, timeout=60)


@pytest.mark.parametrize("words", SHORT)
def test_closed_streams_are_streams_nobody_reads(words: str) -> None:
    ended = _shell(
        f"{COMMAND} {words} >&-; echo $?; {COMMAND} {words} 2>&- | wc -c; {COMMAND} {words} <&- >&- 2>&-; echo $?"
    )
    first, size, last = ended.stdout.split()
    assert (first, last, ended.stderr) == ("0", "0", "")
    assert int(size) > 5


def test_errors_keep_their_exit_code_where_nobody_reads_them() -> None:
    ended = _shell(f"{COMMAND} plateau --p nan 2>&-; echo $?; {COMMAND} plateau --p nan 2>/dev/full; echo $?")
    assert (ended.stdout.split(), ended.stderr) == (["2", "2"], "")


def test_a_file_opened_later_never_stands_in_for_a_closed_stream(tmp_path: Path) -> None:
    """With descriptor 1 free, a database could get it, and be written into by whoever prints."""
    ended = _shell(f"{COMMAND} sweep --compute limit --workers 1 -o {tmp_path}/rows.db >&- 2>&-; echo $?")
    assert ended.stdout.split() == ["0"]
    ended = _shell(f"{COMMAND} sweep export {tmp_path}/rows.db | wc -l")
    assert ended.stdout.split() == ["2"]


@pytest.mark.parametrize("words", SHORT)
def test_a_reader_that_leaves_is_no_error(words: str) -> None:
    ended = _shell(f"{COMMAND} {words} | true; echo ${{PIPESTATUS[0]}}")
    assert (ended.stdout.split(), ended.stderr) == (["0"], "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("words", SHORT)
def test_a_full_disk_is_one_line_and_exit_2(words: str) -> None:
    ended = _shell(f"{COMMAND} {words} >/dev/full; echo code $? >&2")
    complaint, code = ended.stderr.splitlines()
    assert complaint.startswith("reduced: cannot write the output (")
    assert code == "code 2"


@pytest.mark.parametrize("heavy", ["typer", "sympy"])
def test_ctrl_c_during_imports_is_quiet(heavy: str) -> None:
    """The signal comes while the application is being imported, which is made to take long here."""
    source = (
        "import sys, time\n"
        "import reduced.cli\n"
        "class Slow:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name.startswith({heavy!r}):\n"
        "            print('importing', flush=True)\n"
        "            time.sleep(20)\n"
        "sys.meta_path.insert(0, Slow())\n"
        "sys.exit(reduced.cli.main(['derive']))\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", source], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "importing\n"
    time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, complaint = child.communicate(timeout=30)
    # Python ends by the signal itself where Ctrl-C passed through executed text; a shell shows 130 for both
    assert child.returncode in (130, -signal.SIGINT)
    assert complaint == "reduced: interrupted\n"


def test_importing_the_entry_point_imports_next_to_nothing() -> None:
    """Until then Python answers Ctrl-C itself, with a traceback."""
    ended = _shell(
        f'{sys.executable} -c "import sys; before = set(sys.modules); import reduced.cli; '
        'print(*sorted(set(sys.modules) - before))"'
    )
    new = set(ended.stdout.split())
    assert {name for name in new if name.startswith("reduced")} == {"reduced", "reduced.cli"}
    assert not new & {"typing", "dataclasses", "contextlib", "decimal", "re", "threading", "typer", "mpmath"}


def test_the_command_line_runs_outside_the_main_thread() -> None:
    source = (
        "import threading, reduced.cli; codes = []; "
        "one = threading.Thread(target=lambda: codes.append(reduced.cli.main(['limit', '--digits', '5']))); "
        "one.start(); one.join(); print(codes)"
    )
    ended = _shell(f'{sys.executable} -c "{source}"')
    assert ended.stdout.splitlines()[-1] == "[0]"
    assert ended.stderr == ""


@pytest.mark.slow
def test_ctrl_c_at_any_moment_shows_no_traceback_of_ours() -> None:
    """Before the entry point is imported Python itself answers; from then on we do."""
    for milliseconds in range(60, 700, 20):
        child = subprocess.Popen(
            [sys.executable, "-m", "reduced", "simulate"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "COLUMNS": "100"},
        )
        time.sleep(milliseconds / 1000)
        child.send_signal(signal.SIGINT)
        _, complaint = child.communicate(timeout=60)
        assert b"Traceback" not in complaint
