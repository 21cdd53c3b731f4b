"""Phase II: the prediction ODE, its Lotka–Volterra form and the ratio Q/P (Lemmas D.2–D.4)."""

import sympy as sp

from reduced import derive
from reduced.derive import MINUS, PLUS, inline
from reduced.derive.symbols import Delta, alpha_minus, alpha_plus, c, in_cosines, m, p, s

ode = derive.phase("II")
model = ode.model
P, Q = model.data.forces
r = sp.Symbol("r", positive=True)
page = derive.Page("Phase II: the prediction ODE")

page.section("1. Two groups")
page.text(r"""
    After Phase I the living neurons form two groups. $K_+$ (a fraction $\alpha_+$ of the $m$ neurons, $a>0$)
    is active on both points; $K_-$ (a fraction $\alpha_-$, $a<0$) is active on $x_-$ and slides on the kink
    of $x_+$. All neurons of a group share one velocity.
""")
rows = []
for group, moving in zip(ode.groups, ode.motions, strict=True):
    per_weight = moving.velocity.scaled(1 / (group.sign * model.output_scale))
    multiplier = ", ".join(inline(x) for x in moving.multipliers if x is not None) or "none"
    rows.append(
        [
            {1: "$K_+$", -1: "$K_-$"}[group.sign],
            inline(group.fraction),
            f"`{group.pattern(2)}`",
            multiplier,
            *(inline(per_weight.along(i)) for i in (PLUS, MINUS)),
        ]
    )
page.table(["group", "fraction", "pattern", r"multiplier", r"$\dot u/a$", r"$\dot v/a$"], rows)

page.section("2. Rates of the predictions")
page.text(r"""
    A neuron moves $f_i$ at $a\,\sigma'(u_i)\langle\dot b,x_i\rangle$, and nothing where it slides. Summed
    over the $\alpha m$ neurons of each group ($a^2m=\kappa_2^2$):
""")
for group, share in zip(ode.groups, ode.shares, strict=True):
    end = {1: "+", -1: "-"}[group.sign]
    for i, name in ((PLUS, "+"), (MINUS, "-")):
        page.formula(rf"\dot f_{name}^{{({end})}}", share[i])
page.text(r"No neuron's own weights are left, so the predictions obey an autonomous equation:")
for i, name in ((PLUS, "+"), (MINUS, "-")):
    page.formula(rf"\dot f_{name}", ode.rates[i])
page.check_true(
    "the rates contain P, Q and parameters only",
    set().union(*(rate.free_symbols for rate in ode.rates)).isdisjoint(model.data.coordinates),
)
for letter in "ABCD":
    page.formula(letter, getattr(ode, letter))
page.check(r"\dot f_+=AP-BQ", ode.rates[PLUS] - (ode.A * P - ode.B * Q))
page.check(r"\dot f_-=CP-DQ", ode.rates[MINUS] - (ode.C * P - ode.D * Q))
dissipation = sum(
    group.fraction * m * moving.velocity.dot(moving.velocity)
    for group, moving in zip(ode.groups, ode.motions, strict=True)
)
page.check(r"\dot L=-\|\dot\theta\|^2", -P * ode.rates[PLUS] + Q * ode.rates[MINUS] + dissipation)

page.section("3. Lotka–Volterra form")
page.text(r"""
    With exponential loss $\dot P=-P\dot f_+$ and $\dot Q=Q\dot f_-$, a generalised Lotka–Volterra system
    $\dot U_i=U_i\sum_j M_{ij}U_j$ for $U=(P,Q)$ with
""")
matrix = ode.lotka_volterra()
page.formula("M", matrix)
forces = sp.Matrix([P, Q])
for i, f in enumerate(model.data.predictions):
    along_flow = sp.diff(model.force(i), f) * ode.rates[i]
    residual = (along_flow - forces[i] * (matrix * forces)[i]).subs(model.forces)
    page.check(rf"\dot {'PQ'[i]}={'PQ'[i]}\,(MU)_{i + 1}", residual)

page.section("4. The ratio r = Q/P (Lemma D.4)")
page.text(r"""
    $\dot r/r=\dot f_++\dot f_-=(A+C)P-(B+D)Q=P\,(g-hr)$ with $g=A+C$ and $h=B+D$, so $r$ tends monotonically
    to
""")
fixed = derive.fixed_ratio(ode)
page.formula(r"r_\infty=\frac gh", fixed)
g, h = ode.A + ode.C, ode.B + ode.D
growth = (matrix * forces)[1] - (matrix * forces)[0]
page.check(r"\dot r/r=P\,(g-hr)", growth.subs(Q, r * P) - P * (g - h * r))
page.check(r"g-h\,r_\infty=0", g - h * fixed)

page.section("5. Validity")
page.text("Every sliding condition of this phase, and what it says about $r$:")
rows = [
    [x.reason, inline(x.relation), inline(sp.simplify(x.relation.subs(Q, r * P)))] for x in ode.conditions
]
page.table(["condition", "inequality", "with $Q=rP$"], rows)
page.text(r"""
    They hold while $r\le1/\cos\Delta$. The positive group is pushed away from the kink of $x_-$ while its
    $\dot v/a\ge0$:
""")
positive = ode.motions[0].velocity.scaled(1 / model.output_scale).along(MINUS)
page.formula(r"\dot v/a", positive)
page.check(r"\dot v/a=P\,(\cos\Delta-r)", positive.subs(Q, r * P) - P * (c - r))

page.section("6. When there is a plateau")
page.text(r"""
    $f_-$ rises at first, away from its label, when $CP>DQ$. From $f=0$ the ratio is $Q/P=1/p$, so there is a
    plateau exactly when $p$ exceeds
""")
at_start = model.forces_at_start
threshold = sp.solve((ode.C * P - ode.D * Q).subs(at_start), p)[0]
page.formula("p_0=D/C", sp.simplify(threshold))
page.check(r"p_0\cos\Delta=1+\alpha\sin^2\Delta", threshold * c - 1 - alpha_minus / alpha_plus * s**2)
page.check(r"g=\kappa_2^2\alpha_+(1+\cos\Delta)", in_cosines(g) - ode.A * (1 + c))
page.check(r"r_\infty=1\ \text{at}\ \Delta=0", fixed.subs(Delta, 0) - 1)

if __name__ == "__main__":
    print(page.write(__file__))
