"""The full network, numerically: weights, data and a loss, and nothing of the phases' formulas.

Everything public is here::

    data = fullnet.two_point(p=4, delta=math.pi / 15, dim=20)
    net = fullnet.initial_network(m=100, dim=20, kappa1=0.1, kappa2=1.0, seed=0)
    flow = fullnet.gradient_flow(net, data, until=1e6, estimate_error=True)
    fullnet.phase_times(flow).times["T_plat"]
    fullnet.gradient_descent(net, data, lr=1e-2, steps=150_000).T_plat

- Data: :class:`DataSet` from :func:`two_point`, :func:`noisy`, :func:`orthogonal`, :func:`data_set`,
  :func:`load_data`.
- Networks: :class:`Network` from :func:`given_network`, :func:`initial_network`, :func:`load_network`;
  :func:`predictions`, :func:`accuracy`, :func:`log_loss`, :func:`gradient`.
- Training: :func:`gradient_flow` (exact events, Filippov sliding) gives a :class:`Trajectory` of
  :class:`Event` and :class:`Death`; :func:`gradient_descent` gives a :class:`Descent`, :func:`descent_path`
  a :class:`DescentPath` of its weights at chosen times; runs end with an :class:`Outcome`; :class:`Budget`
  bounds a flow, :class:`Checkpoint` saves it on the way; :func:`step_sizes` gives a :class:`StepSize` for
  each learning rate.
- Files: :func:`save` and :func:`load_trajectory` for flows, :func:`save_descents` and
  :func:`load_descents` for descents; :func:`save_csv` for other programs, of the columns of
  :func:`table`; :func:`require_writable` asks before a long run.
- Times past ``LINEAR`` = 10³⁰⁰ are readings of a clock: :func:`log_time` gives ln t, :func:`clock_at` the
  reading, :func:`time_text` the time in words.
- Looking at a flow: :func:`sample` gives a :class:`Sample`; :func:`detect` a :class:`Detection` with its
  :class:`Plateau` and :class:`PatternChange`; :func:`direction_clusters` a :class:`Cluster` each;
  :func:`pattern_share` a :class:`PatternShare`; :func:`width_study` a :class:`WidthStudy`;
  :func:`phase_times` gives the :class:`Phases` of a two-point run.
- Errors: :class:`InputError` (bad input), :class:`NotUnique` (a neuron on a repelling ridge).
"""

from fullnet.clock import LINEAR, clock_at, log_time, time_text
from fullnet.comparison import StepSize, step_sizes
from fullnet.condensation import Cluster, direction_clusters
from fullnet.data import DataSet, data_set, load_data, two_point
from fullnet.descent import Descent, gradient_descent
from fullnet.descent_path import DescentPath, descent_path
from fullnet.descent_storage import load_descents, save_descents
from fullnet.detection import Detection, PatternChange, Plateau, detect
from fullnet.errors import InputError, NotUnique
from fullnet.flow import gradient_flow
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
from fullnet.phases import Phases, phase_times
from fullnet.presets import noisy, orthogonal
from fullnet.richness import PatternShare, WidthStudy, pattern_share, width_study
from fullnet.run import Budget, Checkpoint
from fullnet.sample import Sample, sample
from fullnet.storage import load_trajectory, save
from fullnet.table import save_csv, table
from fullnet.trajectory import Death, Event, Outcome, Trajectory
from fullnet.writing import require_writable

__all__ = [
    "LINEAR",
    "Budget",
    "Checkpoint",
    "Cluster",
    "DataSet",
    "Death",
    "Descent",
    "DescentPath",
    "Detection",
    "Event",
    "InputError",
    "Loss",
    "Network",
    "NotUnique",
    "Outcome",
    "PatternChange",
    "PatternShare",
    "Phases",
    "Plateau",
    "Sample",
    "StepSize",
    "Trajectory",
    "WidthStudy",
    "accuracy",
    "clock_at",
    "data_set",
    "descent_path",
    "detect",
    "direction_clusters",
    "given_network",
    "gradient",
    "gradient_descent",
    "gradient_flow",
    "initial_network",
    "load_data",
    "load_descents",
    "load_network",
    "load_trajectory",
    "log_loss",
    "log_time",
    "noisy",
    "orthogonal",
    "pattern_share",
    "phase_times",
    "predictions",
    "require_writable",
    "sample",
    "save",
    "save_csv",
    "save_descents",
    "step_sizes",
    "table",
    "time_text",
    "two_point",
    "width_study",
]
