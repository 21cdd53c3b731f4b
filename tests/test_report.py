"""Claim: the report is one well-formed page that needs nothing else, and its numbers are those of the commands."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import fullnet
from reduced import report
from reduced.figures import CATALOGUE, Setting, paper_setting
from reduced.report import findings
from reduced.report.figures import embedded
from reduced.report.html import Markup, html_table

HTML = "{http://www.w3.org/1999/xhtml}"
MATH = "{http://www.w3.org/1998/Math/MathML}"
SVG = "{http://www.w3.org/2000/svg}"
DIGITS = 20
SMALL = ("--m", "30", "--dim", "3", "--seed", "3", "--digits", str(DIGITS))
SECTIONS = ["parameters", "equations", "timeline", "crosscheck", "end", "theorems", "figures", "reproduce"]


def small_setting() -> Setting:
    return paper_setting(m=30, dim=3, seed=3)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page the command writes for a small network, with two figures."""
    from reduced.cli import main

    target = tmp_path_factory.mktemp("report") / "page.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(findings, "CATALOGUE", CATALOGUE[:2])
        assert main(["report", *SMALL, "--out", str(target)]) == 0
    assert [path.name for path in target.parent.iterdir()] == ["page.html"]
    return target.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(written: str) -> ElementTree.Element:
    return ElementTree.fromstring(written)


def cells(page: ElementTree.Element, caption: str) -> dict[str, list[str]]:
    """Return a table's rows of texts by the name of the row."""
    table = next(t for t in page.iter(f"{HTML}table") if t.findtext(f"{HTML}caption") == caption)
    body = table.find(f"{HTML}tbody")
    assert body is not None
    rows = [["".join(cell.itertext()) for cell in row] for row in body]
    return {row[0]: row[1:] for row in rows}


def test_every_section_is_there_and_linked(page: ElementTree.Element) -> None:
    assert [section.get("id") for section in page.iter(f"{HTML}section")] == SECTIONS
    targets = {element.get("id") for element in page.iter() if element.get("id")}
    links = [element.get("href", "") for element in page.iter(f"{HTML}a")]
    assert [link[1:] for link in links] == SECTIONS
    assert set(SECTIONS) <= targets


def test_ids_are_unique_and_references_inside_figures_resolve(page: ElementTree.Element) -> None:
    ids = [element.get("id") for element in page.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    inside = [element for svg in page.iter(f"{SVG}svg") for element in svg.iter()]
    links = {element.get("{http://www.w3.org/1999/xlink}href", "#")[1:] for element in inside} - {""}
    styles = " ".join(value for element in inside for value in element.attrib.values())
    used = links | set(re.findall(r"url\(#([^)]*)\)", styles))
    assert used == {element.get("id") for element in inside if element.get("id")}
    assert links


def test_nothing_comes_from_elsewhere(page: ElementTree.Element, written: str) -> None:
    tags = {element.tag.split("}")[-1] for element in page.iter()}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "base", "metadata"}
    for element in page.iter():
        for name, value in element.attrib.items():
            if name.split("}")[-1] in ("href", "src", "action", "data", "srcset"):
                assert value.startswith("#")
            assert "url(" not in value.replace("url(#", "")
    style = page.findtext(f"{HTML}head/{HTML}style") or ""
    assert "url(" not in style
    assert "@import" not in style
    assert "@font-face" not in style


def test_timeline_is_that_of_the_commands(page: ElementTree.Element, run_cli: Callable) -> None:
    shown = cells(page, "Timeline")
    living = run_cli("simulate", *SMALL[:6], "--precision", str(DIGITS), "--json").record
    fractions = [f"{living['living'][sign]}/30" for sign in ("positive", "negative")]
    expected = run_cli("plateau", "--digits", str(DIGITS), "--json").record
    own = run_cli(
        "plateau", "--alpha-plus", fractions[0], "--alpha-minus", fractions[1], *SMALL[6:], "--json"
    ).record
    for name, t in living["times"].items():
        assert shown[name][2] == t
    for name in ("T_plat", "T_II", "T_III"):
        assert shown[name][:2] == [expected["times"][name], own["times"][name]]
        for k, f in enumerate(("f₊", "f₋")):
            pairs = [record["predictions"][name][k] for record in (expected, own, living)]
            assert shown[f"{f} at {name}"] == pairs
    ends = list(cells(page, "Plateaus of the network's accuracy").values())
    assert [end[0] for end in ends] == [plateau["end"] for plateau in living["plateaus"]]


def test_the_seed_is_in_the_title_and_levels_are_short(page: ElementTree.Element) -> None:
    assert (page.findtext(f"{HTML}head/{HTML}title") or "").endswith(", seed 3")
    assert cells(page, "Data, network and run")["initial weights"] == ["seed 3"]
    levels = [row[-1] for row in cells(page, "Plateaus of the network's accuracy").values()]
    assert levels
    assert all(len(level) <= len("0.123456") and 0 < float(level) <= 1 for level in levels)


def test_the_ledger_explains_its_columns_first(written: str) -> None:
    assert 0 < written.index("Small κ₁ means") < written.index("statements at this network</caption>")


def test_crosscheck_is_that_of_the_command(page: ElementTree.Element, run_cli: Callable) -> None:
    record = run_cli("crosscheck", *SMALL, "--lr", "0.01", "--json").record
    shown = cells(page, "Reduced dynamics against the full network")
    names = ("reduced", "exact", "full", "difference", "tolerance")
    for check in record["checks"]:
        agree = "yes" if check["agree"] else "NO"
        assert shown[check["quantity"]] == [*("–" if check[n] is None else check[n] for n in names), agree]
    assert len(shown) == len(record["checks"])


def test_end_of_training_is_that_of_the_commands(page: ElementTree.Element, run_cli: Callable) -> None:
    limit = run_cli("limit", "--digits", str(DIGITS), "--json").record
    perturb = run_cli("perturb", *SMALL, "--json").record
    directions = cells(page, "Limit direction and margins")
    assert directions["margin γ"] == [limit["gamma"], perturb["gamma_limit"]]
    assert directions["γ/γ_max"] == [limit["gamma_ratio"], perturb["gamma_ratio"]]
    assert directions["ρ = λ₋/λ₊"][0] == limit["rho"]
    test = cells(page, "Perturbing the limit network")
    assert test["slope reviving the dead, predicted"] == [perturb["revive_dead"]["slope_predicted"]]
    assert test["local optimum of the whole network"] == ["yes" if perturb["local_optimum"] else "no"]


def test_ledger_is_complete(page: ElementTree.Element) -> None:
    from reduced.theorems import STATEMENTS

    shown = cells(page, "The paper's statements at this network")
    assert list(shown) == [statement.id for statement in STATEMENTS]
    assert {row[0] for row in shown.values()} <= {"holds", "fails", "hypothesis not met"}


def test_equations_are_those_of_the_paper(page: ElementTree.Element) -> None:
    invisible = str.maketrans("", "", "\u2061\u2062")
    written = ["".join(math.itertext()).translate(invisible) for math in page.iter(f"{MATH}math")]
    for equation in ("ḟ", "f˙+=AP−BQ", "f˙−=CP−DQ")[1:]:
        assert equation in written
    two, three, four = (
        [equation for equation in written if equation.startswith(f"{letter}=")] for letter in "ABD"
    )
    assert two == ["A=α+κ22", "A=α+κ22sin2Δ", "A=κ22(α−+α+sin2Δ)"]
    assert three == ["B=α+κ22cosΔ", "B=0", "B=α−κ22cosΔ"]
    assert four == ["D=κ22(α−sin2Δ+α+)", "D=α−κ22sin2Δ", "D=α−κ22"]
    assert "v+∝x+−cosΔx−" in written
    # the regime at α = cos Δ is the three-phase one
    assert "α<cosΔ" in written


def test_equations_are_presentation_mathml(page: ElementTree.Element) -> None:
    maths = list(page.iter(f"{MATH}math"))
    tags = {element.tag.removeprefix(MATH) for math in maths for element in math.iter()}
    known = ["math", "mrow", "mi", "mn", "mo", "mfrac", "msub", "msup", "msqrt", "mover", "mspace"]
    assert {"mfrac", "msub", "msup", "msqrt"} <= tags <= set(known)


def test_figures_have_words_for_who_cannot_see_them(page: ElementTree.Element) -> None:
    figures = list(page.iter(f"{HTML}figure"))
    assert [figure.get("id") for figure in figures] == [f"figure-{entry.name}" for entry in CATALOGUE[:2]]
    for figure, entry in zip(figures, CATALOGUE, strict=False):
        svg = figure.find(f"{HTML}div/{SVG}svg")
        assert svg is not None
        assert svg.get("role") == "img"
        assert entry.title in svg.get("aria-label", "")
        caption = "".join(figure.find(f"{HTML}figcaption").itertext())  # type: ignore[union-attr]
        assert entry.caption in caption


def test_commands_on_the_page_print_its_numbers(page: ElementTree.Element, run_cli: Callable) -> None:
    lines = "".join(next(page.iter(f"{HTML}code")).itertext()).splitlines()
    words = [shlex.split(line) for line in lines]
    assert {line[0] for line in words} == {"reduced"}
    assert words[0][1:] == ["report", *SMALL, "--out", "page.html"]
    plateaus = [line[1:] for line in words if line[1] == "plateau"]
    timeline = cells(page, "Timeline")
    for k, line in enumerate(plateaus):
        assert run_cli(*line, "--json").record["times"]["T_II"] == timeline["T_II"][k]
    limits = [line[1:] for line in words if line[1] == "limit"]
    directions = cells(page, "Limit direction and margins")
    for k, line in enumerate(limits):
        assert run_cli(*line, "--json").record["gamma_ratio"] == directions["γ/γ_max"][k]


def bare_page(told: list[str]) -> str:
    found = report.collect(small_setting(), 10, rates=(), theorems=False, figures=False, on_stage=told.append)
    return report.html_page(found)


def test_parts_can_be_left_out_progress_is_told_and_equal_input_gives_equal_bytes() -> None:
    told: list[str] = []
    first, second = bare_page(told), bare_page([])
    assert first == second
    sections = [section.get("id") for section in ElementTree.fromstring(first).iter(f"{HTML}section")]
    assert sections == [name for name in SECTIONS if name not in ("theorems", "figures")]
    assert "end of training" in told


def test_a_network_without_living_negatives_has_a_report() -> None:
    net = fullnet.initial_network(m=6, dim=2, kappa1=0.1, kappa2=1.0, seed=0)
    positive = fullnet.given_network(net.W, [1.0] * 6, 1.0)
    paper = small_setting()
    setting = Setting(paper.problem, positive, 0.1)
    page = report.html_page(report.collect(setting, 10, rates=(), theorems=False, figures=False))
    ElementTree.fromstring(page)
    assert "there is no limit direction" in page
    assert "plateau is infinite" in page


def test_a_figure_that_cannot_be_drawn_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    staircase = [entry for entry in CATALOGUE if entry.name == "staircase"]
    monkeypatch.setattr(findings, "CATALOGUE", staircase)
    setting = paper_setting(reduced_problem("5/2"), m=30, dim=3, seed=3)
    found = report.collect(setting, 10, rates=(), theorems=False)
    assert [one.svg for one in found.drawings] == [None]
    assert f"{staircase[0].title}: not drawn (" in report.html_page(found)


def reduced_problem(p: str) -> Any:
    import reduced

    return reduced.problem(p=p)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--loss", "logistic"), 2),
        (("--p", "1"), 2),
        (("--lr", "-1"), 2),
        (("--budget", "1e-3"), 3),
        (("--init", "missing.npz"), 2),
    ],
)
def test_what_goes_wrong_leaves_no_file(
    words: tuple[str, ...], code: int, run_cli: Callable, tmp_path: Path
) -> None:
    ended = run_cli("report", *words, "--out", str(tmp_path / "page.html"))
    assert ended.code == code
    assert list(tmp_path.iterdir()) == []
    if code == 2:
        assert ended.out == ""
        assert len(ended.err.splitlines()) == 1


def test_an_unwritable_place_is_refused_before_anything_is_computed(
    run_cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        report, "collect", lambda *_, **__: pytest.fail("computed for nothing"), raising=False
    )
    for place in (tmp_path, tmp_path / "nowhere" / "page.html"):
        ended = run_cli("report", "--out", str(place))
        assert ended.code == 2
        assert ended.err.startswith(f"reduced: out: {place}: expected a file that can be written")


def test_interruption_leaves_no_file(
    run_cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(findings, "crosscheck", interrupt)
    ended = run_cli("report", *SMALL, "--no-theorems", "--no-figures", "--out", str(tmp_path / "page.html"))
    assert (ended.code, list(tmp_path.iterdir())) == (130, [])


def test_json_says_what_was_written(run_cli: Callable, tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    options = ("--no-figures", "--no-theorems", "--json")
    record = run_cli("report", *SMALL, *options, "--out", str(target)).record
    assert record["file"] == str(target)
    assert record["bytes"] == target.stat().st_size
    assert record["agree"] is True
    assert record["figures"] == []


def test_two_figures_with_equal_ids_stand_side_by_side() -> None:
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9pt">'
        '<metadata>words</metadata><defs><style type="text/css">*{stroke: red}</style><path id="a"/>'
        '<clipPath id="b"/></defs><g id="c"><use xlink:href="#a" style="fill: #abc; clip-path: url(#b)"/></g></svg>'
    )
    one, other = (ElementTree.fromstring(embedded(svg, name, "A", "B & C")) for name in ("one", "other"))
    for name, root in (("one", one), ("other", other)):
        ids = {element.get("id") for element in root.iter() if element.get("id")}
        assert ids == {f"{name}-a", f"{name}-b"}
        use = root.find(f"{SVG}g/{SVG}use")
        assert use is not None
        assert use.get("{http://www.w3.org/1999/xlink}href") == f"#{name}-a"
        assert use.get("style") == f"fill: #abc; clip-path: url(#{name}-b)"
        assert root.get("width") is None
        assert root.get("aria-label") == "A. B & C"
        assert {element.tag.removeprefix(SVG) for element in root.iter()}.isdisjoint({"metadata", "style"})


def test_cells_are_text_unless_they_are_markup() -> None:
    table = ElementTree.fromstring(
        html_table("a < b", ("x", "y"), [("<i>", None), ("1", Markup("<b>2</b>"))])
    )
    first, second = table.iterfind("table/tbody/tr")
    assert ["".join(cell.itertext()) for cell in first] == ["<i>", "–"]
    assert second.find("td/b") is not None
    assert table.get("aria-label") == "a < b"


@pytest.mark.slow
def test_the_whole_catalogue_is_on_the_page_twice_the_same() -> None:
    pages = [report.html_page(report.collect(paper_setting(), theorems=False)) for _ in range(2)]
    assert pages[0] == pages[1]
    page = ElementTree.fromstring(pages[0])
    drawn = [figure.get("id") for figure in page.iter(f"{HTML}figure")]
    assert drawn == [f"figure-{entry.name}" for entry in CATALOGUE]
    ids = [element.get("id") for element in page.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert math.log10(len(pages[0])) < 7
