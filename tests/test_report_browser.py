"""Claim: a browser shows the report whole: nothing fetched, no errors, equations set, no sideways scrolling."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from reduced import report
from reduced.figures import CATALOGUE, paper_setting
from reduced.report import findings

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed (extra 'browser')")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="chromium or chromedriver is not installed"
)

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDTHS = (320, 400, 768, 1280)

# Boxes of every element that matches, with those of its children.
BOXES = """
    const box = e => { const r = e.getBoundingClientRect();
        return {tag: e.localName, left: r.left, right: r.right, top: r.top, bottom: r.bottom,
                width: r.width, height: r.height}; };
    return [...document.querySelectorAll(arguments[0])].map(
        e => ({...box(e), children: [...e.children].map(box)}));
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report on a small network with all parts but the slow figures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(findings, "CATALOGUE", [e for e in CATALOGUE if e.name in ("orientations", "timeline")])
        found = report.collect(paper_setting(m=30, dim=3, seed=3), rates=())
    return report.write_page(report.html_page(found), tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


def show(browser: Any, page: Path, width: int = 1280) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.as_uri())


def prefer(browser: Any, scheme: str, medium: str = "screen") -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": medium, "features": features})


def brightness(browser: Any, selector: str, quality: str) -> float:
    colour = browser.find_element("css selector", selector).value_of_css_property(quality)
    red, green, blue = (int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3])
    return (red + green + blue) / (3 * 255)


def test_the_console_is_silent_and_nothing_is_fetched(browser: Any, page: Path) -> None:
    show(browser, page)
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert browser.title.startswith("Training in phases: p = 4, Δ = π/15")
    assert browser.execute_script("return document.compatMode") == "CSS1Compat"


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_does_not_scroll_sideways(browser: Any, page: Path, width: int) -> None:
    show(browser, page, width)
    assert browser.execute_script("return window.innerWidth") == width
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    browser.execute_script("window.scrollTo(500, 0)")
    assert browser.execute_script("return window.scrollX") == 0
    for box in browser.execute_script(BOXES, "main > section, .scroll, .plate, pre, p, nav"):
        assert -0.5 <= box["left"] <= box["right"] <= width + 0.5


def test_the_ledger_is_a_stack_of_named_cells_on_a_narrow_screen(browser: Any, page: Path) -> None:
    show(browser, page, 400)
    rows = browser.execute_script(BOXES, "#theorems tbody tr")
    assert rows
    for row in rows:
        for above, below in pairwise(row["children"]):
            assert below["top"] >= above["bottom"] - 0.5
        assert all(0 <= cell["left"] < cell["right"] <= 400.5 for cell in row["children"])
    head = browser.execute_script(
        "return getComputedStyle(document.querySelector('#theorems td'), '::before').content"
    )
    assert "attr(data-head)" in head or "verdict" in head
    show(browser, page, 1280)
    verdict, seen = browser.execute_script(BOXES, "#theorems tbody tr")[0]["children"][1:3]
    assert verdict["right"] <= seen["left"] + 0.5


def test_wide_tables_scroll_in_their_own_boxes(browser: Any, page: Path) -> None:
    show(browser, page, 400)
    wide = browser.execute_script(
        "return [...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth).map("
        "e => { e.scrollLeft = 50; return [getComputedStyle(e).overflowX, e.scrollLeft, e.tabIndex]; })"
    )
    assert len(wide) >= 3
    assert all(how == "auto" and moved > 0 and focus == 0 for how, moved, focus in wide)


@pytest.mark.parametrize("width", [400, 1280])
def test_equations_are_set(browser: Any, page: Path, width: int) -> None:
    show(browser, page, width)
    equations = browser.execute_script(BOXES, "math")
    assert len(equations) > 30
    assert all(box["width"] > 3 and box["height"] > 8 for box in equations)
    for fraction in browser.execute_script(BOXES, "mfrac"):
        above, below = fraction["children"]
        assert above["height"] > 3
        assert above["bottom"] <= below["top"] + 1
        assert above["left"] < below["right"]
        assert below["left"] < above["right"]
    subscripts = browser.execute_script(BOXES, "msub")
    assert len(subscripts) > 30
    for box in subscripts:
        base, mark = box["children"]
        assert mark["left"] >= base["right"] - 3
        assert mark["bottom"] > base["bottom"]
        assert 0 < mark["height"] < 1.2 * base["height"]
    for box in browser.execute_script(BOXES, "msup"):
        base, mark = box["children"]
        assert mark["left"] >= base["right"] - 3
        assert mark["top"] < base["top"] + 3
    for box in browser.execute_script(BOXES, "mover"):
        letter, dot = box["children"]
        assert (dot["top"] + dot["bottom"]) / 2 < (letter["top"] + letter["bottom"]) / 2


def test_greek_letters_and_marks_are_characters_of_their_own(browser: Any, page: Path) -> None:
    show(browser, page)
    letters = browser.execute_script(
        "return [...document.querySelectorAll('mi, msub mo')].map(e => e.textContent)"
    )
    assert {"α", "κ", "Δ", "ρ", "γ", "+", "−", "plat", "II", "cos", "sin"} <= set(letters)
    assert not set(letters) & {"alpha", "kappa", "Delta", "rho", "gamma", "plus", "minus"}


@pytest.mark.parametrize("width", [400, 1280])
def test_figures_are_drawn(browser: Any, page: Path, width: int) -> None:
    from PIL import Image

    show(browser, page, width)
    figures = browser.find_elements("css selector", "figure")
    assert len(figures) == 2
    for figure in figures:
        svg = figure.find_element("css selector", "svg")
        # as wide as the page, up to the figure's own 62rem
        assert 0.8 * min(width, 62 * 16) <= svg.rect["width"] <= width
        assert svg.rect["height"] > 200
        plate = figure.find_element("css selector", ".plate")
        image = Image.open(io.BytesIO(plate.screenshot_as_png)).convert("RGB")
        colours = image.getcolors(image.width * image.height)
        assert len(colours) > 50
        white = sum(count for count, colour in colours if colour == (255, 255, 255))
        assert 0.2 < white / (image.width * image.height) < 0.99
        assert figure.find_element("css selector", "figcaption").text


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_the_page_follows_the_colour_scheme(browser: Any, page: Path, scheme: str, dark: bool) -> None:
    prefer(browser, scheme)
    show(browser, page)
    paper, ink = brightness(browser, "body", "background-color"), brightness(browser, "body", "color")
    plate = brightness(browser, ".plate", "background-color")
    prefer(browser, "light")
    assert (paper < 0.2) is dark
    assert abs(paper - ink) > 0.6
    assert plate == 1


def test_print_shows_tables_whole_and_leaves_the_contents_out(browser: Any, page: Path) -> None:
    prefer(browser, "dark", "print")
    show(browser, page, 700)
    nav = browser.find_element("css selector", "nav").is_displayed()
    overflow = browser.find_element("css selector", ".scroll").value_of_css_property("overflow-x")
    paper = brightness(browser, "body", "background-color")
    prefer(browser, "light")
    assert (nav, overflow, paper) == (False, "visible", 1)


def test_links_lead_to_their_sections(browser: Any, page: Path) -> None:
    show(browser, page)
    for link in browser.find_elements("css selector", "nav a"):
        link.click()
        anchor = link.get_attribute("href").partition("#")[2]
        top = browser.execute_script(
            "return document.getElementById(arguments[0]).getBoundingClientRect().top", anchor
        )
        assert -5 < top < 900
        assert browser.execute_script("return window.scrollY") > 0
        browser.execute_script("window.scrollTo(0, 0)")
