"""Phase III: decoupled predictions, simultaneous reactivation, and its length (Theorems 4.7–4.8)."""

import sympy as sp

from reduced import derive
from reduced.derive import MINUS, PLUS, inline
from reduced.derive.plateau import f_minus_0, f_plus_0
from reduced.derive.symbols import Delta, alpha_minus, alpha_plus, c, kappa2, p, tidy

ode = derive.phase("III")
P, Q = ode.model.data.forces
f_plus, f_minus = ode.model.data.predictions
tau = sp.Symbol("tau", positive=True)
r = sp.Symbol("r", positive=True)
page = derive.Page("Phase III")

page.section("1. What changed")
page.text(r"""
    At $T_{\mathrm{II}}$ the positive neurons have come down to the kink of $x_-$ (Table 1: on $x_-$ they go
    from active to inactive) and slide there; the negative ones go on sliding on the kink of $x_+$. The two
    declared groups are
""")
rows = [
    [
        {1: "$K_+$", -1: "$K_-$"}[group.sign],
        f"`{group.pattern(2)}`",
        inline(next(x for x in moving.multipliers if x is not None)),
    ]
    for group, moving in zip(ode.groups, ode.motions, strict=True)
]
page.table(["group", "pattern", "multiplier"], rows)

page.section("2. The predictions decouple")
for i, name in ((PLUS, "+"), (MINUS, "-")):
    page.formula(rf"\dot f_{name}", ode.rates[i])
page.check("B=0", ode.B)
page.check("C=0", ode.C)
for letter in "AD":
    page.formula(letter, getattr(ode, letter))
page.text(
    r"Since $P\propto e^{-f_+}$ and $Q\propto e^{f_-}$, both $e^{f_+}$ and $e^{-f_-}$ grow at constant rates:"
)
growth_plus = sp.exp(f_plus) * ode.rates[PLUS].subs(ode.model.forces)
growth_minus = -sp.exp(-f_minus) * ode.rates[MINUS].subs(ode.model.forces)
page.formula(r"\frac{d}{dt}e^{f_+}", sp.simplify(growth_plus))
page.formula(r"\frac{d}{dt}e^{-f_-}", sp.simplify(growth_minus))
page.check(r"\frac{d}{dt}e^{f_+}=\frac{p}{1+p}A", growth_plus - ode.A * p / (1 + p))
page.check(r"\frac{d}{dt}e^{-f_-}=\frac{1}{1+p}D", growth_minus - ode.D / (1 + p))

page.section("3. The end: all negative neurons at once (Lemma E.7)")
page.text(r"The conditions for both groups to slide, with $Q=rP$:")
rows = [[x.reason, inline(sp.simplify(x.relation.subs(Q, r * P)))] for x in ode.conditions]
page.table(["condition", "inequality"], rows)
page.text(r"""
    None of them contains a neuron's own weights: they hold for all neurons of a group or for none. The phase
    needs $\cos\Delta\le r\le1/\cos\Delta$. Its ratio tends to
""")
fixed = derive.fixed_ratio(ode)
page.formula(r"r_\infty=\frac AD", fixed)
page.check(r"A-D\,r_\infty=0", ode.A - ode.D * fixed)
page.text(r"""
    so with $\alpha=\alpha_-/\alpha_+<\cos\Delta$ the ratio $r$ rises through $1/\cos\Delta$, where every
    negative neuron leaves the kink of $x_+$ together. With $\alpha\ge\cos\Delta$ this never happens: Phase
    III lasts for ever.
""")
page.check(
    r"r_\infty=1/\cos\Delta\ \text{at}\ \alpha=\cos\Delta", fixed.subs(alpha_minus, alpha_plus * c) - 1 / c
)

page.section("4. Its length")
page.text(r"""
    Let $r_0$ and $E=e^{-f_-}$ belong to $T_{\mathrm{II}}$ and $\tau=t-T_{\mathrm{II}}$. As $r=e^{f_++f_-}/p$,
    the event $r=1/\cos\Delta$ is linear in $\tau$:
""")
start, E = sp.symbols("r_0 E", positive=True)
upper = p * start * E + ode.A * p / (1 + p) * tau
lower = E + ode.D / (1 + p) * tau
ratio_now = upper / (p * lower)
page.check(
    r"\frac{dr}{d\tau}=r\,(AP-DQ)\ \text{with}\ P=\tfrac{p}{1+p}e^{-f_+},\ Q=\tfrac{1}{1+p}e^{f_-}",
    sp.diff(ratio_now, tau) - ratio_now * (ode.A * p / (1 + p) / upper - ode.D / (1 + p) / lower),
)
length = tidy(sp.solve(c * upper - p * lower, tau)[0])
page.formula(r"T_{\mathrm{III}}-T_{\mathrm{II}}", length)
page.check(r"r(\tau)=1/\cos\Delta", ratio_now.subs(tau, length) - 1 / c)

page.section("5. Small angles")
page.text(r"""
    Phase II ends close to its own fixed ratio, and $f_-$ at its end follows from the expansion of derivation
    03, from $f=0$, at the $\xi$ where the share of $K_+$ in $f_-$ vanishes:
""")
second = derive.phase("II")
solution = derive.closed_form(second)
_, *share = derive.plateau_end("T_II")
constant, slope = derive.far_expansion(solution, *share)
f_constant, f_slope = derive.far_expansion(solution, second.C, -second.D)
at_end = sp.simplify((f_constant - f_slope * constant / slope).subs({f_plus_0: 0, f_minus_0: 0}))
page.formula(r"f_-(T_{\mathrm{II}})", at_end)
page.check(
    r"f_-(T_{\mathrm{II}})=-\frac{\alpha_-}{\alpha_+-\alpha_-}\ln p",
    at_end + alpha_minus / (alpha_plus - alpha_minus) * sp.log(p),
)
limit = sp.limit(length.subs(start, solution.fixed_ratio), Delta, 0)
page.formula(r"\lim_{\Delta\to0}(T_{\mathrm{III}}-T_{\mathrm{II}})", sp.factor(limit))
page.text(r"with $E=e^{-f_-(T_{\mathrm{II}})}$. No power of $\Delta$ is left: Phase III is short.")
page.check(
    r"T_{\mathrm{III}}-T_{\mathrm{II}}\to\frac{(1+p)(1+\alpha)}{2\kappa_2^2(\alpha_+-\alpha_-)}E",
    limit - E * (1 + p) * (1 + alpha_minus / alpha_plus) / (2 * kappa2**2 * (alpha_plus - alpha_minus)),
)

if __name__ == "__main__":
    print(page.write(__file__))
