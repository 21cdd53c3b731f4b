"""The closed form of the collapsed model in doubles; the subset of Python that numba compiles.

Notation of :mod:`reduced.solve.block`, in units in which κ₂² = 1: in Phase II g = α₊(1+c), h = g + α₋w with w
= 1 − c, the ratio y = r (1+αw) runs to 1, z = 1 − y falls as z₀ e^{−q}, L = ln(y/y₀), and

    f₋ = f₋₀ + c L/(1+c) − β q,   share of K₊ = its start + α₊ (c L − w(1−cα)/(1+αw) q)/(α₊(1+c)).

Phase III is elementary. Every difference is formed from the small quantity itself.
"""

from __future__ import annotations

from math import cos, exp, expm1, inf, isfinite, log, log1p, nan, sin

# Codes are floats so that a row is all of one type.
FINISHED, NO_PLATEAU, ALREADY, PLATEAU_INFINITE, OUTSIDE = 0.0, 1.0, 2.0, 3.0, 4.0
COLUMNS = 7
_EPS = 2.0**-54
_LARGEST_LOG = 709.0

Times = tuple[float, float, float, float, float, float, float]


def collapsed_times(
    p: float,
    delta: float,
    alpha_plus: float,
    alpha_minus: float,
    kappa2: float,
    f_plus: float,
    f_minus: float,
    f_minus_negative: float,
) -> Times:
    """Return (code, T_plat, T_II, T_III, ln T_plat, ln T_II, ln T_III)."""
    c, w, s2 = cos(delta), 2.0 * sin(0.5 * delta) ** 2, sin(delta) ** 2
    share = f_minus - f_minus_negative
    finite = isfinite(p + delta + alpha_plus + alpha_minus + kappa2 + f_plus + f_minus + f_minus_negative)
    inside = finite and p * c > 1.0 and 0.0 < c < 1.0 and kappa2 > 0.0
    inside = inside and alpha_plus >= 0.0 and alpha_minus >= 0.0 and share >= 0.0 and f_minus_negative <= 0.0
    if not inside:
        return OUTSIDE, nan, nan, nan, nan, nan, nan
    if alpha_plus == 0.0:
        return PLATEAU_INFINITE, inf, inf, inf, inf, inf, inf
    r0 = exp(f_plus + f_minus) / p
    if c * r0 > 1.0 or (share == 0.0 and r0 >= c):
        return OUTSIDE, nan, nan, nan, nan, nan, nan
    alpha = alpha_minus / alpha_plus
    bend = 1.0 + alpha * w
    y0, z0 = r0 * bend, 1.0 - r0 * bend
    beta = w * (1.0 + alpha) / ((1.0 + c) * bend)
    lean = c / (1.0 + c)
    # time unit: elapsed = I(q)/(h Q₀) with h = α₊(1+c)(1+αw) and Q₀ = e^{f₋}/(1+p)
    log_unit = log1p(p) - f_minus - log(alpha_plus * (1.0 + c) * bend) - 2.0 * log(kappa2)

    log_plat, plateau_code = -inf, FINISHED
    if alpha_minus == 0.0:
        log_plat, plateau_code = inf, PLATEAU_INFINITE
    else:
        root = last_fall(f_minus, lean, beta, y0, z0)
        if root > 0.0:
            log_plat = log_unit + log_integral(root, lean, beta, y0, z0, c)
        else:
            plateau_code = NO_PLATEAU if f_minus == 0.0 else ALREADY
    drift = w * (1.0 - c * alpha) / ((1.0 + c) * bend)
    if drift <= 0.0:
        return plateau_code, span(log_plat), inf, inf, log_plat, inf, inf
    root = last_fall(share, lean, drift, y0, z0)
    log_two = log_unit + log_integral(root, lean, beta, y0, z0, c)
    if alpha_minus == 0.0 or not alpha < c:
        return plateau_code, span(log_plat), span(log_two), inf, log_plat, log_two, inf
    z = z0 * exp(-root)
    L = log_change(root, y0, z0)
    below = f_minus + lean * L - beta * root
    gap = (w * (1.0 + alpha) + c * z) / bend
    # Phase III lasts e^{−f₋}(1 − c r)/(w₋ κ₂² s² α₊ (c − α))
    log_three = log(gap) - below + log1p(p) - 2.0 * log(kappa2) - log(s2 * alpha_plus * (c - alpha))
    log_end = log_two + log1p(exp(log_three - log_two)) if log_three < log_two else log_three
    if log_three >= log_two:
        log_end = log_three + log1p(exp(log_two - log_three))
    return plateau_code, span(log_plat), span(log_two), span(log_end), log_plat, log_two, log_end


def span(log_time: float) -> float:
    """Return e^{log_time}, inf past the range of doubles."""
    return exp(log_time) if log_time < _LARGEST_LOG else inf


def log_change(q: float, y0: float, z0: float) -> float:
    """Return L = ln(y/y₀) at q, exact for tiny q and for large y₀."""
    change = -z0 * expm1(-q) / y0
    if change > -0.5:
        return log1p(change)
    return log((y0 * exp(-q) - expm1(-q)) / y0)


def last_fall(start: float, lean: float, drift: float, y0: float, z0: float) -> float:
    """Return the q > 0 from which start + lean·L − drift·q stays below 0, or 0.

    lean > 0, drift > 0. The form is concave (z₀ > 0) or convex and falling (z₀ < 0); its asymptote bounds the
    root on the side from which Newton's method converges monotonically.
    """
    slope = lean * z0 / y0 - drift
    if start < 0.0 or (start == 0.0 and slope <= 0.0):
        rises = slope > 0.0
        if not rises:
            return 0.0
    q = max((start - lean * log(y0)) / drift, 0.0)
    if start < 0.0:
        # below zero at the start: is the top above it?
        top = log(z0 * (1.0 + lean / drift))
        if start + lean * log_change(top, y0, z0) - drift * top <= 0.0:
            return 0.0
    for _ in range(200):
        decay = z0 * exp(-q)
        y = y0 * exp(-q) - expm1(-q)
        value = start + lean * log_change(q, y0, z0) - drift * q
        step = value / (drift - lean * decay / y)
        q += step
        if abs(step) <= 4.0 * _EPS * q:
            break
    return q


def log_integral(q: float, lean: float, beta: float, y0: float, z0: float, c: float) -> float:
    """Return ln ∫₀^q (y/y₀)^{a−1} e^{βτ} dτ with 1 − a = lean."""
    if 0.25 <= y0 <= 1.75:
        return log_middle(q, lean, beta, z0, z0 * exp(-q)) + lean * log(y0)
    edge = 0.25 if y0 < 0.25 else 1.75
    q_edge = log(z0 / (1.0 - edge))
    outer = outer_integral(min(q, q_edge), beta, y0, z0, c, lean)
    if q <= q_edge:
        return log(outer)
    inner = log_middle(q - q_edge, lean, beta, 1.0 - edge, z0 * exp(-q)) + lean * log(y0) + beta * q_edge
    return inner + log1p(outer * exp(-inner))


def log_middle(q: float, lean: float, beta: float, z_begin: float, z_end: float) -> float:
    """Return ln ∫ y^{a−1} e^{βτ} dτ over a length q on which |z| ≤ 3/4."""
    k_begin, k_end = middle_sum(lean, beta, z_begin), middle_sum(lean, beta, z_end)
    if beta * q < 500.0:
        growth = expm1(beta * q) / beta
        return log(growth * (1.0 - beta * k_end) + (k_begin - k_end))
    return beta * q - log(beta) + log1p(-beta * k_end)


def middle_sum(lean: float, beta: float, z: float) -> float:
    """Return Σ_{n≥1} (1−a)_n/n! · zⁿ/(n − β)."""
    term, total, n = 1.0, 0.0, 0.0
    while True:
        term *= (lean + n) / (n + 1.0) * z
        n += 1.0
        add = term / (n - beta)
        total += add
        if abs(add) <= _EPS * abs(total) or term == 0.0:
            return total


def outer_integral(q: float, beta: float, y0: float, z0: float, c: float, lean: float) -> float:
    """Return ∫₀^q (y/y₀)^{a−1} e^{βτ} dτ where y < 1/4 (powers of y) or y > 7/4 (powers of 1/y)."""
    y = y0 * exp(-q) - expm1(-q)
    if y0 < 1.0:
        power, first, last = 1.0 - lean, y0, y
    else:
        power, first, last = 1.0 - (beta + 1.0 - lean), 1.0 / y0, 1.0 / y
    # y₀^{1−a}|z₀|^β [last^power G(last) − first^power G(first)], scaled so that no power overflows
    scale: float = y0**lean * abs(z0) ** beta
    value: float = last**power * outer_sum(power, beta, last) - first**power * outer_sum(power, beta, first)
    return scale * value


def outer_sum(power: float, beta: float, y: float) -> float:
    """Return Σ_{n≥0} (1+β)_n/n! · yⁿ/(power + n)."""
    term, total, n = 1.0, 1.0 / power, 0.0
    while True:
        term *= (1.0 + beta + n) / (n + 1.0) * y
        n += 1.0
        add = term / (power + n)
        total += add
        if add <= _EPS * total:
            return total
