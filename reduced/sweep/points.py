"""The points of a sweep: what is computed, at which parameters, and the row that comes of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from reduced.errors import InputError
from reduced.numbers import PI, Exact, exact, read_number, sign
from reduced.shown import shown
from reduced.sweep.axes import MAX_VALUES, read_axis, read_integers

LAW = "law"
"""The living fraction that the κ₁ → 0 law gives."""

_MODEL = ("p", "delta", "kappa2")
_FRACTIONS = ("alpha_plus", "alpha_minus")
_NETWORK = ("kappa1", "m", "dim", "seed", "init_law", "until")

COMPUTATIONS: dict[str, tuple[str, ...]] = {
    "plateau": (*_MODEL, *_FRACTIONS, "loss", "digits"),
    "limit": (*_MODEL, *_FRACTIONS, "digits"),
    "simulate": (*_MODEL, *_NETWORK, "loss", "digits"),
    "crosscheck": (*_MODEL, *_NETWORK, "digits"),
    "gd": (*_MODEL, *_NETWORK, "lr", "steps", "digits"),
}
"""What can be computed, and the parameters that each takes."""

DEFAULTS: dict[str, Any] = {
    "p": "4",
    "delta": "pi/15",
    "kappa1": "1/10",
    "kappa2": "1",
    "alpha_plus": LAW,
    "alpha_minus": LAW,
    "m": 100,
    "dim": 20,
    "seed": 0,
    "init_law": "sphere",
    "until": "1000000000000",
    "loss": "exp",
    "lr": "1/100",
    "steps": None,
    "digits": 30,
}
"""The paper's setting; ``steps`` None means until just past the flow's T_II."""

WORDS = {"init_law": ("sphere", "gaussian"), "loss": ("exp", "logistic")}
MAX_WEIGHTS = 50_000_000
_INTEGERS = {
    "m": (1, 10_000_000),
    "dim": (2, MAX_WEIGHTS),
    "seed": (0, 2**63 - 1),
    "digits": (1, 10_000),
    "steps": (0, 10**12),
}


@dataclass(frozen=True)
class Point:
    """One configuration with every parameter resolved, as canonical JSON: equal points have equal keys."""

    key: str

    @property
    def config(self) -> dict[str, Any]:
        """The computation and its parameters: exact numbers as texts, counts as integers."""
        found: dict[str, Any] = json.loads(self.key)
        return found


@dataclass(frozen=True)
class Row:
    """What a sweep's file holds for one point.

    ``key`` is the point's; ``result`` maps quantities to decimal strings, counts, words or None (empty
    when the point failed, then ``error`` is the sentence that says why); ``versions`` those of the packages
    that computed it; ``seconds`` of computing.
    """

    key: str
    result: dict[str, Any]
    error: str | None
    versions: dict[str, str | None]
    seconds: float

    __repr__ = shown

    @property
    def config(self) -> dict[str, Any]:
        """The point's resolved configuration."""
        return Point(self.key).config


def grid(computation: str, axes: Mapping[str, str | None]) -> list[Point]:
    """Return one point per combination of values; a parameter not given has its default.

    Arguments: computation, one of :data:`COMPUTATIONS`; axes, texts as :mod:`reduced.sweep.axes` reads them,
    by parameter (None: not given; words such as the loss are lists separated by commas). The last parameter
    varies fastest. Raises InputError for values no point can have; combinations that Assumption 3.1 excludes
    stay and become rows with their error.
    """
    if computation not in COMPUTATIONS:
        raise InputError("compute", repr(computation), f"one of {', '.join(COMPUTATIONS)}")
    names = COMPUTATIONS[computation]
    given = {name: text for name, text in axes.items() if text is not None}
    for name in given:
        if name not in names:
            raise InputError(name, given[name], f"no value: {computation} takes {', '.join(names)}")
    values = {name: _values(name, given[name]) if name in given else [DEFAULTS[name]] for name in names}
    size = prod(len(found) for found in values.values())
    if size > MAX_VALUES:
        raise InputError("sweep", f"{size} points", f"at most {MAX_VALUES}")
    return [
        Point(canonical({"compute": computation, **dict(zip(names, chosen, strict=True))}))
        for chosen in product(*values.values())
    ]


def canonical(record: Mapping[str, Any]) -> str:
    """Write JSON in its one canonical form: sorted names, no spaces."""
    return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _values(name: str, text: str) -> list[Any]:
    if name in WORDS:
        words = [word.strip() for word in text.split(",")]
        for word in words:
            if word not in WORDS[name]:
                raise InputError(name, repr(word), f"one of {', '.join(WORDS[name])}")
        return list(dict.fromkeys(words))
    if name in _INTEGERS:
        return list(read_integers(text, name, *_INTEGERS[name]))
    if name in _FRACTIONS and text.strip() == LAW:
        return [LAW]
    values = read_axis(text, name)
    valid, expected = _RANGES.get(name, (_positive, "positive numbers"))
    for value in values:
        if not valid(read_number(value, name)):
            raise InputError(name, value, expected)
    return values


def _positive(value: Exact) -> bool:
    return sign(value) > 0


def _acute(value: Exact) -> bool:
    return sign(value) > 0 and sign(PI / 2 - value) > 0


def _fraction(value: Exact) -> bool:
    return sign(value) >= 0 and sign(exact(1) - value) >= 0


_RANGES: dict[str, tuple[Callable[[Exact], bool], str]] = {
    "delta": (_acute, "angles strictly between 0 and pi/2"),
    "alpha_plus": (_fraction, "fractions between 0 and 1"),
    "alpha_minus": (_fraction, "fractions between 0 and 1"),
}
