"""How kernels are compiled by numba, and whether that has been done: imported only where numba is wanted.

Functions called by kernels only are compiled with them, without wrappers for Python; the kernels themselves
are kept on disk.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, TypeVar

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])

_WITHOUT_WRAPPERS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def inner(function: Function) -> Function:
    """Decorate a function that only kernels call."""
    compiled: Function = njit(error_model="numpy", **_WITHOUT_WRAPPERS)(function)
    return compiled


def kernel(*parts: ModuleType) -> Callable[[Any], Any]:
    """Return the decorator of a kernel that calls inner functions of its own module and of ``parts``.

    numba looks for changes in the kernel's own file only, so the name on disk carries a digest of all sources.
    Where no directory can be written to, the kernel is compiled afresh in each process.
    """

    def compiled(function: FunctionType) -> Any:
        files = [function.__code__.co_filename, *(str(part.__file__) for part in parts)]
        digest = hashlib.sha256(b"".join(Path(file).read_bytes() for file in files)).hexdigest()
        named = FunctionType(function.__code__, function.__globals__, function.__name__)
        named.__doc__, named.__module__ = function.__doc__, function.__module__
        named.__qualname__ = f"{function.__name__}_{digest[:16]}"
        try:
            return njit(cache=True, error_model="numpy")(named)
        except RuntimeError:
            return njit(error_model="numpy")(named)

    return compiled


def is_compiled(one: Any) -> bool:
    """Return whether a kernel is compiled in this process or on disk."""
    if one.signatures:
        return True
    folder = one.stats.cache_path
    return folder is not None and any(Path(folder).glob(f"*{one.py_func.__qualname__}-*.nbi"))
