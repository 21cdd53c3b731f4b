"""The kernels compiled by numba: imported only for networks large enough to pay for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

from numba import njit
from numba.core.dispatcher import Dispatcher
from numba.extending import overload, register_jitable

from reduced.solve.swift import arithmetic, chain, duration, piece


def compile_kernels() -> tuple[Callable[..., int], Callable[..., None]]:
    """Return compiled ``run_leg`` and ``release`` of :mod:`reduced.solve.swift.chain`.

    Every function they call is made known to numba in place, so that interpreted and compiled runs share one
    source. The machine code itself is made, or read from the cache, at the first call.
    """
    for name in ("exp", "log", "expm1", "log1p"):
        overload(getattr(arithmetic, name))(_substitute(getattr(math, name)))
    overload(chain.span)(_substitute(register_jitable(duration.duration)))
    ...
