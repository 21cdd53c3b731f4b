"""How smooth pieces are solved: the loss as the solver sees it, closed form or Taylor series."""

from __future__ import annotations

from typing import Any, Protocol

from reduced.solve.block import Block, block

Rates = tuple[Any, Any, Any, Any]


class Pieces(Protocol):
    """A way to solve smooth pieces for one loss."""

    def forces(self, ctx: Any, weights: tuple[Any, Any], f: tuple[Any, Any]) -> tuple[Any, Any]:
        """Return (P, Q) = (w₊ g(f₊), w₋ g(−f₋)) with g = −ℓ′."""

    def piece(self, ctx: Any, weights: tuple[Any, Any], rates: Rates, forces: tuple[Any, Any]) -> Block:
        """Return the smooth piece with rates (A, B, C, D) that starts with the given forces."""


class ClosedForm:
    """Exponential loss, solved in closed form."""

    def forces(self, ctx: Any, weights: tuple[Any, Any], f: tuple[Any, Any]) -> tuple[Any, Any]:
        """Return (P, Q) = (w₊ e^{−f₊}, w₋ e^{f₋})."""
        return weights[0] * ctx.exp(-f[0]), weights[1] * ctx.exp(f[1])

    def piece(self, ctx: Any, weights: tuple[Any, Any], rates: Rates, forces: tuple[Any, Any]) -> Block:
        """Return the smooth piece with rates (A, B, C, D) that starts with the given forces."""
        return block(ctx, rates, *forces)
