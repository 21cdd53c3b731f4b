"""Trajectories in files: plain arrays in one .npz, equal bit for bit after a round trip."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fullnet.data import DataSet
from fullnet.errors import ContentError
from fullnet.files import inside, read_arrays, require_format
from fullnet.loss import Loss
from fullnet.network import Network
from fullnet.standing import MOVE_COLUMNS, PIECE_COLUMNS, STANDING_ARRAYS, Standing
from fullnet.task import Task
from fullnet.trajectory import Outcome, Trajectory, assembled, with_shadow
from fullnet.writing import written_whole

_FORMAT = 1
_SHADOW = "shadow."
_PROBLEM = ("W", "sign", "X", "y", "weights")
_OPTIONS = ("format", "kappa2", "loss", "ridge", "order", "tolerance", "compiled", "mirrored")
_STATE = ("until", "outcome", "t", "class_sign", "class_state", "since", "since_low", "start_class")
_PARTS = (
    *_OPTIONS,
    *_STATE,
    *(f"piece.{name}" for name in PIECE_COLUMNS),
    *(f"move.{name}" for name in MOVE_COLUMNS),
    *(f"standing.{name}" for name in STANDING_ARRAYS),
)


def save(trajectory: Trajectory, path: str | Path) -> None:
    """Write a trajectory to an .npz file, complete or not at all: under another name first, then moved.

    Arguments: trajectory; path. Raises InputError where the file cannot be written.
    """
    arrays = _arrays(trajectory)
    network, data = trajectory.network, trajectory.data
    arrays |= {"W": network.W, "sign": network.sign, "X": data.X, "y": data.y, "weights": data.weights}
    if trajectory.shadow is not None:
        arrays |= {_SHADOW + name: array for name, array in _arrays(trajectory.shadow).items()}
    with written_whole(path) as stream:
        np.savez(stream, **arrays)


def load_trajectory(path: str | Path, argument: str = "path") -> Trajectory:
    """Read a trajectory written by :func:`save`.

    Arguments: path; argument, the name by which errors call the file. Returns the Trajectory, equal bit for bit.
    Raises InputError for anything else.
    """
    with inside(path, argument):
        require_format(path, str(_FORMAT), "a trajectory")
        found = read_arrays(path, (*_PROBLEM, *_PARTS), [_SHADOW + name for name in _PARTS])
        try:
            return _loaded(found)
        except (AttributeError, KeyError, ValueError, IndexError, TypeError) as why:
            raise ContentError(why, "a trajectory as it was saved") from None


def _loaded(found: dict[str, Any]) -> Trajectory:
    for name in _PROBLEM:
        found[name].setflags(write=False)
    network = Network(found["W"], found["sign"], float(found["kappa2"]))
    data = DataSet(found["X"], found["y"], found["weights"])
    loaded = _trajectory(found, network, data)
    shadow = {name.removeprefix(_SHADOW): array for name, array in found.items() if _SHADOW in name}
    return with_shadow(loaded, _trajectory(shadow, network, data)) if shadow else loaded


def _arrays(trajectory: Trajectory) -> dict[str, Any]:
    """Return everything but the network and the data as arrays by name."""
    task, standing = trajectory.task, trajectory.standing
    N = len(task.data.y)
    return {
        "format": _FORMAT,
        "kappa2": task.network.kappa2,
        "loss": task.loss.value,
        "ridge": task.ridge or "",
        "order": task.order,
        "tolerance": task.tolerance,
        "compiled": task.compiled,
        "mirrored": task.mirrored,
        "until": trajectory.until,
        "outcome": trajectory.outcome.value,
        "t": standing.t,
        "class_sign": np.array([sign for sign, _ in standing.keys], dtype=np.int8),
        "class_state": np.array([state for _, state in standing.keys], dtype=np.int8),
        "since": np.array(standing.since).reshape(-1, N),
        "since_low": np.array(standing.since_low).reshape(-1, N),
        "start_class": trajectory.history.start,
        **{f"piece.{name}": getattr(trajectory.pieces, name) for name in PIECE_COLUMNS},
        **{f"move.{name}": getattr(trajectory.history, name) for name in MOVE_COLUMNS},
        **{f"standing.{name}": getattr(standing, name) for name in STANDING_ARRAYS},
    }


def _trajectory(found: dict[str, Any], network: Network, data: DataSet) -> Trajectory:
    task = Task(
        network,
        data,
        Loss(str(found["loss"])),
        str(found["ridge"]) or None,
        int(found["order"]),
        float(found["tolerance"]),
        bool(found["compiled"]),
        bool(found["mirrored"]),
    )
    states = [tuple(state) for state in found["class_state"].tolist()]
    arrays = {name: found[f"standing.{name}"] for name in STANDING_ARRAYS}
    standing = Standing(
        t=float(found["t"]),
        keys=list(zip(found["class_sign"].tolist(), states, strict=True)),
        since=list(found["since"]),
        since_low=list(found["since_low"]),
        **arrays,
    )
    return assembled(
        task,
        standing,
        found["start_class"],
        {name: found[f"piece.{name}"] for name in PIECE_COLUMNS},
        {name: found[f"move.{name}"] for name in MOVE_COLUMNS},
        float(found["until"]),
        Outcome(str(found["outcome"])),
    )
