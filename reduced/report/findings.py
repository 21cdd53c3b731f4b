"""Everything the report tells of one network, computed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import fullnet
from reduced.crosscheck import CrossCheck, crosscheck
from reduced.errors import InputError
from reduced.figures import CATALOGUE, Setting, svg_text
from reduced.maxmargin import Perturbation, perturb
from reduced.numbers import Exact, ExactLike, decimal_string, exact, sqrt
from reduced.parameters import start
from reduced.records import Timeline
from reduced.shown import shown
from reduced.solve.limit import LimitDirection, limit
from reduced.solve.network import ExactRun, network_flow
from reduced.solve.promise import private_context
from reduced.solve.timeline import timeline
from reduced.theorems import Ledger, ledger

PAPER_RATES = ("0.01",)
"""The learning rate of the paper's experiments."""


@dataclass(frozen=True)
class Drawing:
    """A figure of the catalogue as SVG, or the reason why it has none."""

    name: str
    title: str
    caption: str
    svg: str | None
    why_not: str = ""


@dataclass(frozen=True, eq=False)
class Findings:
    """What was computed for one network.

    setting, the network and its flow; digits of the numbers; T_I as a decimal string; expected and living, the
    collapsed model's timelines with the κ₁ → 0 fractions and with the network's own; run, the network's exact
    flow; check, the cross-check; limits, of the expected and of the network's own fractions; perturbation, None
    when no neuron of one sign lives; ledger, None when not asked for; drawings.
    """

    setting: Setting
    digits: int
    T_I: str
    expected: Timeline
    living: Timeline
    run: ExactRun
    check: CrossCheck
    limits: tuple[LimitDirection, LimitDirection]
    perturbation: Perturbation | None
    ledger: Ledger | None
    drawings: tuple[Drawing, ...]

    __repr__ = shown


def collect(
    setting: Setting,
    digits: int = 30,
    *,
    condensation: Exact | None = None,
    rates: Sequence[ExactLike] = PAPER_RATES,
    theorems: bool = True,
    figures: bool = True,
    on_stage: Callable[[str], None] | None = None,
) -> Findings:
    """Compute what the report tells of a network on the two data points.

    Arguments: setting, the network, its data and how far to follow it; digits of the exact numbers;
    condensation, T_I = 10√(κ₁/κ₂) when κ₁ is known better than the setting's double; rates of the gradient
    descents beside the cross-check; theorems and figures, whether to measure the ledger and to draw; on_stage,
    told in words what is being done. Raises InputError (also for another loss than the exponential) and
    fullnet.NotUnique.
    """
    say = on_stage or (lambda _: None)
    network, problem = setting.network, setting.problem
    ridge: Any = setting.ridge
    check = crosscheck(
        network,
        problem,
        until=setting.until,
        digits=digits,
        ridge=ridge,
        learning_rates=rates,
        on_stage=lambda stage: say(f"cross-check, {stage}"),
    )
    say("timelines")
    found_ledger = None
    if theorems:
        found_ledger = ledger(
            network, problem, ridge, setting.until, lambda statement: say(f"theorems, {statement}")
        )
    say("end of training")
    return Findings(
        setting=setting,
        digits=digits,
        T_I=_time(condensation or 10 * sqrt(exact(setting.kappa1) / problem.kappa2), digits),
        expected=timeline(problem, start(), digits),
        living=timeline(setting.living, start(), digits),
        run=network_flow(network.W, network.sign, problem, digits, None, ridge),
        check=check,
        limits=(limit(problem, digits), limit(setting.living, digits, *_signs(network))),
        perturbation=_perturbation(setting, digits),
        ledger=found_ledger,
        drawings=_drawings(setting, say) if figures else (),
    )


def _time(value: Exact, digits: int) -> str:
    return decimal_string(value.evaluate(private_context(digits + 15)), digits)


def _signs(network: fullnet.Network) -> tuple[Exact, Exact]:
    """Return the fractions of positive and of negative neurons."""
    m = len(network.sign)
    return exact(int((network.sign > 0).sum())) / m, exact(int((network.sign < 0).sum())) / m


def _perturbation(setting: Setting, digits: int) -> Perturbation | None:
    path, sign = setting.path, setting.network.sign
    if not all((path.living & (sign == which)).any() for which in (1, -1)):
        return None
    return perturb(
        path.neurons(path.end),
        sign,
        setting.problem.delta,
        setting.problem.kappa2,
        seed=setting.seed,
        digits=digits,
    )


def _drawings(setting: Setting, say: Callable[[str], Any]) -> tuple[Drawing, ...]:
    """Draw the catalogue; a figure that has nothing to show for this setting is left out with its reason."""
    drawings = []
    for entry in CATALOGUE:
        say(f"figure {entry.name}")
        try:
            svg, why_not = svg_text(entry.draw(setting)), ""
        except (InputError, fullnet.InputError) as why:
            svg, why_not = None, str(why)
        drawings.append(Drawing(entry.name, entry.title, entry.caption, svg, why_not))
    return tuple(drawings)
