"""Gradient descents in files: plain arrays in one .npz, equal bit for bit after a round trip."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fullnet.data import DataSet
from fullnet.descent import Descent, descent
from fullnet.descent_state import DescentState, DescentTask
from fullnet.errors import ContentError, InputError
from fullnet.files import inside, read_arrays, require_format
from fullnet.loss import Loss
from fullnet.network import Network
from fullnet.writing import written_whole

_FORMAT = "descents 1"
_PROBLEM = ("start", "sign", "X", "y", "weights")
_OPTIONS = ("kappa2", "loss", "subgradient")
_STATE_ARRAYS = ("z", "amounts", "f", "right", "flags", "right_since")
_RUN = ("lr", "asked", "steps", "flips", "T_II", "diverged", "compiled", "stop_early")
_CHANGES = ("change_run", "change_step", "change_accuracy")


def save_descents(runs: Sequence[Descent], path: str | Path) -> None:
    """Write descents from one start to an .npz file, complete or not at all: under another name first, then moved.

    Arguments: runs, of one network, data, loss and subgradient; path. The file holds ``start`` (m, d), the
    initial weights, ``sign`` and the data; for each run, along a first axis, ``lr``, ``steps``, ``final`` (m, d),
    its weights, ``predictions`` (N,), ``times`` (T_plat, T_II; NaN for none), ``living`` (m,) and all that is
    needed to go on; and ``W``, the weights of the last run, so that it can be read by :func:`load_network`.
    Raises InputError for no runs, runs of different problems, or where the file cannot be written.
    """
    if not runs:
        raise InputError("runs", "none", "at least one descent")
    task = runs[0].task
    if not all(task.same_problem(run.task) for run in runs):
        raise InputError("runs", "different problems", "descents of one network, data, loss and subgradient")
    with written_whole(path) as stream:
        np.savez(stream, **_problem(task), **_results(runs), **_standing(runs))


def load_descents(path: str | Path, argument: str = "path") -> tuple[Descent, ...]:
    """Read descents written by :func:`save_descents`.

    Arguments: path; argument, the name by which errors call the file. Returns the Descents, equal bit for bit.
    Raises InputError for anything else.
    """
    with inside(path, argument):
        require_format(path, _FORMAT, "gradient descents")
        found = read_arrays(path, (*_PROBLEM, *_OPTIONS, *_RUN, *_STATE_ARRAYS, *_CHANGES))
        try:
            return _loaded(found)
        except (AttributeError, KeyError, ValueError, IndexError, TypeError) as why:
            raise ContentError(why, "gradient descents as they were saved") from None


def _problem(task: DescentTask) -> dict[str, Any]:
    network, data = task.network, task.data
    return {
        "format": _FORMAT,
        "start": network.W,
        "sign": network.sign,
        "kappa2": network.kappa2,
        "X": data.X,
        "y": data.y,
        "weights": data.weights,
        "loss": task.loss.value,
        "subgradient": task.subgradient,
    }


def _results(runs: Sequence[Descent]) -> dict[str, Any]:
    """Return what the runs came to, for other readers: it follows from where they stand."""
    return {
        "W": runs[-1].network.W,
        "final": np.array([run.network.W for run in runs]),
        "predictions": np.array([run.predictions for run in runs]),
        "times": np.array([(_number(run.T_plat), _number(run.T_II)) for run in runs]),
        "living": np.array([run.living for run in runs]),
        "outcome": np.array([run.outcome.value for run in runs]),
    }


def _standing(runs: Sequence[Descent]) -> dict[str, Any]:
    """Return where the runs stand and how they go on."""
    states = [run.state for run in runs]
    changes = [(n, step, part) for n, state in enumerate(states) for step, part in state.changes]
    run, step, accuracy = zip(*changes, strict=True)
    return {
        "lr": np.array([run.lr for run in runs]),
        "asked": np.array([run.asked for run in runs]),
        "compiled": np.array([run.task.compiled for run in runs]),
        "stop_early": np.array([run.task.stop_early for run in runs]),
        "steps": np.array([state.made for state in states]),
        "flips": np.array([state.flips for state in states]),
        "T_II": np.array([_number(state.T_II) for state in states]),
        "diverged": np.array([state.diverged for state in states]),
        **{name: np.array([getattr(state, name) for state in states]) for name in _STATE_ARRAYS},
        "change_run": np.array(run),
        "change_step": np.array(step),
        "change_accuracy": np.array(accuracy),
    }


def _number(t: float | None) -> float:
    return math.nan if t is None else t


def _loaded(found: dict[str, Any]) -> tuple[Descent, ...]:
    for name in _PROBLEM:
        found[name].setflags(write=False)
    network = Network(found["start"], found["sign"], float(found["kappa2"]))
    data = DataSet(found["X"], found["y"], found["weights"])
    return tuple(
        descent(_task(found, n, network, data), _state(found, n), int(found["asked"][n]))
        for n in range(len(found["lr"]))
    )


def _task(found: dict[str, Any], n: int, network: Network, data: DataSet) -> DescentTask:
    return DescentTask(
        network,
        data,
        float(found["lr"][n]),
        Loss(str(found["loss"])),
        float(found["subgradient"]),
        bool(found["compiled"][n]),
        bool(found["stop_early"][n]),
    )


def _state(found: dict[str, Any], n: int) -> DescentState:
    of_this = found["change_run"] == n
    T_II = float(found["T_II"][n])
    return DescentState(
        **{name: found[name][n].copy() for name in _STATE_ARRAYS},
        changes=list(
            zip(
                found["change_step"][of_this].tolist(),
                found["change_accuracy"][of_this].tolist(),
                strict=True,
            )
        ),
        made=int(found["steps"][n]),
        flips=int(found["flips"][n]),
        T_II=None if math.isnan(T_II) else T_II,
        diverged=bool(found["diverged"][n]),
    )
