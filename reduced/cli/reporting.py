"""The command report: everything about one network on a self-contained page."""

from __future__ import annotations

import shlex
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from reduced.cli.budget import BudgetExceeded, time_limit
from reduced.cli.descent import LearningRates, read_rate
from reduced.cli.options import Digits, Flow, Model, Weights
from reduced.cli.pictures import read_setting
from reduced.cli.render import note, print_budget, print_json, print_text, progress, warn_without
from reduced.cli.simulation import condensation_time
from reduced.errors import InputError
from reduced.records import Loss

if TYPE_CHECKING:
    from reduced.report import Findings


def report(
    model: Model,
    weights: Weights,
    flow: Flow,
    shown: Digits,
    lr: LearningRates = None,
    out: Annotated[
        str, Option("--out", "-o", metavar="FILE.html", rich_help_panel="Output", help="The page to write.")
    ] = "report.html",
    theorems: Annotated[
        bool, Option("--theorems/--no-theorems", rich_help_panel="Output", help="Measure the theorem ledger.")
    ] = True,
    figures: Annotated[
        bool, Option("--figures/--no-figures", rich_help_panel="Output", help="Draw the figures.")
    ] = True,
) -> int:
    """One page on one network: equations, timeline, cross-check, theorems, end of training, figures.

    The page is a single HTML file that needs nothing else: no network, no scripts, no fonts. The
    same call writes the same bytes. Without --lr the descent beside the cross-check is the paper's,
    with step 0.01. Exit code 0 whatever the cross-check says.

    \b
    Examples
      reduced report
      reduced report --seed 7 --out seed7.html
      reduced report --init weights.npz --no-figures -o weights.html
      reduced report --p 6 --delta pi/20 --digits 50 --json
    """
    import fullnet
    from reduced.report import collect, html_page, write_page
    from reduced.report.findings import PAPER_RATES
    from reduced.report.tables import verdict

    problem, digits = model.problem(), shown.checked()
    if problem.loss is not Loss.EXP:
        raise InputError("loss", problem.loss.value, "exp: the cross-check needs the exact m-neuron flow")
    rates, seconds = None if lr is None else [read_rate(text) for text in lr], flow.seconds()
    fullnet.require_writable(out)
    setting = read_setting(model, weights, flow)
    for extra in ("numba", "gmpy2"):
        warn_without(extra)
    try:
        with progress("reporting") as update, time_limit(seconds):
            found = collect(
                setting,
                digits,
                condensation=condensation_time(model, weights, setting.network),
                rates=PAPER_RATES if rates is None else rates,
                theorems=theorems,
                figures=figures,
                on_stage=update,
            )
            page = html_page(found, _commands(found, model, weights, flow, shown, lr or [], out))
    except BudgetExceeded:
        print_budget(shown.json)
        return 3
    write_page(page, out)
    missing = {one.name: one.why_not for one in found.drawings if one.svg is None}
    if shown.json:
        record = {
            "file": out,
            "bytes": len(page.encode()),
            "agree": found.check.agree,
            "outcome": found.check.outcome.value,
            "figures": [one.name for one in found.drawings if one.svg is not None],
            "figures_left_out": missing,
        }
        print_json(record)
        return 0
    for name, why in missing.items():
        note(f"figure {name} left out: {why}")
    print_text(f"{out}\ncross-check: {verdict(found.check)}")
    return 0


def _commands(
    found: Findings, model: Model, weights: Weights, flow: Flow, shown: Digits, lr: list[str], out: str
) -> list[str]:
    """Return the command lines that print what the page shows."""
    own = {"alpha_plus": found.setting.living.alpha_plus, "alpha_minus": found.setting.living.alpha_minus}
    fractions = [word for name, value in own.items() for word in (_flag(name), str(value))]
    signs = found.setting.network.sign
    betas = [
        word
        for name, sign in (("beta_plus", 1), ("beta_minus", -1))
        for word in (_flag(name), f"{int((signs == sign).sum())}/{len(signs)}")
    ]
    digits = _words(shown, "json")
    collapsed = _words(model, "kappa1")
    shared = _words(model, "kappa1", "alpha_plus", "alpha_minus")
    network = [*_words(model, "alpha_plus", "alpha_minus"), *_words(weights)]
    run = [*network, *_words(flow, "budget")]
    rates = [word for rate in lr for word in ("--lr", rate)]
    everything = [*_words(model), *_words(weights), *_words(flow, "budget"), *rates, *digits]
    everything += [] if found.ledger is not None else ["--no-theorems"]
    everything += [] if found.drawings else ["--no-figures"]
    ridge = _words(flow, "budget", "until")
    lines = [
        ["report", *everything, "--out", Path(out).name],
        ["derive"],
        ["plateau", *collapsed, *digits],
        ["plateau", *shared, *fractions, *digits],
        ["simulate", *network, *ridge, "--precision", str(found.digits)],
        ["crosscheck", *run, *(rates or ["--lr", "0.01"]), *digits],
        ["limit", *collapsed, *digits],
        ["limit", *shared, *fractions, *betas, *digits],
        ["perturb", *run, *digits],
    ]
    if found.ledger is not None:
        lines.append(["theorems", *run])
    if found.drawings:
        lines.append(["figures", *run, "--format", "svg"])
    return [shlex.join(["reduced", *line]) for line in lines]


def _words(options: Any, *left_out: str) -> list[str]:
    """Return the options that are not at their defaults, as they are typed."""
    return [
        word
        for field in fields(options)
        if field.name not in left_out and getattr(options, field.name) != field.default
        for word in (_flag(field.name), str(getattr(options, field.name)))
    ]


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
