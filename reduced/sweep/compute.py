"""The computation of one point, as a worker does it: a configuration in, a row out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from typing import TYPE_CHECKING, Any

from reduced.sweep.points import LAW, MAX_WEIGHTS, Point, Row

if TYPE_CHECKING:
    import fullnet
    from reduced.records import Problem

DOUBLE_DIGITS = 17
_DESCENT_DIGITS = 12
_LAW_DIGITS = 17
_PACKAGES = ("mpmath", "gmpy2", "numpy", "numba")

Result = dict[str, Any]


def compute(key: str) -> Row:
    """Compute one point.

    Arguments: key, the canonical JSON of its configuration. Returns its row; whatever goes wrong while
    computing is the row's error, one sentence.
    """
    config = Point(key).config
    began = time.perf_counter()
    result: Result = {}
    error = None
    try:
        result = _COMPUTATIONS[config["compute"]](config)
    except Exception as why:  # a point that fails is an answer: the sweep goes on
        error = sentence(why)
    return Row(key, result, error, versions(), time.perf_counter() - began)


def sentence(why: BaseException) -> str:
    """Write an error as one line: its text, and its kind unless the caller's input is to blame."""
    text = " ".join(str(why).split())
    kind = type(why).__name__
    return text if text and kind in ("InputError", "NotUnique") else f"{kind}: {text}" if text else kind


@cache
def versions() -> dict[str, str | None]:
    """Return the versions of Python and of the packages that decide the numbers (None: not installed)."""
    import reduced

    packages = {name: _version(name) for name in _PACKAGES}
    return {"reduced": reduced.__version__, "python": python_version(), **packages}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _problem(
    config: dict[str, Any], alpha_plus: Fraction | None = None, alpha_minus: Fraction | None = None
) -> Problem:
    """Build the collapsed model of a configuration, with living fractions of its own or those given."""
    from reduced.parameters import problem

    law = (None, LAW)
    return problem(
        config["p"],
        config["delta"],
        alpha_plus if config.get("alpha_plus") in law else config["alpha_plus"],
        alpha_minus if config.get("alpha_minus") in law else config["alpha_minus"],
        config["kappa2"],
        config.get("loss", "exp"),
    )


def _plateau(config: dict[str, Any]) -> Result:
    from reduced.parameters import start
    from reduced.records import Loss
    from reduced.solve.taylor import taylor_timeline
    from reduced.solve.timeline import timeline

    problem, digits = _problem(config), config["digits"]
    solve = timeline if problem.loss is Loss.EXP else taylor_timeline
    found = solve(problem, start(), digits)
    result: Result = dict(found.times)
    for name, pair in found.predictions.items():
        result[f"f_plus at {name}"], result[f"f_minus at {name}"] = pair or (None, None)
    return result | {
        "regime": found.regime and found.regime.value,
        "outcome": found.outcome.value,
        **_fractions(problem, digits),
        **_laws(problem),
    }


def _limit(config: dict[str, Any]) -> Result:
    from reduced.solve.limit import limit

    problem, digits = _problem(config), config["digits"]
    found = limit(problem, digits)
    return {
        "regime": found.regime and found.regime.value,
        "rho": found.rho,
        "gamma": found.gamma,
        "gamma_max": found.gamma_max,
        "gamma_ratio": found.gamma_ratio,
        "kink_plus": found.kink_plus,
        "kink_minus": found.kink_minus,
        **_fractions(problem, digits),
    }


def _simulate(config: dict[str, Any]) -> Result:
    network, path, phases = _flow(config, estimate_error=True)
    digits = min(config["digits"], DOUBLE_DIGITS)
    result: Result = {}
    for name, value in phases.times.items():
        error = phases.errors.get(name, 0.0)
        result[name] = None if value is None else trusted(value, error, digits)
        if name in phases.errors:
            result[f"{name} error"] = f"{error:.2e}"
    counts = {name: len(getattr(phases, name)) for name in ("positive", "negative", "dead")}
    return {
        **result,
        **counts,
        "outcome": path.outcome.value,
        **_laws(_living_problem(config, network, counts)),
    }


def _crosscheck(config: dict[str, Any]) -> Result:
    from reduced.crosscheck import crosscheck

    problem = _problem(config)
    network = _network(config)
    found = crosscheck(
        network, problem, until=_double(config["until"]), digits=config["digits"], learning_rates=()
    )
    result: Result = {}
    for check in found.checks:
        if check.quantity.startswith("T_"):
            result |= {
                check.quantity: check.full,
                f"{check.quantity} reduced": check.reduced,
                f"{check.quantity} difference": check.difference,
            }
    wrong = [check.quantity for check in found.checks if not check.agree]
    return {
        **result,
        "agree": found.agree,
        "checks": len(found.checks),
        "disagreeing": ", ".join(wrong) or None,
        "regime": found.regime and found.regime.value,
        "outcome": found.outcome.value,
        **found.living,
        **_laws(_living_problem(config, network, found.living)),
    }


def _gd(config: dict[str, Any]) -> Result:
    from reduced.crosscheck.descent import descent_rows

    network, path, phases = _flow(config, estimate_error=False)
    (row,) = descent_rows(network, path.data, path, phases, [config["lr"]], config["steps"])
    lost = {f"lost {name}": count for name, count in row.lost.items()}
    flow = {
        f"flow {name}": None if phases.times[name] is None else f"{phases.times[name]:.{_DESCENT_DIGITS}g}"
        for name in ("T_plat", "T_II")
    }
    return {
        "T_plat": row.T_plat,
        "T_II": row.T_II,
        **flow,
        **row.living,
        **lost,
        "same_living": row.same_living,
        "steps": row.steps,
    }


_COMPUTATIONS: dict[str, Callable[[dict[str, Any]], Result]] = {
    "plateau": _plateau,
    "limit": _limit,
    "simulate": _simulate,
    "crosscheck": _crosscheck,
    "gd": _gd,
}


def _network(config: dict[str, Any]) -> fullnet.Network:
    import fullnet
    from reduced.errors import InputError

    m, dim = config["m"], config["dim"]
    if m * dim > MAX_WEIGHTS:
        raise InputError("m × dim", m * dim, f"at most {MAX_WEIGHTS} weights")
    return fullnet.initial_network(
        m, dim, _double(config["kappa1"]), _double(config["kappa2"]), config["seed"], config["init_law"]
    )


def _flow(
    config: dict[str, Any], *, estimate_error: bool
) -> tuple[fullnet.Network, fullnet.Trajectory, fullnet.Phases]:
    import fullnet

    _problem(config)  # the limits of p and Δ are those of the collapsed model
    network = _network(config)
    data = fullnet.two_point(_double(config["p"]), _double(config["delta"]), config["dim"])
    path = fullnet.gradient_flow(
        network,
        data,
        _double(config["until"]),
        config.get("loss", "exp"),
        estimate_error=estimate_error,
    )
    return network, path, fullnet.phase_times(path)


def _double(text: str) -> float:
    from reduced.numbers import read_number
    from reduced.solve.promise import private_context

    return float(read_number(text).evaluate(private_context(20)))


def trusted(value: float, error: float, digits: int) -> str:
    """Write a double with the digits its error leaves, at most ``digits``."""
    if abs(value) <= error:
        return "0"
    known = digits if error == 0 else math.floor(math.log10(abs(value)) - math.log10(error))
    return f"{value:.{max(1, min(digits, known))}g}"


def _living_problem(config: dict[str, Any], network: fullnet.Network, counts: dict[str, int]) -> Problem:
    """Return the collapsed model with a network's own living fractions."""
    m = len(network.sign)
    return _problem(
        config,
        Fraction(counts["positive"], m),
        Fraction(counts["negative"], m),
    )


def _fractions(problem: Problem, digits: int) -> Result:
    from reduced.numbers import decimal_string
    from reduced.solve.promise import private_context

    ctx = private_context(digits + 15)
    return {
        f"resolved {name}": decimal_string(getattr(problem, name).evaluate(ctx), digits)
        for name in ("alpha_plus", "alpha_minus")
    }


def _laws(problem: Problem) -> Result:
    """Return the leading small-Δ laws from f = 0, to be set beside the times."""
    from reduced.parameters import start
    from reduced.solve.asymptotic import asymptotic

    found = asymptotic(problem, start(), _LAW_DIGITS)
    return {"law T_plat": found.T_plat, "law T_II": found.T_II}
