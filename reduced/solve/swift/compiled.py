"""The kernels compiled by numba: imported only for networks large enough to pay for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.extending import overload

from reduced.solve.compilation import functions, kernel, let_kernels_call
from reduced.solve.swift import arithmetic, chain, duration, piece

_KERNELS: tuple[Any, ...] = (chain.run_leg, chain.release)


def compile_kernels() -> tuple[Callable[..., int], Callable[..., None]]:
    """Return compiled ``run_leg`` and ``release`` of :mod:`reduced.solve.swift.chain`.

    The machine code itself is made, or read from disk, at the first call.
    """
    for name in ("exp", "log", "expm1", "log1p"):
        _substitute(getattr(arithmetic, name), getattr(math, name))
    in_doubles = duration.duration
    overload(chain.span)(lambda piece, q, motion: lambda piece, q, motion: in_doubles(piece, q, motion))
    sources = (piece, duration, chain)
    for module in sources:
        for function in functions(module):
            if function not in _KERNELS and function is not chain.span:
                let_kernels_call(function)
    run_leg, release = (kernel(function, sources) for function in _KERNELS)
    return run_leg, release


def is_cached(compiled: Any) -> bool:
    """Return whether numba has the machine code of a kernel on disk."""
    folder = compiled.stats.cache_path
    return folder is not None and any(Path(folder).glob(f"*{compiled.py_func.__qualname__}-*.nbi"))


def _substitute(function: Any, machine: Any) -> None:
    """Let compiled code call the machine's own function of one number where the source says ``function``."""
    overload(function)(lambda x: lambda x: machine(x))
