"""The end of training: limit directions, KKT conditions, margins, regimes (Theorems 4.10–4.11)."""

import sympy as sp

from reduced import derive
from reduced.derive import MINUS, PLUS, inline
from reduced.derive.symbols import alpha_minus, alpha_plus, in_cosines

page = derive.Page("Limit direction, KKT conditions and margins")
page.text(r"""
    If the flow stays in one phase for ever, $r=Q/P$ tends to that phase's fixed ratio $\rho$ and every living
    neuron moves along a fixed direction, so $b_k/\|\theta\|$ tends to it. Whether the phase can last is
    decided by its own conditions at $r=\rho$; this separates three regimes of $\alpha=\alpha_-/\alpha_+$.
""")

for regime, phase_name in derive.FINAL_PHASES.items():
    found = derive.limit(regime)
    ode = found.ode
    P, Q = ode.model.data.forces
    at_limit = {P: sp.Integer(1), Q: found.ratio}
    page.section(f"{regime.capitalize()}: Phase {phase_name} lasts")

    page.text(r"Fixed ratio, directions $v_\pm$ of $K_\pm$ on $x_+$ and $x_-$, margin and kink multipliers:")
    page.record(found)
    g, h = ode.A + ode.C, ode.B + ode.D
    page.check(r"\dot r=0\ \text{at}\ r=\rho", g - h * found.ratio)

    page.text("Patterns of the directions:")
    rows = []
    for group, direction in zip(ode.groups, found.directions, strict=True):
        name = {1: "v_+", -1: "v_-"}[group.sign]
        for i, point in ((PLUS, "x_+"), (MINUS, "x_-")):
            along = in_cosines(direction.along(i))
            rows.append([rf"$\langle {name},{point}\rangle$", inline(along), f"`{group.pattern(2)[i]}`"])
            if i in group.sliding:
                page.check(rf"\langle {name},{point}\rangle=0", along)
    page.table(["inner product", "value", "state"], rows)

    page.text(
        r"KKT conditions of $\min\frac12\|\theta\|^2$ subject to $y_if(x_i)\ge1$, multipliers $1:\rho$:"
    )
    margins = [
        label * rate.subs(at_limit) for label, rate in zip(ode.model.data.labels, ode.rates, strict=True)
    ]
    page.check(r"y_+f(x_+)=y_-f(x_-)", margins[0] - margins[1])
    for k, residual in enumerate(derive.stationarity_residual(found)):
        page.check(rf"\text{{stationarity of }}K_{'+-'[k // 2]}\text{{ on }}x_{'+-'[k % 2]}", residual)

    page.text(
        r"The margin from the loss: $tL\to(1+\rho)/\nu$ with $\nu=A-B\rho$, and $\gamma^2=\nu/(1+\rho)$:"
    )
    page.check(
        r"\gamma^2=\frac{A-B\rho}{1+\rho}",
        found.gamma_squared - (ode.A - ode.B * found.ratio) / (1 + found.ratio),
    )

    page.text("Training ends in this phase where")
    for bound in derive.regime_bounds(found):
        page.relation(bound)

page.section("The regimes meet without gap or overlap")
page.text(
    r"""On a border the conditions of both neighbours hold. There $r$ of the earlier phase only tends to the value
    at which the later one begins, so training ends in the earlier, and the later one's bound is strict."""
)
four, three, two = (set(derive.regime_bounds(derive.limit(name))) for name in derive.FINAL_PHASES)
(upper_four,), (lower_two,) = four, two
page.check_true(
    "the regime is three-phase where it is neither four-phase nor two-phase",
    three == {upper_four.negated, lower_two.negated},
)
page.text(r"At the borders the directions and margins of the two neighbours agree:")
for left, right, bound in (
    ("four-phase", "three-phase", upper_four),
    ("three-phase", "two-phase", lower_two),
):
    border = {alpha_minus: alpha_plus * bound.rhs}
    first, second = derive.limit(left), derive.limit(right)
    page.check(rf"\rho\ \text{{({left} = {right})}}", (first.ratio - second.ratio).subs(border))
    page.check(
        rf"\gamma^2\ \text{{({left} = {right})}}", (first.gamma_squared - second.gamma_squared).subs(border)
    )

if __name__ == "__main__":
    print(page.write(__file__))
