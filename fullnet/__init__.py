"""The full network, numerically: weights, data and a loss, and nothing of the phases' formulas.

Everything public is here::

    data = fullnet.two_point(p=4, delta=math.pi / 15, dim=20)
    net = fullnet.initial_network(m=100, dim=20, kappa1=0.1, kappa2=1.0, seed=0)
    flow = fullnet.gradient_flow(net, data, until=1e6, estimate_error=True)
    fullnet.phase_times(flow).times["T_plat"]
    fullnet.gradient_descent(net, data, lr=1e-2, steps=150_000).T_plat

- Data: :class:`DataSet` from :func:`two_point`, :func:`data_set`, :func:`load_data`.
- Networks: :class:`Network` from :func:`given_network`, :func:`initial_network`, :func:`load_network`;
:func:`predictions`,
  :func:`accuracy`, :func:`log_loss`, :func:`gradient`.
- Training: :func:`gradient_flow` (exact events, Filippov sliding) gives a :class:`Trajectory` of
:class:`Event`;
  :func:`gradient_descent` gives a :class:`Descent`, :func:`descent_path` a :class:`DescentPath` of its weights at
  chosen times; runs end with an :class:`Outcome`; :class:`Budget` bounds a flow.
- Phases: :func:`phase_times` gives :class:`Phases` with its :class:`Plateau`.
- Errors: :class:`InputError` (bad input), :class:`NotUnique` (a neuron on a repelling ridge).
"""

from fullnet.data import DataSet, data_set, load_data, two_point
from fullnet.descent import Descent, gradient_descent
from fullnet.descent_path import DescentPath, descent_path
from fullnet.errors import InputError, NotUnique
from fullnet.flow import Budget, gradient_flow
from fullnet.loss import Loss
from fullnet.network import (
    Network,
    accuracy,
    given_network,
    gradient,
    initial_network,
    load_network,
    log_loss,
    predictions,
)
from fullnet.phases import Phases, Plateau, phase_times
from fullnet.trajectory import Event, Outcome, Trajectory

__all__ = [
    "Budget",
    "DataSet",
    "Descent",
    "DescentPath",
    "Event",
    "InputError",
    "Loss",
    "Network",
    "NotUnique",
    "Outcome",
    "Phases",
    "Plateau",
    "Trajectory",
    "accuracy",
    "data_set",
    "descent_path",
    "given_network",
    "gradient",
    "gradient_descent",
    "gradient_flow",
    "initial_network",
    "load_data",
    "load_network",
    "log_loss",
    "phase_times",
    "predictions",
    "two_point",
]
