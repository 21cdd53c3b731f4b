"""A piece of the chain as a block of :mod:`reduced.solve.block`, whose series give its time to any digits."""

from __future__ import annotations

from typing import Any

from reduced.solve.block import Block, block
from reduced.solve.swift.piece import MINUS, PLUS, Piece


def block_of(piece: Piece, scale: Any, P0: Any) -> Block:
    """Return the block of a piece in mpf numbers that begins with force P₀; scale is κ₂²/m."""
    A, B, D = piece.A * scale, piece.B * scale, piece.D * scale
    return block(P0.context, (A, B, B, D), P0, P0 * piece.r)


def path_of(piece: Piece, scale: Any, q: Any) -> Any:
    """Return the block's own path parameter at q: hR in general, S or R when only one point is learned."""
    if piece.kind == PLUS:
        return q / (piece.g * scale)
    return q / (piece.h * scale) if piece.kind == MINUS else q


def duration_of_mpf(piece: Piece, q: Any) -> tuple[Any, int]:
    """Return (∫₀^q P₀/P dS, 0) of a piece that moves, in mpf numbers."""
    one = piece.r.context.one
    return block_of(piece, one, one).elapsed(path_of(piece, one, q)), 0
