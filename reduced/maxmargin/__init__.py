"""The end of training: limit network, KKT certificate, margins, angles, perturbation (Thm 4.10–4.11)."""

from reduced.maxmargin.kkt import KKT, kkt
from reduced.maxmargin.living import Hypotheses, LivingOnly
from reduced.maxmargin.margin import ConvexOptimum, convex_optimum, max_margin
from reduced.maxmargin.network import (
    Angles,
    LimitVectors,
    angles_to_limit,
    data_points,
    limit_network,
    living_sets,
)
from reduced.maxmargin.perturbation import Perturbation, ReviveDead, perturb
from reduced.maxmargin.residual import Path, Residual, residual_along
from reduced.maxmargin.revival import Ascent, Revival, Slope

__all__ = [
    "KKT",
    "Angles",
    "Ascent",
    "ConvexOptimum",
    "Hypotheses",
    "LimitVectors",
    "LivingOnly",
    "Path",
    "Perturbation",
    "Residual",
    "Revival",
    "ReviveDead",
    "Slope",
    "angles_to_limit",
    "convex_optimum",
    "data_points",
    "kkt",
    "limit_network",
    "living_sets",
    "max_margin",
    "perturb",
    "residual_along",
]
