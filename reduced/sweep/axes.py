"""The values of one parameter of a sweep, read from text.

A text is a list of items separated by commas; an item is

- a number: ``4``, ``0.1``, ``pi/15``, ``sqrt(2)/3``;
- a range of integers, the end left out as in Python: ``0:50``, ``0:50:5``;
- ``lin(first, last, count)`` or ``geom(first, last, count)``: count values from first to last, both
  included, at equal differences or equal ratios.

All values are exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from reduced.errors import InputError
from reduced.numbers import Exact, exact, read_number, sign

MAX_VALUES = 1_000_000
"""The most values of one parameter, and the most points of a sweep."""

_RANGE = re.compile(r"\s*(-?\d{1,18})\s*:\s*(-?\d{1,18})\s*(?::\s*(\d{1,18})\s*)?")
_SPACED = re.compile(r"\s*(lin|geom)\s*\((.*)\)\s*", re.DOTALL)
_EXPECTED = "numbers and ranges such as 2,4,6 or 0:50 or geom(1e-1, 1e-4, 7)"


def read_axis(text: str, name: str) -> list[str]:
    """Return the values of one parameter as texts, each once, in the order given.

    Arguments: text, as this module describes; name, the parameter to blame. Equal rational numbers are
    written the same way (0.1 as 1/10), so a value has one text however it was typed. Raises InputError.
    """
    values: dict[str, None] = {}
    for item in _split(text):
        for value in _item(item, name):
            values[value] = None
            if len(values) > MAX_VALUES:
                raise InputError(name, text, f"at most {MAX_VALUES} values")
    if not values:
        raise InputError(name, repr(text), _EXPECTED)
    return list(values)


def read_integers(text: str, name: str, least: int, most: int) -> list[int]:
    """Return the values of an integer parameter within its bounds. Raises InputError."""
    found = []
    for value in read_axis(text, name):
        if not re.fullmatch(r"-?\d+", value) or not least <= int(value) <= most:
            raise InputError(name, value, f"integers from {least} to {most}")
        found.append(int(value))
    return found


def _split(text: str) -> list[str]:
    """Split at the commas outside parentheses."""
    items, depth, current = [], 0, ""
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            items.append(current)
            current = ""
        else:
            current += letter
    return [*items, current]


def _item(item: str, name: str) -> Iterator[str]:
    if match := _RANGE.fullmatch(item):
        first, last, step = (None if part is None else int(part) for part in match.groups())
        if step == 0:
            raise InputError(name, item, "a range with a step of at least 1")
        yield from map(str, range(first or 0, last or 0, step or 1))
    elif match := _SPACED.fullmatch(item):
        yield from map(_text, _spaced(match[1], match[2], name))
    elif ":" in item:
        raise InputError(name, item, "a range of integers first:end or first:end:step with step at least 1")
    else:
        value = read_number(item, name)
        yield _text(value, item.strip())


def _spaced(law: str, inside: str, name: str) -> Iterator[Exact]:
    parts = _split(inside)
    if len(parts) != 3:
        raise InputError(name, f"{law}({inside})", f"{law}(first, last, count)")
    first, last = (read_number(part, name) for part in parts[:2])
    count = read_integers(parts[2], f"{name}: count of {law}", 2, MAX_VALUES)[0]
    if law == "geom" and (sign(first) <= 0 or sign(last) <= 0):
        raise InputError(name, f"geom({inside})", "geom between two positive numbers")
    yield first
    for k in range(1, count - 1):
        share = Fraction(k, count - 1)
        yield _power(first, last, share) if law == "geom" else first + (last - first) * exact(share)
    yield last


def _power(first: Exact, last: Exact, share: Fraction) -> Exact:
    """Return first·(last/first)^share, as a rational where it is one."""
    ratio = last / first
    if ratio.fraction is not None:
        root = _root(ratio.fraction, share.denominator)
        if root is not None:
            return first * exact(root**share.numerator)
    return first * ratio ** exact(share)


def _root(value: Fraction, degree: int) -> Fraction | None:
    """Return the degree-th root of a rational when it is rational (and of moderate size), else None."""
    roots = []
    for whole in (value.numerator, value.denominator):
        if whole.bit_length() > 1000:
            return None
        root = round(whole ** (1 / degree))
        if root**degree != whole:
            return None
        roots.append(root)
    return Fraction(*roots)


def _text(value: Exact, typed: str | None = None) -> str:
    """Write a value as a text that reads back as the same number; as typed when the short form would not."""
    for text in (str(value), typed):
        if text is not None and read_number(text) == value:
            return text
    fraction = value.fraction
    if fraction is None:
        raise InputError("value", value, "a number that can be written down exactly in a short text")
    return f"{fraction.numerator}/{fraction.denominator}"
