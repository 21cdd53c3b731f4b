"""Commands on the collapsed model: plateau, predict, limit."""

from __future__ import annotations

from dataclasses import asdict
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from reduced.cli.budget import time_limit
from reduced.cli.dependence import Dependence
from reduced.cli.options import Budget, Digits, Model, State, choose
from reduced.cli.render import exact_text, print_json, print_tables, table, values
from reduced.records import Loss, Problem, Start, Timeline

if TYPE_CHECKING:
    from reduced.cli.tables import Table
    from reduced.solve.decay import AngleLaws

Method = Annotated[
    str | None,
    Option(
        "--method",
        metavar="exact|taylor|enclosure",
        rich_help_panel="Run",
        help="Closed form, Taylor series, or proved balls (extra certified). Default: exact; taylor for logistic.",
    ),
]


METHODS = ("exact", "taylor", "enclosure")

# Laws can be far off by any number of orders of magnitude.
_WIDE, _ROUGH = (Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[]) for digits in (30, 2))
_READABLE = 10_000


def plateau(
    model: Model,
    state: State,
    dependence: Dependence,
    budget: Budget,
    out: Digits,
    method: Method = None,
) -> int:
    """Times of the collapsed model: end of the plateau T_plat, T_II, T_III.

    Each living group of neurons is one particle. All digits printed are right; times are flow times.

    \b
    Examples
      reduced plateau
      reduced plateau --p 4 --delta pi/15 --alpha-plus 1/4 --alpha-minus 3/20 --digits 50
      reduced plateau --f-plus 0.1 --f-minus 0.05 --f-minus-negative -1e-5 --json
      reduced plateau --sensitivities --distribution --m 200 --digits 10
      reduced plateau --method enclosure --digits 200
    """
    from reduced.solve.asymptotic import asymptotic

    problem, start, digits = model.problem(), state.start(), out.checked()
    with time_limit(budget.seconds()):
        solved = _solve(problem, start, digits, method)
        leading = asdict(asymptotic(problem, start, digits))
        more, tables = dependence.facts(problem, start, digits)
    radius: dict[str, str | None] | None = getattr(solved, "radius", None)
    laws = {name: None if solved.times[name] == "0" else law for name, law in leading.items()}
    if out.json:
        print_json(
            {
                "regime": solved.regime and solved.regime.value,
                "times": solved.times,
                **({} if radius is None else {"radius": radius}),
                "predictions": solved.predictions,
                "method": solved.method,
                "outcome": solved.outcome.value,
                "asymptotic": laws,
                **more,
                "parameters": parameters(problem, digits),
                "start": {name: exact_text(value, digits) for name, value in vars(start).items()},
                "digits": digits,
            }
        )
        return 0
    print_tables(
        table("Times of the collapsed model", ("event", "quantity", "value"), _event_rows(solved)),
        *([] if radius is None else [values("Proved radii of the times", list(radius.items()))]),
        _law_table(laws, solved.times),
        *tables,
        _closing(solved.regime, solved.outcome.message, f"method {solved.method}"),
    )
    return 0


def _law_table(laws: dict[str, str | None], times: dict[str, str]) -> Table:
    """Set each leading law beside the time it is the law of, as law/time − 1 in per cent."""
    rows = [(name, law, _per_cent(_relative(law, times[name]))) for name, law in laws.items()]
    return table("Leading laws as Δ → 0", ("quantity", "value", "off by"), rows)


def _relative(law: str | None, time: str) -> Decimal | None:
    """Return law/time − 1 in per cent, None where one of them is missing or infinite."""
    if law is None or "inf" in (law, time):
        return None
    ratio = _WIDE.divide(_WIDE.create_decimal(law), _WIDE.create_decimal(time))
    return _WIDE.multiply(_WIDE.subtract(ratio, Decimal(1)), Decimal(100))


def _per_cent(off: Decimal | None) -> str | None:
    if off is None or off.is_nan():
        return None
    if off.is_infinite():
        return "inf %"
    if (size := off.copy_abs()) < _READABLE:
        return f"{off:+.0f} %" if size >= 100 else f"{off:+.2g} %"
    return f"{_ROUGH.plus(off)} %".replace("E", "e")


def default_method(problem: Problem) -> str:
    """Return the method used when none is given."""
    return "exact" if problem.loss is Loss.EXP else "taylor"


def _solve(problem: Problem, start: Start, digits: int, method: str | None) -> Timeline:
    chosen = choose(method or default_method(problem), "method", METHODS)
    if chosen == "enclosure":
        from reduced.solve.enclosure import enclosure_timeline

        return enclosure_timeline(problem, start, digits)
    if chosen == "exact":
        from reduced.solve.timeline import timeline

        return timeline(problem, start, digits)
    from reduced.solve.taylor import taylor_timeline

    return taylor_timeline(problem, start, digits)


def _event_rows(solved: Timeline) -> list[tuple[str, str, str | None]]:
    rows: list[tuple[str, str, str | None]] = []
    for name, time in solved.times.items():
        pair = solved.predictions[name] or (None, None)
        rows += [(name, "t", time), ("", "f₊", pair[0]), ("", "f₋", pair[1])]
    return rows


def predict(
    model: Model,
    state: State,
    budget: Budget,
    out: Digits,
    at: Annotated[
        list[str],
        Option(
            "--at", metavar="T", rich_help_panel="Run", help="Flow time t ≥ 0, such as 1e1000; repeatable."
        ),
    ],
    method: Method = None,
) -> int:
    """Collapsed model at given flow times: predictions, phase, loss, accuracy, angles to the limit.

    Angles are in radians, from each group's weights to its limiting direction, with their leading law C/log t.

    \b
    Examples
      reduced predict --at 0 --at 300 --at 1e12 --at 1e1000
      reduced predict --at 5000 --alpha-plus 1/4 --alpha-minus 3/20 --digits 40 --json
    """
    from reduced.solve.decay import angle_laws

    problem, start, digits = model.problem(), state.start(), out.checked()
    chosen = choose(method or default_method(problem), "method", METHODS)
    with time_limit(budget.seconds()):
        points = _points(problem, start, at, digits, chosen)
        laws = angle_laws(problem, start, digits) if problem.loss is Loss.EXP else None
    if out.json:
        print_json(
            {
                "points": points,
                **_law_record(laws),
                "method": chosen,
                "parameters": parameters(problem, digits),
                "digits": digits,
            }
        )
        return 0
    print_tables(*(_point_table(point) for point in points))
    return 0


def _points(problem: Problem, start: Start, at: list[str], digits: int, method: str) -> list[dict[str, Any]]:
    """Return the points as records; of an enclosure the middles, and the radii by name."""
    if method != "enclosure":
        from reduced.solve.predict import predict as predict_at

        return [asdict(point) for point in predict_at(problem, start, at, digits, method)]
    from reduced.solve.enclosure import Enclosure, enclosure_predict

    found = [vars(point) for point in enclosure_predict(problem, start, at, digits)]
    return [
        {
            **{name: value.mid if isinstance(value, Enclosure) else value for name, value in point.items()},
            "radius": {name: value and value.rad for name, value in point.items() if name != "phase"},
        }
        for point in found
    ]


def _point_table(point: dict[str, Any]) -> Table:
    from reduced.report.tables import POINT_NAMES

    title, rows = f"t = {point['t']}", [(name, shown) for name, shown in POINT_NAMES.items() if name in point]
    radius = point.get("radius")
    if radius is None:
        return values(title, [(shown, point[name]) for name, shown in rows])
    cells = [(shown, point[name], radius.get(name)) for name, shown in rows]
    return table(title, ("quantity", "value", "± at most"), cells)


def _law_record(laws: AngleLaws | None) -> dict[str, dict[str, str | None]]:
    """Return C and k of angle(t) ~ C/(log t + k) by group, None without a law."""
    groups = {"plus": None, "minus": None} if laws is None else {"plus": laws.plus, "minus": laws.minus}
    return {
        "angle_law": {name: None if law is None else law.constant for name, law in groups.items()},
        "angle_shift": {name: None if law is None else law.shift for name, law in groups.items()},
    }


def limit(
    model: Model,
    budget: Budget,
    out: Digits,
    beta_plus: Annotated[
        str | None,
        Option(
            "--beta-plus",
            metavar="NUMBER",
            rich_help_panel="Model",
            help="Positive fraction of all neurons (default 1/2).",
        ),
    ] = None,
    beta_minus: Annotated[
        str | None,
        Option(
            "--beta-minus",
            metavar="NUMBER",
            rich_help_panel="Model",
            help="Negative fraction of all neurons (default 1/2).",
        ),
    ] = None,
) -> int:
    """Where training ends: limiting direction, KKT multipliers, margin against the best possible one.

    v₊ and v₋ are coefficients on (x₊, x₋); γ_max is the largest normalised margin with all neurons.
    From f = 0 the angles of K₊ and K₋ to their limits close like C/(log t + k) (exponential loss).

    \b
    Examples
      reduced limit
      reduced limit --alpha-plus 0.2 --alpha-minus 0.25 --digits 40 --json
    """
    from reduced.parameters import start as start_at
    from reduced.solve.decay import angle_laws
    from reduced.solve.limit import limit as limit_of

    problem, digits = model.problem(), out.checked()
    with time_limit(budget.seconds()):
        found = limit_of(problem, digits, beta_plus, beta_minus)
        laws = angle_laws(problem, start_at(), digits) if problem.loss is Loss.EXP else None
    law = _law_record(laws)
    record = {
        "regime": found.regime and found.regime.value,
        "rho": found.rho,
        "lambda_ratio": found.rho,
        "v_plus": found.v_plus,
        "v_minus": found.v_minus,
        "gamma": found.gamma,
        "kink_multiplier": {"plus": found.kink_plus, "minus": found.kink_minus},
        "gamma_max": found.gamma_max,
        "gamma_ratio": found.gamma_ratio,
        **law,
        "parameters": parameters(problem, digits),
        "digits": digits,
    }
    if out.json:
        print_json(record)
        return 0
    from reduced.report.tables import limit_rows

    rows = [
        *limit_rows(found),
        ("C₊ of the angle C₊/(log t + k₊)", law["angle_law"]["plus"]),
        ("k₊", law["angle_shift"]["plus"]),
        ("C₋ of the angle C₋/(log t + k₋)", law["angle_law"]["minus"]),
        ("k₋", law["angle_shift"]["minus"]),
    ]
    print_tables(values("The end of training", rows), _closing(found.regime, "exact limit, t → ∞"))
    return 0


def parameters(problem: Problem, digits: int) -> dict[str, str]:
    """Return a problem's numbers as decimal strings, and its loss."""
    numbers = {name: value for name, value in vars(problem).items() if name != "loss"}
    return {name: exact_text(value, digits) for name, value in numbers.items()} | {"loss": problem.loss.value}


def _closing(regime: Any, *words: str) -> str:
    return "; ".join(
        [f"regime {regime.value}" if regime else "no regime (one sign has no living neuron)", *words]
    )
