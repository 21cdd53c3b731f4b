"""The report: findings on one network as a self-contained page of HTML that is also well-formed XML."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from html import escape
from importlib import metadata
from importlib.resources import files
from pathlib import Path

import reduced
from reduced.numbers import decimal_string
from reduced.records import Timeline
from reduced.report import tables
from reduced.report.equations import equations
from reduced.report.figures import figure_html
from reduced.report.findings import Findings
from reduced.report.html import Cell, code, heading, html_table, listed, section, text, values_table
from reduced.writing import in_new_folder, written_whole

_PACKAGES = ("sympy", "mpmath", "numpy", "scipy", "matplotlib", "numba", "gmpy2")
_TIMES = ("T_I", "last_phase_one_event", "T_r_equals_c", "T_plat", "T_II", "T_III_PT", "T_III")
_NEVER = "inf"
_LEVEL_DIGITS = 6
_EVENTS = (
    "The collapsed model makes each living group one particle and starts at t = 0 from f = 0, condensed; the "
    "network starts from its initial weights. T_I is the paper's 10√(κ₁/κ₂); T_r_equals_c the first time Q/P "
    "reaches cos Δ; T_plat the end of the plateau of accuracy; T_II and T_III_PT the first and the last neuron of "
    "K₊ to leave x₋; T_III when K₋ is active on x₊ again. inf means never."
)


def html_page(found: Findings, commands: Sequence[str] = ()) -> str:
    """Return the report as HTML: everything inside it, nothing fetched, equal findings give equal bytes.

    Arguments: found; commands, the command lines that print the same numbers.
    """
    sections = [
        ("parameters", "Parameters", _parameters(found)),
        ("equations", "Derived equations", _equations(found)),
        ("timeline", "Timeline", _timeline(found)),
        ("crosscheck", "Cross-check", _crosscheck(found)),
        ("end", "End of training", _end(found)),
    ]
    if found.ledger is not None:
        sections.append(("theorems", "The paper's theorems and lemmas", tables.ledger_html(found.ledger)))
    if found.drawings:
        sections.append(("figures", "Figures", _figures(found)))
    sections.append(("reproduce", "How to reproduce", _reproduce(commands)))
    links = "\n".join(f'<li><a href="#{anchor}">{escape(title)}</a></li>' for anchor, title, _ in sections)
    body = "\n".join(section(anchor, title, content) for anchor, title, content in sections)
    title = _title(found)
    return f"""<!DOCTYPE html>
<html lang="en" xmlns="http://www.w3.org/1999/xhtml">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>{escape(title)}</title>
<style>
{_style()}</style>
</head>
<body>
<header>
<h1>{escape(title)}</h1>
{_summary(found)}
<nav aria-label="Contents">
<ol>
{links}
</ol>
</nav>
</header>
<main>
{body}
</main>
</body>
</html>
"""


def write_page(content: str, path: str | Path) -> Path:
    """Write a page to a file, whole or not at all, and return its path. Raises InputError."""
    target = Path(path)
    with written_whole(in_new_folder(target)) as temporary:
        temporary.write_text(content, encoding="utf-8")
    return target


def _style() -> str:
    return (files("reduced.report") / "style.css").read_text(encoding="utf-8")


def _title(found: Findings) -> str:
    setting = found.setting
    p, angle = str(setting.problem.p), str(setting.problem.delta).replace("pi", "π")
    size = f"{setting.m} neurons in dimension {setting.dim}"
    return f"Training in phases: p = {p}, Δ = {angle}, {size}, {setting.origin}"


def _summary(found: Findings) -> str:
    living = "{positive} positive and {negative} negative neurons live on, {dead} die".format(
        **found.check.living
    )
    words = (
        f"Reduced training dynamics of a two-layer ReLU network on two data points, derived, solved exactly to "
        f"{found.digits} digits, and checked against the full network. Of {found.setting.m} neurons {living}."
    )
    return f'{text(words)}\n<p class="verdict">Cross-check: {escape(tables.verdict(found.check))}.</p>'


def _parameters(found: Findings) -> str:
    setting, network = found.setting, found.setting.network
    fractions = tables.problem_rows(setting.living)[2:4]
    rows: list[tuple[str, Cell]] = [
        *tables.problem_rows(setting.problem)[:2],
        *((f"{name} expected as κ₁ → 0", value) for name, value in tables.problem_rows(setting.problem)[2:4]),
        *((f"{name} of this network", value) for name, value in fractions),
        *tables.problem_rows(setting.problem)[4:],
        ("κ₁ = √m max ‖b_k(0)‖", f"{network.kappa1:.10g}"),
        ("neurons m", setting.m),
        ("positive, negative output weights", f"{(network.sign > 0).sum()}, {(network.sign < 0).sum()}"),
        ("dimension d", setting.dim),
        ("initial weights", setting.origin),
        ("flow followed numerically to t", f"{setting.until:g}"),
    ]
    return values_table("Data, network and run", rows)


def _equations(found: Findings) -> str:
    words = (
        "Derived by computer algebra from the definition of the network, its loss and its data; time is flow time "
        "t = step × learning rate."
    )
    return text(words) + "\n" + equations(found.living.regime or found.expected.regime)


def _timeline(found: Findings) -> str:
    rows: list[tuple[str | None, ...]] = []
    for name in _TIMES:
        cells = [_moment(found.expected, name), _moment(found.living, name), _network_moment(found, name)]
        for k, shown in enumerate((name, f"f₊ at {name}", f"f₋ at {name}")):
            if any(cell[k] is not None for cell in cells):
                rows.append((shown, *(cell[k] for cell in cells)))
    columns = (
        "quantity",
        "collapsed, expected fractions",
        "collapsed, own fractions",
        "this network, exactly",
    )
    plateaus = [
        (
            _digits(found, start),
            _NEVER if end is None else _digits(found, end),
            decimal_string(level, _LEVEL_DIGITS),
        )
        for start, end, level in found.run.plateaus
    ]
    return "\n".join(
        (
            text(
                f"Flow times at which phases end, and the predictions there, to {found.digits} digits. {_EVENTS}"
            ),
            html_table("Timeline", columns, rows),
            text(
                f"Collapsed model: {found.expected.outcome.message}. This network: {found.run.outcome.message}."
            ),
            html_table("Plateaus of the network's accuracy", ("start", "end", "accuracy"), plateaus),
        )
    )


def _moment(found: Timeline, name: str) -> tuple[str | None, ...]:
    return found.times.get(name), *(found.predictions.get(name) or (None, None))


def _network_moment(found: Findings, name: str) -> tuple[str | None, ...]:
    if name == "T_I":
        return found.T_I, None, None
    t, pair = found.run.times[name], found.run.predictions.get(name)
    never = None if name == "last_phase_one_event" else _NEVER
    shown = (None, None) if pair is None else tuple(_digits(found, f) for f in pair)
    return never if t is None else _digits(found, t), *shown


def _digits(found: Findings, value: object) -> str:
    return decimal_string(value, found.digits)


def _crosscheck(found: Findings) -> str:
    words = (
        "Each row compares the reduced dynamics with the network's numerical flow, computed independently; the "
        "tolerance is ten times the flow's own error estimate. Rows named collapsed allow what the measured "
        "spread of K₊ accounts for; they start from the network's own state at its last Phase I event, the "
        "collapsed columns of the Timeline from f = 0 at t = 0, so the two differ."
    )
    return text(words) + "\n" + tables.crosscheck_html(found.check)


def _end(found: Findings) -> str:
    expected, living = ([tables.regime_row(one), *tables.limit_rows(one)] for one in found.limits)
    rows = [(name, value, own) for (name, value), (_, own) in zip(expected, living, strict=True)]
    columns = ("quantity", "expected fractions", "this network's fractions")
    parts = [html_table("Limit direction and margins", columns, rows), heading("Is it the best possible?")]
    if found.perturbation is None:
        parts.append(
            text("No neuron of one sign lives: a point is never learned, and there is no limit direction.")
        )
    else:
        parts.append(tables.perturbation_html(found.perturbation))
    return "\n".join(parts)


def _figures(found: Findings) -> str:
    drawn = [
        figure_html(one.name, one.title, one.caption, one.svg)
        for one in found.drawings
        if one.svg is not None
    ]
    missing = [f"{one.title}: not drawn ({one.why_not})" for one in found.drawings if one.svg is None]
    return "\n".join([*drawn, *([listed(missing)] if missing else [])])


def _reproduce(commands: Sequence[str]) -> str:
    versions = [("reduced-dynamics", reduced.__version__), ("Python", platform.python_version())]
    versions += [(name, _version(name)) for name in _PACKAGES]
    parts = [values_table("Versions", versions)]
    if commands:
        parts = [text("These commands print the same numbers:"), code(commands), *parts]
    return "\n".join(parts)


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
