"""Claim: what docs/ names is there: statements, code, commands with their options, tests, figures, pages."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer.main

import reduced.theorems
from reduced.cli.app import app
from reduced.errors import MissingExtra
from reduced.figures import CATALOGUE

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
MAP = (DOCS / "paper_to_code.md").read_text(encoding="utf-8")
SPAN = re.compile(r"`([^`\n]+)`")
# The one test file that measures every statement, by looping over them.
LEDGER = "tests/test_theorems_ledger.py"
COMMANDS = {"sh": r"^(reduced [^#>\n]*)", "console": r"^\$ (reduced [^\n]*)"}
# The page on mistakes shows a command that has no such option.
REFUSED = {("mistakes.md", "plateau", "--seed")}

CLI: Any = typer.main.get_command(app)


def rows() -> list[list[str]]:
    """Return the cells of every row of the map but heads and rules."""
    lines = re.findall(r"^\| (.+) \|$", MAP, flags=re.M)
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)] for line in lines]
    return [row for row in cells if row[1] != "code"]


ROWS = rows()


def spans(cell: str) -> list[str]:
    return SPAN.findall(cell)


def named(path: str) -> Any:
    """Import a dotted name: a package or module, or what is in one."""
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        except MissingExtra:
            # the package is there; what is in it cannot be looked at without its extra
            return None
        for name in parts[cut:]:
            found = getattr(found, name)
        return found
    raise ModuleNotFoundError(path)


def commands(page: Path) -> list[str]:
    """Return the commands of a page: in sh and console blocks, and those within a line."""
    text = page.read_text(encoding="utf-8")
    fenced = re.findall(r"^```(sh|console)[^\n]*\n(.*?)^```$", text, flags=re.M | re.S)
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    inline = [span for span in spans(prose) if re.match(r"reduced [a-z-]", span)]
    return inline + [found for kind, block in fenced for found in re.findall(COMMANDS[kind], block, re.M)]


def test_every_statement_has_its_row_under_the_module_that_measures_it() -> None:
    sections = re.split(r"^## ", MAP, flags=re.M)[1:]
    found: list[str] = []
    for section in sections:
        ids = re.findall(r"^\| `([^`]+)`", section, flags=re.M)
        measured = re.search(r"^Measured by `([\w.]+)`", section, flags=re.M)
        assert bool(ids) == bool(measured)
        if measured:
            assert set(ids) <= {statement.id for statement in named(measured[1]).STATEMENTS}
        found += ids
    assert sorted(found) == sorted(statement.id for statement in reduced.theorems.STATEMENTS)
    assert len(found) == 60


def test_every_figure_has_its_row() -> None:
    drawn = {span for row in ROWS for span in spans(row[1]) if ".draw_" in span}
    assert drawn == {f"reduced.figures.draw_{entry.name}" for entry in CATALOGUE}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_names_code_a_command_and_tests_of_that_code(row: list[str]) -> None:
    _, code, command, tests = row
    names, files = spans(code), spans(tests)
    assert names
    assert files
    for name in names:
        named(name)
    assert re.fullmatch(r"`reduced [^`]+`", command)
    for file in files:
        text = (ROOT / file).read_text(encoding="utf-8")
        assert file == LEDGER or any(re.search(rf"\b{name.split('.')[-1]}\b", text) for name in names), file


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_name_in_the_text_is_there(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for span in spans(prose):
        if re.fullmatch(r"(reduced|fullnet)(\.\w+)+", span):
            named(span)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.name)
def test_every_command_has_its_options(page: Path) -> None:
    for text in commands(page):
        command, words = CLI, shlex.split(text)[1:]
        while words and words[0] in getattr(command, "commands", {}):
            command = command.commands[words.pop(0)]
        known = {
            flag: parameter.metavar or ""
            for parameter in command.params
            if not parameter.hidden
            for flag in parameter.opts
        }
        assert command is not CLI or words[0] in known, text
        for flag, value in pairwise([*words, ""]):
            if re.match(r"--?[a-z]", flag) and (page.name, command.name, flag) not in REFUSED:
                assert flag in known, f"{text}: no option {flag}"
                if re.fullmatch(r"[\w-]+(\|[\w-]+)+", known[flag]):
                    assert value in known[flag].split("|") or value.isdigit(), f"{text}: {flag} {value}"


def test_the_gallery_is_the_catalogue_in_its_order() -> None:
    text = (DOCS / "gallery.md").read_text(encoding="utf-8")
    assert "reduced figures --format svg --out gallery" in text
    shown = [_gallery_entry(part) for part in re.split(r"^## ", text, flags=re.M)[1:]]
    assert shown == [
        {
            "title": entry.title,
            "command": f"reduced figures {entry.name}",
            "image": (entry.title, f"gallery/{entry.name}.svg"),
            "caption": " ".join(entry.caption.split()),
        }
        for entry in CATALOGUE
    ]


def _gallery_entry(part: str) -> dict[str, Any]:
    title, command, image, caption = part.strip().split("\n\n")
    return {
        "title": title,
        "command": command.strip("`"),
        "image": re.fullmatch(r"!\[(.+)\]\((.+)\)", image).groups(),
        "caption": " ".join(caption.split()),
    }


def test_the_index_has_every_page() -> None:
    links = re.findall(r"^- \[[^]]+\]\(([^)]+)\): .+\.$", (DOCS / "index.md").read_text("utf-8"), flags=re.M)
    expected = {*PAGES, *(ROOT / "derivations").glob("*.md"), ROOT / "README.md"} - {DOCS / "index.md"}
    assert {(DOCS / link).resolve() for link in links} == {page.resolve() for page in expected}
    assert len(links) == len(expected)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for link in re.findall(r"(?<!!)\[[^]]+\]\(([^)#]+)\)", text):
        assert (page.parent / link).exists(), link


def test_there_are_ten_mistakes() -> None:
    heads = re.findall(r"^## (\d+)\. .+$", (DOCS / "mistakes.md").read_text(encoding="utf-8"), flags=re.M)
    assert heads == [str(number) for number in range(1, 11)]
    parts = re.split(r"^## ", (DOCS / "mistakes.md").read_text(encoding="utf-8"), flags=re.M)[1:]
    assert all(re.search(r"^```(console|pycon)", part, flags=re.M) for part in parts)
