"""What records hold as HTML tables: shown by notebooks for one record, and put together by the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reduced.numbers import Exact, decimal_string, exact
from reduced.report.html import html_table, text, values_table
from reduced.solve.promise import private_context

if TYPE_CHECKING:
    from reduced.crosscheck import Check, CrossCheck
    from reduced.maxmargin import Perturbation, Revival
    from reduced.records import Problem, Timeline
    from reduced.solve import ExactRun, LimitDirection, Point
    from reduced.theorems import Aggregate, Ledger

# A run knows at least these, whatever digits it was asked for.
_NETWORK_DIGITS = 15

# Expressions longer than this are shown by their value alone.
_LONGEST_EXPRESSION = 24

POINT_NAMES = {
    "f_plus": "f₊",
    "f_minus": "f₋",
    "phase": "phase",
    "loss": "loss",
    "accuracy": "accuracy",
    "angle_plus": "angle of K₊ to v₊",
    "angle_plus_law": "its law C₊/log t",
    "angle_minus": "angle of K₋ to v₋",
    "angle_minus_law": "its law C₋/log t",
}


def problem_html(problem: Problem) -> str:
    """Return the parameters of the collapsed model."""
    return values_table("Collapsed model", problem_rows(problem))


def problem_rows(problem: Problem) -> list[tuple[str, str]]:
    """Return the parameters of the collapsed model, by the paper's names."""
    names = {"p": "p", "delta": "Δ", "alpha_plus": "α₊", "alpha_minus": "α₋", "kappa2": "κ₂"}
    rows = [(shown, exact_words(getattr(problem, name))) for name, shown in names.items()]
    return [*rows, ("loss", problem.loss.value)]


def exact_words(value: Exact) -> str:
    """Write an exact number as it was given, with its value where that is not the same."""
    written, number = str(value).replace("pi", "π"), decimal_string(value.evaluate(private_context(25)), 10)
    if written == number:
        return written
    if len(written) > _LONGEST_EXPRESSION:
        return number
    return f"{written} = {number}" if exact(number) == value else f"{written} = {number}…"


def timeline_html(found: Timeline) -> str:
    """Return the times of a timeline, the predictions there, and how it ended."""
    radius: dict[str, str | None] = getattr(found, "radius", {})
    rows = [
        (name, time, *(found.predictions[name] or (None, None)), *([radius[name]] if radius else []))
        for name, time in found.times.items()
    ]
    columns = ("event", "t", "f₊", "f₋", *(["radius of t"] if radius else []))
    regime = "no regime" if found.regime is None else f"regime {found.regime.value}"
    closing = text(f"{regime}; {found.outcome.message}; method {found.method}, {found.digits} digits")
    return html_table("Times of the collapsed model", columns, rows) + "\n" + closing


def points_html(points: Sequence[Point]) -> str:
    """Return the collapsed model at flow times, one column each."""
    rows = [(shown, *(getattr(point, name) for point in points)) for name, shown in POINT_NAMES.items()]
    columns = ("quantity", *(f"t = {point.t}" for point in points))
    return html_table("The collapsed model at flow times", columns, rows)


def network_html(run: ExactRun) -> str:
    """Return the phase times of a network's exact flow, and who lives at its end."""
    rows = [
        (name, None if t is None else decimal_string(t, _NETWORK_DIGITS), *_pair(run, name, _NETWORK_DIGITS))
        for name, t in run.times.items()
    ]
    living = f"{len(run.positive)}/{len(run.negative)}/{len(run.dead)}"
    closing = text(f"living +/−/dead {living}; {len(run.events)} switches; {run.outcome.message}")
    return html_table("Times of the network's exact flow", ("event", "t", "f₊", "f₋"), rows) + "\n" + closing


def _pair(run: ExactRun, name: str, digits: int) -> tuple[str | None, str | None]:
    if name not in run.predictions:
        return None, None
    f_plus, f_minus = run.predictions[name]
    return decimal_string(f_plus, digits), decimal_string(f_minus, digits)


def limit_html(found: LimitDirection) -> str:
    """Return where training ends: direction, multipliers and margins."""
    return values_table("The end of training", [regime_row(found), *limit_rows(found)])


def regime_row(found: LimitDirection) -> tuple[str, str | None]:
    """Return the regime in which training ends."""
    return "regime", found.regime and found.regime.value


def limit_rows(found: LimitDirection) -> list[tuple[str, str | None]]:
    """Return where training ends, by the paper's names."""
    v_plus, v_minus = (pair or (None, None) for pair in (found.v_plus, found.v_minus))
    return [
        ("ρ = λ₋/λ₊", found.rho),
        ("v₊ on x₊", v_plus[0]),
        ("v₊ on x₋", v_plus[1]),
        ("v₋ on x₊", v_minus[0]),
        ("v₋ on x₋", v_minus[1]),
        ("kink multiplier, K₊ on x₋", found.kink_plus),
        ("kink multiplier, K₋ on x₊", found.kink_minus),
        ("margin γ", found.gamma),
        ("largest margin γ_max", found.gamma_max),
        ("γ/γ_max", found.gamma_ratio),
    ]


def crosscheck_html(found: CrossCheck) -> str:
    """Return the rows of a cross-check with its verdict, and gradient descent beside it."""
    columns = ("quantity", "reduced", "exact flow", "full network", "difference", "tolerance", "agree")
    checks = html_table("Reduced dynamics against the full network", columns, map(_check, found.checks))
    descents = html_table(
        "Gradient descent beside it (not part of the verdict)",
        ("lr", "T_plat", "T_II", "living +/−/dead", "lost +/−"),
        [
            (
                row.lr,
                row.T_plat,
                row.T_II,
                "{positive}/{negative}/{dead}".format(**row.living),
                "{positive}/{negative}".format(**row.lost),
            )
            for row in found.gd
        ],
    )
    return "\n".join(
        [text(verdict(found)), checks, *([descents] if found.gd else []), *map(text, found.notes)]
    )


def verdict(found: CrossCheck) -> str:
    """Return the finding of a cross-check in one sentence."""
    wrong = sum(not check.agree for check in found.checks)
    words = (
        f"{wrong} of {len(found.checks)} rows disagree" if wrong else f"all {len(found.checks)} rows agree"
    )
    return f"{words}; regime {found.regime.value if found.regime else '–'}; {found.outcome.message}"


def _check(check: Check) -> tuple[str | None, ...]:
    agree = "yes" if check.agree else "NO"
    return (
        check.quantity,
        check.reduced,
        check.exact,
        check.full,
        check.difference,
        check.tolerance,
        agree,
    )


def ledger_html(found: Ledger) -> str:
    """Return the paper's statements as measured at one network."""
    columns = ("statement", "verdict", "seen", "at small κ₁", "claim", "formula", "measured")
    rows = [
        (
            row.id,
            row.verdict.value,
            _yes(row.conclusion),
            None if row.rescaled is None else _yes(row.rescaled.seen),
            row.claim,
            row.formula,
            row.measured + (f" [{row.why}]" if row.conclusion is False and row.why else ""),
        )
        for row in found.rows
    ]
    table = html_table("The paper's statements at this network", columns, rows)
    if found.rescaled_kappa1 is None:
        return table
    small = f"Small κ₁ means the same directions at κ₁ = {found.rescaled_kappa1:.3g}, so that κ₁/κ₂ ≤ Δ⁸."
    return text(small) + "\n" + table


def aggregate_html(found: Aggregate) -> str:
    """Return the paper's statements over many networks."""
    columns = ("statement", "verdict", "seen", "95 %", "claim", "formula", "measured")
    rows = [
        (
            one.id,
            one.verdict.value,
            f"{one.seen}/{one.measurable}",
            None if one.interval is None else f"{one.interval[0]:.2f} … {one.interval[1]:.2f}",
            one.claim,
            one.formula,
            one.measured,
        )
        for one in found.summaries
    ]
    return html_table(f"The paper's statements over {found.networks} networks", columns, rows)


def perturbation_html(found: Perturbation) -> str:
    """Return the perturbation test of a limit network, with every way to revive its dead neurons."""
    alone, revived = found.living_only, found.revive_dead
    rows: list[tuple[str, str | None]] = [
        ("margin γ at the limit", found.gamma_limit),
        ("largest margin γ_max, all neurons", found.gamma_max),
        ("γ/γ_max", found.gamma_ratio),
        ("regime", found.regime.value),
        ("living +/−/dead", "{positive}/{negative}/{dead}".format(**found.living)),
        ("best slope, living neurons only", f"{alone.best_slope:.3g}"),
        ("local optimum among the living", _yes(alone.local_optimum)),
        ("slope reviving the dead, predicted", revived.slope_predicted),
        ("slope reviving the dead, measured", revived.slope_measured),
        (f"best of {found.random_count} random directions", f"{found.random_best:.3g}"),
        ("local optimum of the whole network", _yes(found.local_optimum)),
    ]
    parts = [values_table("Perturbing the limit network", rows)]
    if revived.cases:
        columns = ("revived", "plain slope", "living re-balanced", "measured", "γ grows by")
        parts.append(html_table("Reviving dead neurons", columns, map(_revival, revived.cases)))
    return "\n".join([*parts, text(f"{found.words}.")])


def _revival(case: Revival) -> tuple[str, ...]:
    return (
        f"{case.case} ({len(case.neurons)})",
        case.plain.predicted,
        case.rebalanced.predicted,
        case.rebalanced.measured,
        case.ascent.growth,
    )


def _yes(seen: Any) -> str | None:
    return None if seen is None else "yes" if seen else "no"
