"""Reduced training dynamics of two-layer ReLU networks: derived, solved exactly, checked against the network.

Everything public is here, and imported when first used::

    import reduced

    problem = reduced.problem(p=4, delta="pi/15", alpha_plus="1/4", alpha_minus="3/20")
    reduced.timeline(problem, reduced.start(), digits=50).times["T_plat"]
    reduced.derive.phase("II").latex()

- The problem: :func:`problem` and :func:`start` build checked :class:`Problem` and :class:`Start` records.
- The collapsed model: :func:`timeline`, :func:`taylor_timeline`, :func:`predict`, :func:`limit`, the
  small-angle laws :func:`asymptotic`, the derivatives :func:`sensitivities`, and the decay of the angles to
  the limit :func:`angle_laws`.
- The whole network, exactly: :func:`network_flow`.
- The derivation: the package ``derive`` (SymPy).
- The end of training: :func:`kkt`, :func:`perturb` and the rest of the package ``maxmargin``.
- The cross-check against ``fullnet``: the package ``crosscheck`` with its function of the same name.
- Many settings at once: the package ``sweep``; the paper's statements: the package ``theorems``; its
  pictures and more: the package ``figures``.
- One page on one network: the package ``report``.
- Outcomes: :class:`Outcome`, :class:`Regime`, :class:`InputError`.
"""

from __future__ import annotations

TYPE_CHECKING = (
    False  # type checkers take it for true; importing typing for it would take longer than all else here
)

if TYPE_CHECKING:
    from typing import Any

    from reduced import crosscheck, derive, figures, maxmargin, report, sweep, theorems
    from reduced.errors import InputError
    from reduced.maxmargin.kkt import kkt
    from reduced.maxmargin.perturbation import perturb
    from reduced.parameters import problem, start
    from reduced.records import Loss, Outcome, Problem, Regime, Start, Timeline
    from reduced.solve.asymptotic import asymptotic
    from reduced.solve.decay import angle_laws
    from reduced.solve.limit import limit
    from reduced.solve.network import network_flow
    from reduced.solve.predict import predict
    from reduced.solve.sensitivity import sensitivities
    from reduced.solve.taylor import taylor_timeline
    from reduced.solve.timeline import timeline

    __version__: str

_LAZY = {
    "InputError": "reduced.errors",
    "Loss": "reduced.records",
    "Outcome": "reduced.records",
    "Problem": "reduced.records",
    "Regime": "reduced.records",
    "Start": "reduced.records",
    "Timeline": "reduced.records",
    "angle_laws": "reduced.solve.decay",
    "asymptotic": "reduced.solve.asymptotic",
    "kkt": "reduced.maxmargin",
    "limit": "reduced.solve.limit",
    "network_flow": "reduced.solve.network",
    "perturb": "reduced.maxmargin",
    "predict": "reduced.solve.predict",
    "problem": "reduced.parameters",
    "sensitivities": "reduced.solve.sensitivity",
    "start": "reduced.parameters",
    "taylor_timeline": "reduced.solve.taylor",
    "timeline": "reduced.solve.timeline",
}
_PACKAGES = ("crosscheck", "derive", "figures", "maxmargin", "report", "sweep", "theorems")

__all__ = [
    "InputError",
    "Loss",
    "Outcome",
    "Problem",
    "Regime",
    "Start",
    "Timeline",
    "__version__",
    "angle_laws",
    "asymptotic",
    "crosscheck",
    "derive",
    "figures",
    "kkt",
    "limit",
    "maxmargin",
    "network_flow",
    "perturb",
    "predict",
    "problem",
    "report",
    "sensitivities",
    "start",
    "sweep",
    "taylor_timeline",
    "theorems",
    "timeline",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    from importlib import import_module

    if name in _LAZY:
        found = getattr(import_module(_LAZY[name]), name)
    elif name in _PACKAGES:
        return import_module(f"reduced.{name}")
    elif name == "__version__":
        found = _version()
    else:
        raise AttributeError(f"module 'reduced' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return sorted(__all__)


def _version() -> str:
    """Return the installed distribution's version; ``0+unknown`` when run from a bare source tree."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("reduced-dynamics")
    except PackageNotFoundError:
        return "0+unknown"
