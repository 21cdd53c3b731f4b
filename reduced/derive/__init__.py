"""Derive the reduced dynamics from the definition of the network (SymPy only, no digits).

A :class:`NetworkModel` (data by Gram matrix, activation, loss) and groups of neurons give, by
differentiating the loss, the neurons' motions, the prediction ODE, its phases, its limit direction and the
closed form of the plateau.
"""

from reduced.derive.decay import AngleLaw, angle_law, constant_from_start
from reduced.derive.export import Formula, Formulas
from reduced.derive.filippov import Condition, Motion, motion
from reduced.derive.limit import (
    FINAL_PHASES,
    LimitDirection,
    fixed_ratio,
    limit,
    limit_direction,
    regime_bounds,
    stationarity_residual,
)
from reduced.derive.network import (
    EXP,
    LOGISTIC,
    MINUS,
    PLUS,
    RELU,
    SQUARED_RELU,
    TWO_POINTS,
    Activation,
    DataSet,
    Loss,
    NetworkModel,
    Velocity,
    data_set,
    leaky_relu,
    smooth_velocity,
)
from reduced.derive.page import Page, inline
from reduced.derive.phase_one import (
    Course,
    Fate,
    PolarMotion,
    Step,
    all_courses,
    courses,
    living_fractions,
    polar_motion,
)
from reduced.derive.phases import PHASES, phase
from reduced.derive.plateau import (
    ClosedForm,
    closed_form,
    far_expansion,
    plateau_end,
    small_angle_law,
    substitution_residuals,
)
from reduced.derive.prediction import AutonomyError, Group, PredictionODE, prediction_ode
from reduced.derive.revival import Revival, revival
from reduced.derive.slow_motion import SlowMotion, slow_motion
from reduced.derive.small_angle import QUANTITIES, SmallAngleSeries, small_angle_series
from reduced.derive.symbols import DerivationError

__all__ = [
    "EXP",
    "FINAL_PHASES",
    "LOGISTIC",
    "MINUS",
    "PHASES",
    "PLUS",
    "QUANTITIES",
    "RELU",
    "SQUARED_RELU",
    "TWO_POINTS",
    "Activation",
    "AngleLaw",
    "AutonomyError",
    "ClosedForm",
    "Condition",
    "Course",
    "DataSet",
    "DerivationError",
    "Fate",
    "Formula",
    "Formulas",
    "Group",
    "LimitDirection",
    "Loss",
    "Motion",
    "NetworkModel",
    "Page",
    "PolarMotion",
    "PredictionODE",
    "Revival",
    "SlowMotion",
    "SmallAngleSeries",
    "Step",
    "Velocity",
    "all_courses",
    "angle_law",
    "closed_form",
    "constant_from_start",
    "courses",
    "data_set",
    "far_expansion",
    "fixed_ratio",
    "inline",
    "leaky_relu",
    "limit",
    "limit_direction",
    "living_fractions",
    "motion",
    "phase",
    "plateau_end",
    "polar_motion",
    "prediction_ode",
    "regime_bounds",
    "revival",
    "slow_motion",
    "small_angle_law",
    "small_angle_series",
    "smooth_velocity",
    "stationarity_residual",
    "substitution_residuals",
]
