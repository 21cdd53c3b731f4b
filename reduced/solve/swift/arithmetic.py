"""Elementary functions for every number type the flow runs on: float (also compiled) and mpf.

Compiled code never enters these functions: :mod:`reduced.solve.swift.compiled` replaces them by the machine's
own.
"""

from __future__ import annotations

import math
from typing import Any


def exp(x: Any) -> Any:
    """Return eˣ (inf when a float overflows)."""
    if isinstance(x, float):
        return math.exp(x) if x < 709.0 else math.inf
    return x.context.exp(x)


def log(x: Any) -> Any:
    """Return ln x for x > 0."""
    return math.log(x) if isinstance(x, float) else x.context.log(x)


def expm1(x: Any) -> Any:
    """Return eˣ − 1 to full relative precision (inf when a float overflows)."""
    if isinstance(x, float):
        return math.expm1(x) if x < 709.0 else math.inf
    from mpmath.libmp import fone, mpf_exp, mpf_sub

    ctx = x.context
    if _is_tiny(x):
        return x
    wide = ctx.prec + 10 + max(0, -ctx.mag(x))
    return ctx.make_mpf(mpf_sub(mpf_exp(x._mpf_, wide, "n"), fone, ctx.prec, "n"))


def log1p(x: Any) -> Any:
    """Return ln(1 + x) to full relative precision for x > −1."""
    if isinstance(x, float):
        return math.log1p(x)
    from mpmath.libmp import fone, mpf_add, mpf_log

    ctx = x.context
    if _is_tiny(x):
        return x
    wide = ctx.prec + 10 + max(0, -ctx.mag(x))
    return ctx.make_mpf(mpf_log(mpf_add(x._mpf_, fone, wide, "n"), ctx.prec, "n"))


def _is_tiny(x: Any) -> bool:
    """Return whether x² is below the rounding of x, an mpf that may be as small as e^(−10¹⁰⁰)."""
    return bool(not x or -x.context.mag(x) > x.context.prec + 1)
