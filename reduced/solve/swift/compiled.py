"""The kernels compiled by numba: imported only for networks large enough to pay for it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from numba import njit
from numba.extending import overload, register_jitable

from reduced.solve.swift import arithmetic, chain, duration, piece

_KERNELS: tuple[Any, ...] = (chain.run_leg, chain.release)


def compile_kernels() -> tuple[Callable[..., int], Callable[..., None]]:
    """Return compiled ``run_leg`` and ``release`` of :mod:`reduced.solve.swift.chain`.

    Every function they call is made known to numba as it stands, so that interpreted and compiled runs share
    one source. The machine code itself is made, or read from the cache, at the first call.
    """
    for name in ("exp", "log", "expm1", "log1p"):
        _substitute(getattr(arithmetic, name), getattr(math, name))
    in_doubles = duration.duration
    overload(chain.span)(lambda piece, q, motion: lambda piece, q, motion: in_doubles(piece, q, motion))
    for module in (piece, duration, chain):
        for function in _functions(module):
            if function not in _KERNELS and function is not chain.span:
                register_jitable(error_model="numpy")(function)
    run_leg, release = (_cached(kernel) for kernel in _KERNELS)
    return run_leg, release


def is_cached(kernel: Any) -> bool:
    """Return whether numba has the machine code of a kernel on disk."""
    folder = kernel.stats.cache_path
    return folder is not None and any(Path(folder).glob(f"*{kernel.py_func.__qualname__}-*.nbi"))


def _functions(module: ModuleType) -> list[FunctionType]:
    found = [value for value in vars(module).values() if isinstance(value, FunctionType)]
    return [function for function in found if function.__module__ == module.__name__]


def _substitute(function: Any, machine: Any) -> None:
    """Let compiled code call the machine's own function of one number where the source says ``function``."""
    overload(function)(lambda x: lambda x: machine(x))


def _cached(kernel: Any) -> Any:
    """Return a kernel compiled by numba, cached on disk where that is possible.

    numba notices changes of the kernel's own file only, so its name carries a digest of all its sources.
    """
    sources = b"".join(Path(str(module.__file__)).read_bytes() for module in (piece, duration, chain))
    named = FunctionType(kernel.__code__, kernel.__globals__, kernel.__name__)
    named.__qualname__ = f"{kernel.__name__}_{hashlib.sha256(sources).hexdigest()[:16]}"
    try:
        return njit(cache=True, error_model="numpy")(named)
    except RuntimeError:
        # no directory to write to
        return njit(error_model="numpy")(named)
