"""Rigorous enclosures: times, predictions and margins as mid ± rad, proved in Arb balls from exact input."""

from reduced.errors import MissingExtra

try:
    import flint as _flint  # noqa: F401
except ImportError:
    raise MissingExtra('enclosures need python-flint: pip install "reduced-dynamics[certified]"') from None

from reduced.solve.enclosure.answer import Enclosure
from reduced.solve.enclosure.ball import Undecided
from reduced.solve.enclosure.collapsed import (
    EnclosedLimit,
    EnclosedPoint,
    EnclosedTimeline,
    enclosure_limit,
    enclosure_predict,
    enclosure_timeline,
)
from reduced.solve.enclosure.network import EnclosedRun, enclosure_network
from reduced.solve.enclosure.plateau import PreparedPlateau

__all__ = [
    "EnclosedLimit",
    "EnclosedPoint",
    "EnclosedRun",
    "EnclosedTimeline",
    "Enclosure",
    "PreparedPlateau",
    "Undecided",
    "enclosure_limit",
    "enclosure_network",
    "enclosure_predict",
    "enclosure_timeline",
]
