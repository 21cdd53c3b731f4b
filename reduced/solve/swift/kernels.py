"""Where the chain of events runs: plain Python on lists, or compiled by numba on arrays."""

from __future__ import annotations

import importlib.util
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from reduced.solve.swift.chain import DEAD, Neurons, Queue, release, run_leg

COMPILE_FROM = 20_000
"""The number of neurons from which compiled kernels pay, loading them from the cache included."""


@dataclass(frozen=True)
class Interpreted:
    """Plain Python on lists, for any number type: the two kernels and the containers they work on."""

    run_leg: Callable[..., int] = run_leg
    release: Callable[..., None] = release

    def blank(self, count: int, zero: Any) -> Any:
        """Return a list of ``count`` zeros."""
        return [zero] * count

    def integers(self, values: Any) -> Any:
        """Return a list of integers."""
        return values.tolist() if hasattr(values, "tolist") else list(values)

    def codes(self, values: Any) -> Any:
        """Return a list of integers."""
        return self.integers(values)

    def reals(self, values: Any) -> Any:
        """Return a list of numbers."""
        return self.integers(values)

    def grow(self, values: Any, count: int, zero: Any) -> Any:
        """Return the list with zeros added up to ``count``."""
        return values + [zero] * (count - len(values))

    def count(self, neurons: Neurons, pattern: int) -> int:
        """Return the number of neurons of a pattern."""
        return int(neurons.pattern.count(pattern))

    def members(self, neurons: Neurons) -> Callable[[int, int], Any]:
        """Return the function (sign, pattern) → the living neurons that have them now."""
        groups = defaultdict(list)
        for k, (sign, pattern) in enumerate(zip(neurons.sign, neurons.pattern, strict=True)):
            if pattern != DEAD:
                groups[sign, pattern].append(k)
        return lambda sign, pattern: groups.get((sign, pattern), [])

    def queue(self, groups: Sequence[tuple[Any, Any, Any]]) -> Queue:
        """Return the sorted queue of groups (members, coordinate of all neurons, divisor)."""
        readings = [(values[k] / divisor, k) for who, values, divisor in groups for k in who]
        readings.sort()
        return Queue([key for key, _ in readings], [k for _, k in readings])


@dataclass(frozen=True)
class Compiled:
    """Machine code on arrays, for doubles: the same members as :class:`Interpreted`."""

    run_leg: Callable[..., int]
    release: Callable[..., None]
    is_cached: Callable[[], bool]

    def blank(self, count: int, zero: Any) -> Any:
        """Return an array for ``count`` numbers of the type of zero, not filled."""
        import numpy as np

        return np.empty(count, np.int32 if isinstance(zero, int) else np.float64)

    def integers(self, values: Any) -> Any:
        """Return an array of integers."""
        import numpy as np

        return np.array(values, np.int64)

    def codes(self, values: Any) -> Any:
        """Return an array of bytes."""
        import numpy as np

        return np.array(values, np.int8)

    def reals(self, values: Any) -> Any:
        """Return an array of numbers."""
        import numpy as np

        return np.array(values, np.float64)

    def grow(self, values: Any, count: int, zero: Any) -> Any:
        """Return a copy with room for ``count`` numbers."""
        import numpy as np

        grown = np.empty(count, values.dtype)
        grown[: len(values)] = values
        return grown

    def count(self, neurons: Neurons, pattern: int) -> int:
        """Return the number of neurons of a pattern."""
        import numpy as np

        return int(np.count_nonzero(neurons.pattern == pattern))

    def members(self, neurons: Neurons) -> Callable[[int, int], Any]:
        """Return the function (sign, pattern) → the neurons that have them now."""
        import numpy as np

        return lambda sign, pattern: np.flatnonzero((neurons.pattern == pattern) & (neurons.sign == sign))

    def queue(self, groups: Sequence[tuple[Any, Any, Any]]) -> Queue:
        """Return the sorted queue of groups (members, coordinate of all neurons, divisor)."""
        import numpy as np

        keys = np.concatenate([values[who] / divisor for who, values, divisor in groups])
        members = np.concatenate([who for who, _, _ in groups])
        order = np.argsort(keys)
        return Queue(keys[order], members[order].astype(np.int32))


Kernels = Interpreted | Compiled
"""A way to run the chain."""


def has_compiler() -> bool:
    """Return whether numba is installed."""
    return importlib.util.find_spec("numba") is not None


@cache
def compiled_kernels() -> Compiled:
    """Return the compiled kernels, from numba's cache on disk where it has them.

    numba itself picks a directory it can write to; where there is none the kernels are compiled afresh in
    each process.
    """
    from reduced.solve.swift.compiled import compile_kernels, is_cached

    run_leg, release = compile_kernels()
    return Compiled(run_leg, release, lambda: is_cached(run_leg))
