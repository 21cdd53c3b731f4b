"""The time a piece takes, for mpf numbers: a Taylor series for short steps, the closed form for long ones."""

from __future__ import annotations

from typing import Any

from reduced.solve.block import block
from reduced.solve.swift.piece import MINUS, PLUS, Piece


def duration_of_mpf(piece: Piece, q: Any) -> tuple[Any, int]:
    """Return (∫₀^q P₀/P dS, 0) for a piece in mpf numbers."""
    solved = block(piece.r.context, (piece.A, piece.B, piece.B, piece.D), 1 + 0 * piece.r, piece.r)
    return solved.elapsed(path_of_block(piece, q)), 0


def path_of_block(piece: Piece, q: Any) -> Any:
    """Return the path parameter of :mod:`reduced.solve.block` at q."""
    if piece.kind == PLUS:
        return q / piece.g
    return q / piece.h if piece.kind == MINUS else q
