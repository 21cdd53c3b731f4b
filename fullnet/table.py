"""A flow as a table for other programs: one row a time, one column a quantity, as arrays or in a CSV file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullnet.clock import flow_time, log_time
from fullnet.sample import sample
from fullnet.trajectory import Trajectory
from fullnet.writing import written_whole

# Column names are words, so that every reader takes them as they are.
_MARKS = str.maketrans({"+": "p", "-": "m"})
_SIGNS = {1: "positive", -1: "negative"}


def table(flow: Trajectory, points: int = 200, times: Any = None) -> dict[str, NDArray[Any]]:
    """Sample a flow into columns (T,) by name.

    Arguments: flow; points ≥ 2, how many times even in log t; times (T,), rising, instead of these. Columns: t,
    flow time (inf past the range of doubles), and log_t, its logarithm; the predictions f_plus, f_minus on
    two-point data, else f_1 … f_N; accuracy; loss and log_loss; gradient_norm and log_gradient_norm of ‖∇L‖;
    angle between −∇L and θ in radians (NaN where one of them is 0); norm ‖θ‖; living_patterns; clusters of the
    living neurons' directions (−1: not counted); and for each class of neurons the flow meets their number,
    positive_p0 for instance: ``p`` stands for active, ``m`` for inactive, ``0`` for sliding on each data point.
    Returns the columns. Raises InputError.
    """
    found = sample(flow, points, times)
    two = flow.data.is_two_point
    names = ("f_plus", "f_minus") if two else [f"f_{j + 1}" for j in range(len(flow.data.y))]
    classes = [f"{_SIGNS[sign]}_{pattern.translate(_MARKS)}" for sign, pattern in found.classes]
    with np.errstate(under="ignore", over="ignore"):  # beside each stands its logarithm
        loss, gradient_norm = np.exp(found.log_loss), np.exp(found.log_gradient)
    return {
        "t": np.array([flow_time(t) for t in found.t.tolist()]),
        "log_t": np.array([log_time(t) for t in found.t.tolist()]),
        **dict(zip(names, found.prediction.T, strict=True)),
        "accuracy": found.accuracy,
        "loss": loss,
        "log_loss": found.log_loss,
        "gradient_norm": gradient_norm,
        "log_gradient_norm": found.log_gradient,
        "angle": found.angle,
        "norm": found.norm,
        "living_patterns": found.living_patterns,
        "clusters": found.clusters,
        **dict(zip(classes, found.counts.T, strict=True)),
    }


def save_csv(
    flow: Trajectory, path: str | Path, points: int = 200, times: Any = None, argument: str = "path"
) -> None:
    """Write the :func:`table` of a flow to a CSV file, complete or not at all; every double reads back the same.

    Arguments: flow; path; points and times as in :func:`table`; argument, the name by which errors call the
    file. Raises InputError, also where the file cannot be written.
    """
    columns = table(flow, points, times)
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    lines = [",".join(columns), *(",".join(map(repr, row)) for row in rows)]
    with written_whole(path, argument) as stream:
        stream.write(("\n".join(lines) + "\n").encode())
