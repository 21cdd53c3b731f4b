"""How runs show themselves in a notebook: HTML tables of what was found on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from fullnet.clock import LINEAR, time_text
from fullnet.detection import Detection
from fullnet.phases import Phases, phase_times
from fullnet.trajectory import Trajectory

_DIGITS = 10
_NAMED = 8


def html_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return an HTML table: its title as caption, heads, cells as text (None shows as –)."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "\n".join("<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f"<table>\n<caption>{escape(title)}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody>\n</table>"
    )


def flow_html(flow: Trajectory) -> str:
    """Return what a flow is and did, with the phase times of a run on two points."""
    m, d = flow.network.W.shape
    kinds = Counter(event.kind for event in flow.events)
    living, sign = flow.living, flow.network.sign
    rows = [
        ("network", f"m = {m}, d = {d}, κ₂ = {flow.network.kappa2:g}"),
        ("data", f"{len(flow.data.y)} points"),
        ("loss", flow.loss),
        ("known up to t", _time(flow.end)),
        ("outcome", flow.outcome.message),
        ("living +/−/dead", _counts(living & (sign > 0), living & (sign < 0), ~living)),
        ("switches", ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "none"),
        ("accuracy", _steps(flow.accuracy_changes)),
    ]
    tables = [html_table("Gradient flow", ("quantity", "value"), rows)]
    if flow.data.is_two_point:
        tables.append(phases_html(phase_times(flow)))
    return "\n".join(tables)


def phases_html(phases: Phases) -> str:
    """Return the phase times of a two-point run with their estimated errors."""
    rows = [(name, _time(t), _error(t, phases.errors.get(name))) for name, t in phases.times.items()]
    return html_table("Phase times (flow time t)", ("event", "t", "estimated error"), rows)


def detection_html(found: Detection) -> str:
    """Return the plateaus, clusters and pattern changes found on a run."""
    settled = (
        "no switch" if found.condensed_at is None else f"condensed at t = {time_text(found.condensed_at)}"
    )
    plateaus = [(_time(one.start), _time(one.end), one.level) for one in found.plateaus]
    clusters = [(len(one.members), _some(one.members.tolist()), one.spread) for one in found.clusters]
    changes = [
        (
            f"{change.sign:+d}",
            f"{change.before} → {change.after}",
            _time(change.start),
            _time(change.end),
            len(change.neurons),
        )
        for change in found.changes
    ]
    return "\n".join(
        (
            html_table("Plateaus", ("start", "end", "accuracy"), plateaus),
            html_table(f"Clusters of directions, {settled}", ("neurons", "which", "spread"), clusters),
            html_table("Pattern changes", ("sign", "pattern", "from t", "to t", "neurons"), changes),
        )
    )


def _counts(*masks: Iterable[bool]) -> str:
    return "/".join(str(sum(map(bool, mask))) for mask in masks)


def _steps(changes: Sequence[tuple[float, float]]) -> str:
    shown = [f"{level:.4g} from t = {time_text(t, 4)}" for t, level in changes[:_NAMED]]
    return ", ".join(shown) + (f", … ({len(changes)} steps)" if len(changes) > _NAMED else "")


def _time(t: float | None) -> str | None:
    return None if t is None else time_text(t, _DIGITS)


def _error(t: float | None, error: float | None) -> str | None:
    """Write the error of a time, that of ln t where the clock shows logarithms."""
    if t is None or error is None:
        return None
    return f"{error:.1g}" if t <= LINEAR else f"{error / LINEAR:.1g} of ln t"


def _some(indices: Sequence[int]) -> str:
    listed = ", ".join(map(str, indices[:_NAMED]))
    return listed + (", …" if len(indices) > _NAMED else "")


def _cell(cell: object) -> str:
    return "–" if cell is None else escape(f"{cell:.{_DIGITS}g}" if isinstance(cell, float) else str(cell))
