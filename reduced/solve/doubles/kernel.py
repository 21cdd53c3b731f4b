"""The closed form of the collapsed model in doubles; the subset of Python that numba compiles.

Notation of :mod:`reduced.solve.block`, in units in which κ₂² = 1: in Phase II g = α₊(1+c), h = g + α₋w with w
= 1 − c, the ratio y = r (1+αw) runs to 1, z = 1 − y falls as z₀ e^{−q}, L = ln(y/y₀), and

    f₋ = f₋₀ + c L/(1+c) − β q,   share of K₊ = its start + c L/(1+c) − w(1−cα)/((1+c)(1+αw)) q.

Phase III is elementary. Every difference is formed from the small quantity itself. Nothing here raises, and
every loop ends, whatever doubles come in.
"""

from __future__ import annotations

from math import cos, exp, expm1, inf, log, log1p, nan, pi, sin, sqrt

from reduced.solve.doubles.short import short_integral

# Codes are floats so that a row is all of one type; those below zero are given by :func:`fault`.
FINISHED, NO_PLATEAU, ALREADY, PLATEAU_INFINITE = 0.0, 1.0, 2.0, 3.0
COLUMNS = 7
# 1 − c α is Δ²/2 at α = 1, and the drift of the share of K₊ Δ⁴/8: roots from 10⁶ on have to be doubles.
SMALLEST_ANGLE, LARGEST_PREDICTION = 1e-70, 1e6
# Beyond these values of y₀ and 1/r₀ powers and products of them need not be doubles.
LARGEST_RATIO = 1e200
_EPS = 2.0**-54
_LARGEST_LOG = 709.0
# Between these values of y the series in z = 1 − y converges like (3/4)ⁿ; outside, those in y or 1/y do.
_LOW, _HIGH = 0.25, 1.75
_MOST_TERMS, _MOST_STEPS = 400, 200
# Where e^{βq} exceeds e to this power the rest of a sum is below rounding.
_LONG = 100.0
# Up to this width differences of the series cancel, and one Gauss panel serves.
_SHORT = 2.0

Times = tuple[float, float, float, float, float, float, float]
# a path is (1 − a, β, 1 − β, y₀, z₀)
Path = tuple[float, float, float, float, float]


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
    """Return (code, T_plat, T_II, T_III, ln T_plat, ln T_II, ln T_III); NaN where the code is below zero."""
    code = fault(p, delta, alpha_plus, alpha_minus, kappa2, f_plus, f_minus, f_minus_negative)
    if code < 0.0:
        return code, nan, nan, nan, nan, nan, nan
    if alpha_plus == 0.0:
        return PLATEAU_INFINITE, inf, inf, inf, inf, inf, inf
    c, w, s2 = cos(delta), 2.0 * sin(0.5 * delta) ** 2, sin(delta) ** 2
    alpha, share = alpha_minus / alpha_plus, f_minus - f_minus_negative
    bend = 1.0 + alpha * w
    y0 = exp(f_plus + f_minus) / p * bend
    z0 = 1.0 - y0
    lean, whole = c / (1.0 + c), (1.0 + c) * bend
    beta = w * (1.0 + alpha) / whole
    path = (lean, beta, c * (2.0 + alpha * w) / whole, y0, z0)
    drift = w * ((alpha_plus - alpha_minus) / alpha_plus + alpha * w) / whole

    root_plat = last_fall(f_minus, lean, beta, y0, z0) if alpha_minus > 0.0 else 0.0
    root_two = last_fall(share, lean, drift, y0, z0) if drift > 0.0 else 0.0
    entry = entry_to_middle(path) if is_long(max(root_plat, root_two), y0) else (0.0, 0.0, 0.0)
    # time unit: elapsed = I(q)/(h Q₀) with h = α₊(1+c)(1+αw) and Q₀ = e^{f₋}/(1+p)
    scale = (1.0 + p) / kappa2 / kappa2
    log_scale = log1p(p) - 2.0 * log(kappa2)
    unit = scale / (alpha_plus * whole) * power_of_e(-f_minus)
    log_unit = log_scale - log(alpha_plus * whole) - f_minus

    T_plat, log_plat, code = inf, inf, PLATEAU_INFINITE
    if root_plat > 0.0:
        T_plat, log_plat = span(unit, log_unit, integral(root_plat, path, entry))
        code = FINISHED
    elif alpha_minus > 0.0:
        T_plat, log_plat = 0.0, -inf
        code = ALREADY if f_minus < 0.0 else NO_PLATEAU
    if drift <= 0.0:
        return code, T_plat, inf, inf, log_plat, inf, inf
    T_two, log_two = 0.0, -inf
    if root_two > 0.0:
        T_two, log_two = span(unit, log_unit, integral(root_two, path, entry))
    if alpha_minus == 0.0 or not alpha < c:
        return code, T_plat, T_two, inf, log_plat, log_two, inf
    # Phase III lasts e^{−f₋}(1 − c r)/(w₋ κ₂² s² α₊ (c − α)), f₋ and r those at T_II
    below = f_minus_negative - alpha * w / bend * root_two
    gap, closing = (w * (1.0 + alpha) + c * z0 * exp(-root_two)) / bend, c - alpha
    log_three = log_scale - log(s2) - log(alpha_plus) - log(closing) - below + safe_log(gap)
    three = power_of_e(log_three)
    unit = scale / s2 / alpha_plus / closing * power_of_e(-below)
    if is_ordinary(unit):
        three = unit * gap
    low, high = min(log_two, log_three), max(log_two, log_three)
    log_end = high + log1p(exp(low - high)) if low > -inf else high
    return code, T_plat, T_two, T_two + three, log_plat, log_two, log_end


def fault(
    p: float,
    delta: float,
    plus: float,
    minus: float,
    kappa2: float,
    f_plus: float,
    f_minus: float,
    negative: float,
) -> float:
    """Return 0, or −n where the n-th condition is the first that does not hold (NaN meets none of them)."""
    if not 0.0 < p <= LARGEST_RATIO:
        return -1.0
    if not SMALLEST_ANGLE <= delta <= 0.5 * pi:
        return -2.0
    w = 2.0 * sin(0.5 * delta) ** 2
    c = cos(delta)
    if not (p - 1.0 > p * w if w < 0.5 else p * c > 1.0):
        return -3.0
    if not 0.0 <= plus <= 1.0:
        return -4.0
    if not 0.0 <= minus <= 1.0:
        return -5.0
    if not plus + minus <= 1.0:
        return -6.0
    if not 0.0 < kappa2 < inf:
        return -7.0
    if not -LARGEST_PREDICTION <= f_plus <= LARGEST_PREDICTION:
        return -8.0
    if not -LARGEST_PREDICTION <= negative <= 0.0:
        return -9.0
    if not negative <= f_minus <= LARGEST_PREDICTION:
        return -10.0
    if minus == 0.0 and negative != 0.0:
        return -11.0
    if plus == 0.0:
        return -12.0 if f_plus != 0.0 or f_minus != negative else 0.0
    log_ratio = f_plus + f_minus - log(p)
    if log_ratio + log(c) > 0.0 or (f_minus == negative and log_ratio >= log(c)):
        return -13.0
    # y₀ ≥ r₀
    most = log(LARGEST_RATIO)
    if not (-most < log_ratio and log_ratio + log1p(minus / plus * w) < most):
        return -14.0
    return 0.0


def span(unit: float, log_unit: float, value: tuple[float, float]) -> tuple[float, float]:
    """Return unit · value and its logarithm, value being (factor, exponent)."""
    log_time = log_unit + safe_log(value[0]) + value[1]
    if value[1] == 0.0 and is_ordinary(unit):
        return unit * value[0], log_time
    return power_of_e(log_time), log_time


def is_ordinary(x: float) -> bool:
    """Tell whether a positive number is far from both ends of the range of doubles."""
    return 1e-300 < x < 1e300


def power_of_e(x: float) -> float:
    """Return e^x, inf past the range of doubles."""
    return exp(x) if x < _LARGEST_LOG else inf


def safe_log(x: float) -> float:
    """Return ln x, −inf where rounding leaves nothing."""
    return log(x) if x > 0.0 else -inf


def is_long(q: float, y0: float) -> bool:
    """Tell whether a path is long: in q when r falls, else in g S, in which its start is smooth even at r = 0."""
    return q > _SHORT if y0 >= 1.0 else q > log1p(y0 * expm1(_SHORT))


def log_change(q: float, y0: float, z0: float) -> float:
    """Return L = ln(y/y₀) at q, exact for tiny q and for large y₀."""
    change = -z0 * expm1(-q) / y0
    if change > -0.5:
        return log1p(change)
    return log((y0 * exp(-q) - expm1(-q)) / y0)


def last_fall(start: float, lean: float, drift: float, y0: float, z0: float) -> float:
    """Return the q > 0 from which start + lean·L − drift·q stays below 0, or 0.

    lean > 0, drift > 0. The form is concave (z₀ > 0) or convex and falling (z₀ < 0); its asymptote bounds the
    root on the side from which Newton's method converges monotonically, so a step back is rounding.
    """
    slope = lean * z0 / y0 - drift
    if start <= 0.0 and slope <= 0.0:
        return 0.0
    if start < 0.0:
        # below zero at the start: is the top above it?
        top = log(z0 * (1.0 + lean / drift))
        if start + lean * log_change(top, y0, z0) - drift * top <= 0.0:
            return 0.0
    q = max((start - lean * log(y0)) / drift, 0.0)
    if z0 > 0.0 and start >= 0.0 and slope < drift:
        q = min(q, near_fall(start, lean, drift, y0, z0))
    last = inf
    for _ in range(_MOST_STEPS):
        decay = exp(-q)
        y = y0 * decay - expm1(-q)
        fall = drift - lean * z0 * decay / y
        if fall <= 0.0:
            # on the top, to rounding
            break
        step = (start + lean * log_change(q, y0, z0) - drift * q) / fall
        if q + step <= 0.0:
            break
        q += step
        size = abs(step)
        if size <= 4.0 * _EPS * q or step * z0 > 0.0 or (size >= last and size <= 1e-8 * q):
            break
        last = size
    return q


def near_fall(start: float, lean: float, drift: float, y0: float, z0: float) -> float:
    """Return an upper bound of the root of a concave form, close when that is near, else infinity.

    The parabola that touches the form at 0 lies below it; one Newton step from its root leads past the form's.
    """
    slope, bend = lean * z0 / y0 - drift, lean * z0 / (y0 * y0)
    turn = sqrt(slope * slope + 2.0 * bend * start)
    q = (slope + turn) / bend if slope > 0.0 else 2.0 * start / (turn - slope)
    if not 0.0 < q < 1.0:
        return inf
    fall = drift - lean * z0 * exp(-q) / (y0 * exp(-q) - expm1(-q))
    return q + (start + lean * log_change(q, y0, z0) - drift * q) / fall if fall > 0.0 else inf


def integral(q: float, path: Path, entry: tuple[float, float, float]) -> tuple[float, float]:
    """Return ∫₀^q (y/y₀)^{a−1} e^{βτ} dτ as (factor, exponent), the exponent 0 unless it is huge.

    entry is that of :func:`entry_to_middle`, of which short paths make no use.
    """
    lean, beta, _, y0, z0 = path
    if not is_long(q, y0):
        return short_integral(q, lean, beta, y0, z0), 0.0
    q_middle, scale, constant = entry
    length = q - q_middle
    if length < 0.0:
        return outer_integral(y0 * exp(-q) - expm1(-q), path), 0.0
    K = middle_sum(path, z0 * exp(-q))
    if beta * length < _LONG:
        return scale * (expm1(beta * length) / beta * (1.0 - beta * K) + (constant - K)), 0.0
    return scale * (1.0 - beta * K) / beta, beta * length


def entry_to_middle(path: Path) -> tuple[float, float, float]:
    """Return the q from which |z| ≤ 3/4, the integrand there, and K plus the integral so far in its unit."""
    lean, beta, _, y0, z0 = path
    if _LOW <= y0 <= _HIGH:
        return 0.0, y0**lean, middle_sum(path, z0)
    edge = _LOW if y0 < _LOW else _HIGH
    q = log(z0 / (1.0 - edge))
    scale = y0**lean * exp(beta * q)
    return q, scale, outer_integral(edge, path) / scale + middle_sum(path, 1.0 - edge)


def middle_sum(path: Path, z: float) -> float:
    """Return K(z) = Σ_{n≥1} (1−a)_n/n! · zⁿ/(n − β), for |z| ≤ 3/4."""
    lean, beta, rest, _, _ = path
    # at n = 1 the divisor may be tiny
    term = lean * z
    total, n = term / rest, 1.0
    for _ in range(_MOST_TERMS):
        term *= (lean + n) / (n + 1.0) * z
        n += 1.0
        add = term / (n - beta)
        total += add
        if abs(add) <= _EPS * abs(total):
            break
    return total


def outer_integral(y: float, path: Path) -> float:
    """Return the integral from y₀ to y where both are below 1/4 (powers of y) or above 7/4 (powers of 1/y)."""
    lean, beta, _, y0, z0 = path
    if y0 < 1.0:
        power, first, last = 1.0 - lean, y0, y
    else:
        power, first, last = lean + beta, 1.0 / y0, 1.0 / y
    # y₀^{1−a}|z₀|^β [last^power G(last) − first^power G(first)]
    scale: float = y0**lean * abs(z0) ** beta
    value: float = last**power * outer_sum(power, beta, last) - first**power * outer_sum(power, beta, first)
    return scale * value


def outer_sum(power: float, beta: float, y: float) -> float:
    """Return G(y) = Σ_{n≥0} (1+β)_n/n! · yⁿ/(power + n), for 0 ≤ y ≤ 4/7."""
    term, total, n = 1.0, 1.0 / power, 0.0
    for _ in range(_MOST_TERMS):
        term *= (1.0 + beta + n) / (n + 1.0) * y
        n += 1.0
        add = term / (power + n)
        total += add
        if add <= _EPS * total:
            break
    return total
