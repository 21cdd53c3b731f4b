"""The command derive: the reduced dynamics from the definition of the network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from reduced.cli.options import choose
from reduced.cli.render import print_json, print_tables, print_text, table, values
from reduced.errors import InputError

if TYPE_CHECKING:
    from reduced.derive import Course, LimitDirection, PredictionODE

PHASES = ("I", "II", "III", "IV")
FORMATS = ("text", "latex", "json", "python")
MODULES = ("math", "numpy", "mpmath")
SMALL_ANGLE = "small-angle"


def derive(
    phase: Annotated[
        str,
        Option(
            "--phase",
            metavar="I|II|III|IV|limit|small-angle|all",
            help="What to derive (all: everything but small-angle).",
            rich_help_panel="Derivation",
        ),
    ] = "all",
    form: Annotated[
        str,
        Option(
            "--format", metavar="text|latex|json|python", help="Form of the result.", rich_help_panel="Output"
        ),
    ] = "text",
    json: Annotated[
        bool, Option("--json", help="Short for --format json.", rich_help_panel="Output")
    ] = False,
    module: Annotated[
        str | None,
        Option(
            "--module",
            metavar="math|numpy|mpmath",
            help="What --format python computes with: floats, arrays, any precision. Default: math; "
            "small-angle: mpmath.",
            rich_help_panel="Output",
        ),
    ] = None,
) -> int:
    """Derive the reduced dynamics from the network, and print them.

    Phase I: fate and exit time of each class of initial direction. Phases II
    to IV: A, B, C, D of ḟ₊ = A P − B Q, ḟ₋ = C P − D Q. Limit: the limiting
    direction of each regime. Small-angle: three terms, as Δ → 0, of the
    times, predictions and margins.

    \b
    Examples
      reduced derive --phase II
      reduced derive --format json
      reduced derive --phase limit --format latex
      reduced derive --format python --module numpy > rates.py
    """
    asked = choose(phase, "phase", (*PHASES, "limit", SMALL_ANGLE, "all"))
    form = choose("json" if json else form, "format", FORMATS)
    names = [*PHASES, "limit"] if asked == "all" else [asked]
    backend = _backend(module, form, names)
    if form == "json":
        print_json(_record(names))
    elif form == "text":
        print_tables(*_tables(names))
    elif form == "latex":
        print_text("\n\n".join(f"% {title}\n{derived.latex()}" for title, derived in _derived(names)))
    else:
        print_text(_source(names, backend))
    return 0


def _backend(module: str | None, form: str, names: Sequence[str]) -> str:
    """Return the module the exported Python computes with."""
    if module is None:
        return "mpmath" if SMALL_ANGLE in names else "math"
    if form != "python":
        raise InputError("module", repr(module), "--format python beside it")
    if SMALL_ANGLE in names and module in ("math", "numpy"):
        raise InputError("module", repr(module), "mpmath: the small-angle terms have dilogarithms")
    return choose(module, "module", MODULES)


def _derived(names: Sequence[str]) -> list[tuple[str, Any]]:
    """Derive everything asked for: (title, record with its formulas)."""
    from reduced.derive import FINAL_PHASES, QUANTITIES, all_courses, limit, small_angle_series
    from reduced.derive import phase as phase_ode

    found: list[tuple[str, Any]] = []
    for name in names:
        if name == "I":
            found += [(_course_title(course), course) for course in all_courses()]
        elif name == "limit":
            found += [(f"limit, {regime}", limit(regime)) for regime in FINAL_PHASES]
        elif name == SMALL_ANGLE:
            found += [(f"small angle, {quantity}", small_angle_series(quantity)) for quantity in QUANTITIES]
        else:
            found.append((f"Phase {name}", phase_ode(name)))
    return found


def _record(names: Sequence[str]) -> dict[str, Any]:
    from reduced.derive import FINAL_PHASES, all_courses, limit
    from reduced.derive import phase as phase_ode

    phases: dict[str, Any] = {
        name: _ode_record(phase_ode(name)) for name in names if name in ("II", "III", "IV")
    }
    if "I" in names:
        phases = {"I": [_course_record(course) for course in all_courses()], **phases}
    record: dict[str, Any] = {"phases": phases}
    if "limit" in names:
        record["limit"] = {regime: _limit_record(limit(regime)) for regime in FINAL_PHASES}
    if SMALL_ANGLE in names:
        from reduced.derive import QUANTITIES, small_angle_series

        found = [small_angle_series(quantity) for quantity in QUANTITIES]
        record["small_angle"] = {series.quantity: series.strings() for series in found}
        record["paper_order"] = {
            series.quantity: {"order": str(series.paper_order), "constant": str(series.hidden_constant)}
            for series in found
            if series.paper_order is not None
        }
    return record


def _ode_record(ode: PredictionODE) -> dict[str, Any]:
    size = ode.model.data.size
    return {
        **ode.coefficient_strings(),
        "groups": [
            {
                "name": group.name,
                "sign": group.sign,
                "fraction": str(group.fraction),
                "pattern": group.pattern(size),
            }
            for group in ode.groups
        ],
        "lotka_volterra": [[str(entry) for entry in row] for row in ode.lotka_volterra().tolist()],
        "conditions": _conditions(ode),
    }


def _course_record(course: Course) -> dict[str, Any]:
    return {
        "sign": course.sign,
        "pattern": course.pattern,
        "condition": str(course.condition),
        "steps": [
            {"kind": step.kind, "time": str(step.time), "pattern": step.pattern} for step in course.steps
        ],
        "fate": course.fate.value,
        "exit_time": str(course.exit_time),
    }


def _limit_record(found: LimitDirection) -> dict[str, Any]:
    from reduced.derive import regime_bounds

    v_plus, v_minus = ([str(coefficient) for coefficient in way.coefficients] for way in found.directions)
    kinks = [None if kink is None else str(kink) for kink in found.kinks]
    return {
        "rho": str(found.ratio),
        "v_plus": v_plus,
        "v_minus": v_minus,
        "gamma": str(found.gamma),
        "kink_multiplier": {"plus": kinks[0], "minus": kinks[1]},
        "regime": [str(bound) for bound in regime_bounds(found)],
        "conditions": _conditions(found),
    }


def _conditions(derived: PredictionODE | LimitDirection) -> list[dict[str, str]]:
    return [
        {"reason": condition.reason, "relation": str(condition.relation)} for condition in derived.conditions
    ]


def _tables(names: Sequence[str]) -> list[Any]:
    record = _record(names)
    tables: list[Any] = []
    for name, entry in record["phases"].items():
        if name == "I":
            tables += [values(_course_title(course), _course_rows(course)) for course in entry]
        else:
            tables.append(values(f"Phase {name}", [(letter, entry[letter]) for letter in "ABCD"]))
            tables.append(table(f"Phase {name} lasts while", ("condition", "means"), _condition_rows(entry)))
    for regime, entry in record.get("limit", {}).items():
        tables.append(values(f"Limit, {regime} ({', '.join(entry['regime'])})", _limit_rows(entry)))
    for quantity, terms in record.get("small_angle", {}).items():
        tables.append(f"{quantity} as Δ → 0, by powers of Δ:\n")
        lines = {f"  {power}: ": text for power, text in terms.items()}
        order = record["paper_order"].get(quantity)
        if order is not None:
            lines["  the paper: "] = f"Θ({order['order']})"
            lines["  its constant as Δ → 0, from f = 0: "] = order["constant"]
        tables += [name + text + "\n" for name, text in lines.items()]
    return tables


def _course_title(course: Any) -> str:
    """Name a class of initial direction, of a Course or of its record."""
    sign, pattern, condition = (
        (course[key] if isinstance(course, dict) else getattr(course, key))
        for key in ("sign", "pattern", "condition")
    )
    where = "" if str(condition) == "True" else f", {condition}"
    return f"Phase I, {'positive' if sign > 0 else 'negative'} neuron starting {pattern}{where}"


def _course_rows(course: dict[str, Any]) -> list[tuple[str, str]]:
    steps = [f"{step['kind']} to {step['pattern']}" for step in course["steps"]]
    return [
        ("course", ", ".join(steps) or "no switch"),
        ("fate", course["fate"]),
        ("exit time", course["exit_time"]),
    ]


def _limit_rows(entry: dict[str, Any]) -> list[tuple[str, str | None]]:
    return [
        ("ρ", entry["rho"]),
        ("v₊ on x₊, x₋", ", ".join(entry["v_plus"])),
        ("v₋ on x₊, x₋", ", ".join(entry["v_minus"])),
        ("γ", entry["gamma"]),
        ("kink multiplier, K₊ on x₋", entry["kink_multiplier"]["plus"]),
        ("kink multiplier, K₋ on x₊", entry["kink_multiplier"]["minus"]),
    ]


def _condition_rows(entry: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (condition["relation"], condition["reason"].replace("_plus", "₊").replace("_minus", "₋"))
        for condition in entry["conditions"]
    ]


def _source(names: Sequence[str], module: Any) -> str:
    """Write the source of one Python module with a function for everything derived."""
    sources = [
        f"# {title}\n"
        + derived.python_source(_function_name(title), module).removeprefix(f"import {module}").strip()
        for title, derived in _derived(names)
    ]
    return "\n\n\n".join([f"import {module}", *sources])


def _function_name(title: str) -> str:
    """Turn a title into a Python name: ``+`` and ``-`` are spelled p and m."""
    spelled = title.partition("starting ")
    pattern, _, condition = spelled[2].partition(", ")
    words = spelled[0] + pattern.replace("+", "p").replace("-", "m")
    if condition:
        words += " below" if "u" in condition.partition("<")[0] else " above"
    return "_".join("".join(c if c.isalnum() else " " for c in words.lower()).split())
