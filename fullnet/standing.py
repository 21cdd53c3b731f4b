"""Where a flow stands between two smooth pieces, and what it has written down so far.

Together they are all a flow needs to go on exactly as if it had never stopped; both are plain arrays, so both
can be kept in a file.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullnet.checks import Floats
from fullnet.data import DataSet
from fullnet.decide import Neuron, settle
from fullnet.forces import scaled
from fullnet.history import Ints, Key
from fullnet.loss import Loss
from fullnet.network import Network, predictions
from fullnet.shown import shown
from fullnet.surfaces import Surfaces

PIECE_COLUMNS = ("start", "used", "step", "prediction", "impulse", "impulse_low")
STANDING_ARRAYS = ("f", "impulse", "impulse_low", "member", "base", "fresh", "rates", "reach")
MOVE_COLUMNS = ("time", "neuron", "before", "after", "piece")
_MOVE_TYPES = (np.float64, np.int64, np.int64, np.int64, np.int64)


@dataclass(eq=False)
class Standing:
    """The state of a flow at the reading t of its clock.

    f (N,); impulse, impulse_low (N,): S = ∫U dt as an unevaluated sum; keys, the classes met so far, and
    since, since_low (C, N): S when the flow met them; member (m,): the class of each neuron; base (m, n): Z =
    base + velocity (S − since) is its distance from each surface; fresh (m, n): whether it was put on that
    surface when it joined its class; rates (N, N): df/dt = share · rates U; reach: the
    compiled engine's certificates.
    """

    t: float
    f: Floats
    impulse: Floats
    impulse_low: Floats
    keys: list[Key]
    since: list[Floats]
    since_low: list[Floats]
    member: Ints
    base: Floats
    fresh: NDArray[np.bool_]
    rates: Floats
    reach: Floats = field(default_factory=lambda: np.zeros(0))

    __repr__ = shown

    def __post_init__(self) -> None:
        """Number the classes."""
        self._numbers = {key: number for number, key in enumerate(self.keys)}

    def copied(self) -> Standing:
        """Return a standing that shares no array with this one."""
        arrays = {name: getattr(self, name).copy() for name in STANDING_ARRAYS}
        return replace(
            self,
            keys=list(self.keys),
            since=[row.copy() for row in self.since],
            since_low=[row.copy() for row in self.since_low],
            **arrays,
        )

    def number(self, key: Key) -> int:
        """Return the number of a class; one that is new is met now."""
        if key not in self._numbers:
            self._numbers[key] = len(self.keys)
            self.keys.append(key)
            self.since.append(self.impulse.copy())
            self.since_low.append(self.impulse_low.copy())
        return self._numbers[key]


def first_standing(
    network: Network, data: DataSet, loss: Loss, surfaces: Surfaces, ridge: str | None
) -> Standing:
    """Return the state at time 0; neurons exactly on a kink are settled by the forces there."""
    f = predictions(network, data)
    places = surfaces.places(network.W, network.scale)
    signs = network.sign.astype(int)
    zero = np.zeros_like(f)
    on = places == 0
    standing = Standing(0.0, f, zero, zero, [], [], [], np.zeros(len(signs), int), places, on, np.zeros(0))
    sides = np.sign(places).astype(int)
    states = [tuple(row) for row in sides.tolist()]
    force = scaled(f, data, loss).u
    for k in np.flatnonzero(on.any(axis=1)).tolist():
        neuron = Neuron(k, int(signs[k]), states[k], arriving=False)
        states[k] = settle(surfaces, neuron, np.flatnonzero(on[k]).tolist(), force, ridge)
    for k, key in enumerate(zip(signs.tolist(), states, strict=True)):
        standing.member[k] = standing.number(key)
    return standing


@dataclass(eq=False)
class Log:
    """The smooth pieces and moves of a flow, in blocks of arrays with the columns named above."""

    piece_blocks: list[tuple[Any, ...]] = field(default_factory=list)
    move_blocks: list[tuple[Any, ...]] = field(default_factory=list)
    pieces: int = 0
    moves: int = 0
    _piece_rows: list[tuple[Any, ...]] = field(default_factory=list)
    _move_rows: list[tuple[Any, ...]] = field(default_factory=list)

    def add_piece(self, *row: Any) -> None:
        """Write down one piece."""
        self._piece_rows.append(row)
        self.pieces += 1

    def add_move(self, *row: Any) -> None:
        """Write down one move."""
        self._move_rows.append(row)
        self.moves += 1

    def add_blocks(self, pieces: tuple[Any, ...], moves: tuple[Any, ...]) -> None:
        """Write down many pieces and moves at once."""
        self._end_rows()
        self.piece_blocks.append(pieces)
        self.move_blocks.append(moves)
        self.pieces += len(pieces[0])
        self.moves += len(moves[0])

    def piece_columns(self, last: tuple[Any, ...] | None = None) -> dict[str, Any]:
        """Return the pieces as arrays by name, with one more row if given."""
        self._flush()
        blocks = self.piece_blocks if last is None else [*self.piece_blocks, _columns([last])]
        return dict(zip(PIECE_COLUMNS, _joined(blocks), strict=True))

    def move_columns(self) -> dict[str, Any]:
        """Return the moves as arrays by name."""
        self._flush()
        empty = tuple(np.zeros(0, kind) for kind in _MOVE_TYPES)
        columns = _joined([empty, *self.move_blocks])
        return {
            name: column.astype(kind, copy=False)
            for name, column, kind in zip(MOVE_COLUMNS, columns, _MOVE_TYPES, strict=True)
        }

    def _end_rows(self) -> None:
        """Turn single rows into blocks."""
        for rows, blocks in ((self._piece_rows, self.piece_blocks), (self._move_rows, self.move_blocks)):
            if rows:
                blocks.append(_columns(rows))
                rows.clear()

    def _flush(self) -> None:
        """Turn single rows into blocks, and many blocks into one."""
        self._end_rows()
        for blocks in (self.piece_blocks, self.move_blocks):
            if len(blocks) > 1:
                blocks[:] = [_joined(blocks)]


def _columns(rows: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def _joined(blocks: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(np.concatenate(parts) for parts in zip(*blocks, strict=True))
