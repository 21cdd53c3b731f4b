"""Claim: tables fit the terminal without a number cut or a cell lost, however narrow it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.cells import cell_len

from reduced.cli.render import print_tables, table

SMALL = ("--m", "20", "--dim", "3", "--seed", "2", "--until", "50")
COLUMNS = ("quantity", "reduced", "exact flow", "full network", "agree")
ROWS = [
    ("T_plat", "316.479845", "316.4798446", "316.47984464321", "yes"),
    ("f₊ at T_II", "3.05935520", None, "3.0593552045", "NO"),
]


def _printed(capsys: pytest.CaptureFixture[str], *parts: object) -> list[str]:
    print_tables(*parts)
    return capsys.readouterr().out.splitlines()


def _at(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))


def test_a_table_with_room_has_one_line_a_row(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _at(monkeypatch, 80)
    lines = _printed(capsys, table("Title", COLUMNS, ROWS))
    assert lines[:2] == ["Title", ""]
    assert lines[2] == " quantity     reduced      exact flow    full network      agree"
    assert lines[4] == " T_plat       316.479845   316.4798446   316.47984464321   yes"
    assert lines[5] == " f₊ at T_II   3.05935520   –             3.0593552045      NO"


def test_gaps_narrow_first_and_spare_columns_go_next(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = table("Title", COLUMNS, ROWS, spare=["exact flow"])
    _at(monkeypatch, 62)
    assert _printed(capsys, made)[4] == " T_plat      316.479845  316.4798446  316.47984464321  yes"
    _at(monkeypatch, 55)
    assert _printed(capsys, made)[4] == " T_plat       316.479845   316.47984464321   yes"


@pytest.mark.parametrize("width", range(3, 100, 7))
def test_no_cell_is_ever_lost_and_lines_are_as_narrow_as_cells_allow(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _at(monkeypatch, width)
    text = "\n".join(_printed(capsys, table("T", COLUMNS, ROWS)))
    for cell in (*COLUMNS, *(cell for row in ROWS for cell in row if cell)):
        assert cell in text
    widest_cell = 3 + len("316.47984464321")
    assert max(cell_len(line) for line in text.splitlines()) <= max(width, widest_cell)


def test_rows_take_no_more_lines_than_they_need(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _at(monkeypatch, 45)
    lines = _printed(capsys, table("Title", COLUMNS, ROWS))
    assert lines[2:] == [
        " quantity     reduced      exact flow",
        "   full network      agree",
        " ─────────────────────────────────────",
        " T_plat       316.479845   316.4798446",
        "   316.47984464321   yes",
        " f₊ at T_II   3.05935520   –",
        "   3.0593552045      NO",
        "",
    ]


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(
            ("crosscheck", *SMALL, "--lr", "0.1", "--steps", "20", "--digits", "9"), marks=pytest.mark.slow
        ),
        ("perturb", *SMALL, "--digits", "20", "--directions", "20"),
        pytest.param(("theorems", *SMALL), marks=pytest.mark.slow),
        ("plateau", "--sensitivities", "--distribution"),
        ("simulate", "--m", "20", "--dim", "3", "--precision", "30"),
    ],
)
def test_commands_fit_into_eighty_columns(
    run_cli: Callable, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    narrow = run_cli(*words).out
    assert max(cell_len(line) for line in narrow.splitlines()) <= 80
    monkeypatch.setenv("COLUMNS", "300")
    wide = run_cli(*words).out
    assert _numbers(wide) == _numbers(narrow)


def test_a_narrower_table_stands_in_before_rows_are_folded(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rounded = [(name, *(cell and cell[:6] for cell in cells), agree) for name, *cells, agree in ROWS]
    narrower = table("Title", COLUMNS, rounded, spare=["exact flow"])
    made = replace(table("Title", COLUMNS, ROWS, spare=["exact flow"]), narrower=narrower)
    _at(monkeypatch, 55)
    assert _printed(capsys, made)[4] == " T_plat       316.479845   316.47984464321   yes"
    _at(monkeypatch, 46)
    assert _printed(capsys, made)[4] == " T_plat       316.47    316.47         yes"


def test_a_crosscheck_has_one_line_a_row_at_eighty_columns(
    run_cli: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    words = ("crosscheck", *SMALL, "--lr", "0.1", "--steps", "20")
    lines = run_cli(*words).out.splitlines()
    assert max(map(cell_len, lines)) <= 80
    checks = run_cli(*words, "--json").record["checks"]
    for check in checks:
        (line,) = [line for line in lines if line.startswith(f" {check['quantity']} ")]
        assert line.split()[-1] == ("yes" if check["agree"] else "NO")
        if check["full"] is not None and "," not in check["full"]:
            assert {check["difference"], check["tolerance"]} <= {*line.split()}
            assert any(_close(word, float(check["full"])) for word in line.split())


def _close(word: str, value: float) -> bool:
    try:
        return abs(float(word) - value) <= 6e-6 * abs(value)
    except ValueError:
        return False


def _numbers(text: str) -> list[str]:
    return sorted(word for word in text.split() if word[:1].isdigit() or word[:2].strip("-").isdigit())


def test_alignment_counts_columns_of_the_terminal_not_characters(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _at(monkeypatch, 80)
    names, sizes = ("漢字", "θ̄ and v₊", "abcd"), ("1", "2", "3")
    lines = _printed(capsys, table("Title", ("name", "size"), zip(names, sizes, strict=True)))[4:7]
    assert {cell_len(line[: line.rindex(size)]) for line, size in zip(lines, sizes, strict=True)} == {12}


def test_a_table_without_rows_shows_its_heads(capsys: pytest.CaptureFixture[str]) -> None:
    assert _printed(capsys, table("Title", ("a", "b"), [])) == ["Title", "", " a   b", " ─────", ""]
