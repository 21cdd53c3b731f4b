"""Kernels compiled by numba and kept on disk under a name that changes with any of their sources."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from numba import njit
from numba.extending import register_jitable


def functions(module: ModuleType) -> list[FunctionType]:
    """Return the functions a module defines itself."""
    found = [value for value in vars(module).values() if isinstance(value, FunctionType)]
    return [function for function in found if function.__module__ == module.__name__]


def let_kernels_call(function: FunctionType) -> None:
    """Make a function known to numba as it stands, so that interpreted and compiled runs share one source."""
    register_jitable(error_model="numpy")(function)


def kernel(function: Any, sources: tuple[ModuleType, ...], **options: Any) -> Any:
    """Return a function compiled by numba, cached on disk where that is possible.

    Arguments: function; sources, the modules of all it calls; options of numba.njit. numba notices changes of
    the function's own file only, so its name there carries a digest of all sources.
    """
    files = [function.__code__.co_filename, *(str(module.__file__) for module in sources)]
    digest = hashlib.sha256(b"".join(Path(file).read_bytes() for file in files)).hexdigest()
    named = FunctionType(function.__code__, function.__globals__, function.__name__)
    named.__module__ = function.__module__
    named.__qualname__ = f"{function.__name__}_{digest[:16]}"
    try:
        return njit(cache=True, error_model="numpy", **options)(named)
    except RuntimeError:
        # no directory to write to
        return njit(error_model="numpy", **options)(named)
