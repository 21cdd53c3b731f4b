"""The paper's phases as declarations of groups (Table 1); everything else is derived from them."""

from __future__ import annotations

from functools import cache

from reduced.derive.network import MINUS, PLUS, NetworkModel
from reduced.derive.prediction import Group, PredictionODE, prediction_ode
from reduced.derive.symbols import alpha_minus, alpha_plus
from reduced.errors import InputError

PHASES: dict[str, tuple[Group, Group]] = {
    "II": (
        Group("K_plus", +1, alpha_plus, active=(PLUS, MINUS)),
        Group("K_minus", -1, alpha_minus, active=(MINUS,), sliding=(PLUS,)),
    ),
    "III": (
        Group("K_plus", +1, alpha_plus, active=(PLUS,), sliding=(MINUS,)),
        Group("K_minus", -1, alpha_minus, active=(MINUS,), sliding=(PLUS,)),
    ),
    "IV": (
        Group("K_plus", +1, alpha_plus, active=(PLUS,), sliding=(MINUS,)),
        Group("K_minus", -1, alpha_minus, active=(PLUS, MINUS)),
    ),
}


@cache
def phase(name: str, model: NetworkModel | None = None) -> PredictionODE:
    """Derive the prediction ODE of Phase II, III or IV, for the paper's network unless told otherwise."""
    if name not in PHASES:
        raise InputError("phase", name, "II, III or IV")
    return prediction_ode(model or NetworkModel(), PHASES[name])
