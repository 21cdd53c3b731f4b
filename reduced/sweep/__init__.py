"""Sweeps: one quantity at many parameters, computed by worker processes or a cluster, kept in one file.

    points = sweep.grid("plateau", {"p": "2,4,6,8", "delta": "pi/10,pi/15,pi/20"})
    sweep.run(points, "plateau.db", workers=2)
    sweep.summary("plateau.db")

- :func:`grid` turns texts of values into :class:`Point` records, one per combination.
- :func:`run` computes what is missing in the file, row by row, and returns a :class:`Report`; killed or
  interrupted, the same call goes on from there.
- :func:`read_rows` and :func:`export` hand the rows on; :func:`summary` fits the scaling laws,
  :func:`plot_fits` draws them, and :func:`over_seeds` says how results vary over seeds.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reduced.sweep.points import COMPUTATIONS, Point, Row, grid

if TYPE_CHECKING:
    from reduced.sweep.plot import plot_fits
    from reduced.sweep.runner import Progress, Report, run
    from reduced.sweep.scaling import Fit, summary
    from reduced.sweep.seeds import Spread, over_seeds
    from reduced.sweep.store import read_rows
    from reduced.sweep.table import export

_LAZY = {
    "Fit": "scaling",
    "Progress": "runner",
    "Report": "runner",
    "Spread": "seeds",
    "export": "table",
    "over_seeds": "seeds",
    "plot_fits": "plot",
    "read_rows": "store",
    "run": "runner",
    "summary": "scaling",
}

__all__ = [
    "COMPUTATIONS",
    "Fit",
    "Point",
    "Progress",
    "Report",
    "Row",
    "Spread",
    "export",
    "grid",
    "over_seeds",
    "plot_fits",
    "read_rows",
    "run",
    "summary",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
