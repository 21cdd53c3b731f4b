"""The m-neuron flow in doubles: the same exact events, every number right to nearly all of a double's digits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import inf, log
from typing import TYPE_CHECKING, Any

from reduced.errors import InputError
from reduced.numbers import exact, sin, sign as sign_of
from reduced.numbers import cos
from reduced.records import Loss, Outcome, Problem
from reduced.solve.swift import chain, kernels
from reduced.solve.swift.engine import Start, follow, level_of
from reduced.solve.swift.piece import Angle
from reduced.solve.swift.start import Ridge, contributions, patterns

if TYPE_CHECKING:
    from reduced.solve.swift.path import Floats, Integers, Path, Place
