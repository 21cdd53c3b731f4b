"""Phase IV: the last phase, its fixed ratio and the decay of the loss like 1/t (Thm 4.9, Lemmas F.2–F.6)."""

import sympy as sp

from reduced import derive
from reduced.derive import MINUS, PLUS, inline
from reduced.derive.symbols import alpha_minus, alpha_plus, c, in_cosines, m

ode = derive.phase("IV")
P, Q = ode.model.data.forces
f_plus, f_minus = ode.model.data.predictions
r = sp.Symbol("r", positive=True)
ratio = alpha_minus / alpha_plus
page = derive.Page("Phase IV")

page.section("1. Groups and prediction ODE (Lemma F.2)")
page.text(r"""
    At $T_{\mathrm{III}}$ the negative neurons become active on $x_+$ as well; the positive ones keep sliding
    on the kink of $x_-$.
""")
for i, name in ((PLUS, "+"), (MINUS, "-")):
    page.formula(rf"\dot f_{name}", ode.rates[i])
for letter in "ABCD":
    page.formula(letter, getattr(ode, letter))
page.check(r"\dot f_+=AP-BQ", ode.rates[PLUS] - (ode.A * P - ode.B * Q))
page.check(r"\dot f_-=CP-DQ", ode.rates[MINUS] - (ode.C * P - ode.D * Q))
dissipation = sum(
    group.fraction * m * moving.velocity.dot(moving.velocity)
    for group, moving in zip(ode.groups, ode.motions, strict=True)
)
page.check(r"\dot L=-\|\dot\theta\|^2", -P * ode.rates[PLUS] + Q * ode.rates[MINUS] + dissipation)

page.section("2. The ratio rises to its limit (Lemma F.4)")
page.text(r"As in Phase II $\dot r/r=P\,(g-hr)$ with $g=A+C$, $h=B+D$, now with the fixed ratio")
fixed = derive.fixed_ratio(ode)
page.formula(r"\rho", fixed)
page.check(r"\rho=1+\frac{1-\cos\Delta}{\alpha}", fixed - 1 - (1 - c) / ratio)
above = in_cosines(fixed - 1 / c)
page.formula(r"\rho-\frac{1}{\cos\Delta}", above)
page.check(
    r"\rho-\frac1{\cos\Delta}=\frac{(1-\cos\Delta)(\cos\Delta-\alpha)}{\alpha\cos\Delta}",
    above - (1 - c) * (c - ratio) / (ratio * c),
)
page.text(
    r"It starts at $r=1/\cos\Delta$, below $\rho$ exactly when $\alpha<\cos\Delta$; then $r$ rises to $\rho$."
)

page.section("3. The phase never ends")
negative = ode.motions[1].velocity.scaled(1 / ode.model.output_scale)
leaving = negative.along(PLUS)
page.text(r"The negative neurons move away from the kink of $x_+$ at (per $|a|$)")
page.formula(r"\dot u/|a|", leaving)
page.check(r"\dot u/|a|=P\,(r\cos\Delta-1)", leaving.subs(Q, r * P) - P * (r * c - 1))
page.text(
    r"which is positive for $r>1/\cos\Delta$. The conditions for the positive ones to slide, with $Q=rP$:"
)
rows = [[x.reason, inline(sp.simplify(x.relation.subs(Q, r * P)))] for x in ode.conditions]
page.table(["condition", "inequality"], rows)

page.section("4. Exact solution")
solution = derive.closed_form(ode)
page.text(r"The closed form of derivation 03 holds with this phase's $A,B,C,D$ (again $x=-\ln(1-r/\rho)$):")
page.record(solution)
for name, residual in derive.substitution_residuals(solution).items():
    words = {"the equation of f_plus": r"\dot f_+=AP-BQ", "the equation of f_minus": r"\dot f_-=CP-DQ"}
    page.check(words.get(name, name), residual)

page.section("5. The loss decays like 1/t (Theorem 4.9)")
page.text(r"At $r=\rho$ both margins grow alike, $\dot f_+=-\dot f_-=\nu P$ with")
rate = in_cosines(ode.A - ode.B * fixed)
page.formula(r"\nu", rate)
page.check(r"A-B\rho=D\rho-C", rate - (ode.D * fixed - ode.C))
page.text(
    r"so $\frac{d}{dt}\frac1P=\nu$ and, as $L=P+Q=(1+\rho)P$, the product $tL$ tends to $(1+\rho)/\nu$:"
)
inverse_rate = sp.diff(1 / ode.model.force(PLUS), f_plus) * rate * ode.model.force(PLUS)
page.check(r"\frac{d}{dt}\frac1P=\nu", inverse_rate - rate)
page.formula(r"\lim_{t\to\infty}tL", in_cosines((1 + fixed) / rate))
page.check(r"\lim tL=1/\gamma^2", (1 + fixed) / rate - 1 / derive.limit("four-phase").gamma_squared)
page.text(r"with the normalised margin $\gamma$ of derivation 06.")

if __name__ == "__main__":
    print(page.write(__file__))
