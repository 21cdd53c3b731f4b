"""Neuron velocity, sliding, and Phase I: the fate of every initial direction (Lemmas C.1–C.10)."""

import sympy as sp

from reduced import derive
from reduced.derive import MINUS, PLUS, inline
from reduced.derive.phase_one import radius, u, v
from reduced.derive.symbols import Delta, c, p, tidy

model = derive.NetworkModel()
P, Q = model.data.forces
scale = model.output_scale
page = derive.Page("Neuron velocity and Phase I")

page.text(r"""
    The network is $f(x)=\sum_k a_k\,\sigma(\langle b_k,x\rangle)$ with $a_k=\pm\kappa_2/\sqrt m$ fixed. The
    data are $x_+$ (label $+1$, weight $p/(1+p)$) and $x_-$ (label $-1$, weight $1/(1+p)$) at the angle
    $\Delta$ with $p\cos\Delta>1$; the loss is $L=\sum_i w_i\,e^{-y_i f(x_i)}$. This page is written by the
    script of the same name.
""")
page.formula("P", model.force(PLUS))
page.formula("Q", model.force(MINUS))

page.section("1. Velocity on a smooth piece")
page.text(r"""
    One neuron $b$ enters the loss only through $u=\langle b,x_+\rangle$ and $v=\langle b,x_-\rangle$. On each
    activation pattern $L$ is smooth, so $\dot b=-\nabla_b L=-\sum_i (\partial L/\partial u_i)\,x_i$.
""")


def loss_rate(sign, velocity, slopes):
    """Return dL/dt caused by one neuron: −Σ yᵢ Uᵢ ḟᵢ with ḟᵢ = a σ′(uᵢ) ⟨ḃ,xᵢ⟩."""
    return -sum(
        label * force * sign * scale * slope * velocity.along(i)
        for i, (label, force, slope) in enumerate(
            zip(model.data.labels, model.data.forces, slopes, strict=True)
        )
    )


PATTERNS = {"both": (PLUS, MINUS), "the first only": (PLUS,), "the second only": (MINUS,), "none": ()}
rows = []
for name, active in PATTERNS.items():
    per_weight = derive.smooth_velocity(model, 1, active).scaled(1 / scale)
    rows.append([name, inline(per_weight.along(PLUS)), inline(per_weight.along(MINUS))])
page.table(["active on", r"$\dot u/a$", r"$\dot v/a$"], rows)
for name, active in PATTERNS.items():
    for sign in (1, -1):
        velocity = derive.smooth_velocity(model, sign, active)
        slopes = [int(i in active) for i in (PLUS, MINUS)]
        claim = rf"\dot L=-\|\dot b\|^2\ \text{{(active on {name}, }}a{'>' if sign > 0 else '<'}0)"
        page.check(claim, loss_rate(sign, velocity, slopes) + velocity.dot(velocity))

page.section("2. Sliding on a kink (Definition H.1)")
page.text(r"""
    On $\langle b,x_j\rangle=0$ the derivative of the activation is an unknown $\lambda_j\in[0,1]$, fixed by
    $\langle\dot b,x_j\rangle=0$. The neuron slides only if both one-sided normal components point to the
    kink.
""")
SLIDING = {
    r"a<0\text{ on }u=0,\ v>0": (-1, (MINUS,), (PLUS,)),
    r"a>0\text{ on }v=0,\ u>0": (1, (PLUS,), (MINUS,)),
}
for name, (sign, active, sliding) in SLIDING.items():
    moving = derive.motion(model, sign, active, sliding)
    (kink,) = sliding
    page.text(f"${name}$:")
    page.formula(r"\lambda", moving.multipliers[kink])
    page.formula(r"(\dot u,\dot v)", sp.Tuple(*(tidy(moving.velocity.along(i)) for i in (PLUS, MINUS))))
    page.check(rf"\langle\dot b,x_j\rangle=0\ \text{{for }}{name}", moving.velocity.along(kink))
    slopes = [moving.multipliers[i] if i in sliding else int(i in active) for i in (PLUS, MINUS)]
    page.check(
        r"\dot L=-\|\dot b\|^2",
        loss_rate(sign, moving.velocity, slopes) + moving.velocity.dot(moving.velocity),
    )
    page.table(["condition", "inequality"], [[x.reason, inline(x.relation)] for x in moving.conditions])

page.section("3. Norm and direction (Lemma C.1)")
velocity = derive.smooth_velocity(model, 1, (PLUS, MINUS))
polar = derive.polar_motion(velocity)
page.text(r"""
    Write $b=r\omega$ with $\|\omega\|=1$ and $\omega_\pm=\langle\omega,x_\pm\rangle$. For a neuron active on
    both points with $a>0$:
""")
page.record(polar)
omega = dict(enumerate(polar.directions))
for i, name in ((PLUS, "+"), (MINUS, "-")):
    residual = polar.radial * omega[i] + radius * polar.tangential[i] - velocity.along(i)
    page.check(rf"\tfrac{{d}}{{dt}}(r\omega_{name})=\langle\dot b,x_{name}\rangle", residual)
page.text(r"""
    With the loss frozen, $\dot b$ is constant on a piece and the direction turns towards it: the component
    $\langle\omega,\dot b\rangle=\dot r$ grows until $\omega$ is parallel to $\dot b$.
""")
turning = sum(ci * rate for ci, rate in zip(velocity.coefficients, polar.tangential, strict=True))
page.check(
    r"\tfrac{d}{dt}\langle\omega,\dot b\rangle=\big(\|\dot b\|^2-\langle\omega,\dot b\rangle^2\big)/r\ge 0",
    turning - (velocity.dot(velocity) - polar.radial**2) / radius,
)

page.section(r"4. Where living neurons turn to")
frozen = model.forces_at_start
page.text(r"At $f=0$ the forces are")
page.formula("(P, Q)", sp.Tuple(frozen[P], frozen[Q]))
joint = velocity.at(frozen).coefficients
page.check(r"K_+:\ \dot b\parallel\mu=p\,x_+-x_-", joint[PLUS] * (-1) - joint[MINUS] * p)
slides = derive.motion(model, -1, (MINUS,), (PLUS,)).velocity.at(frozen).coefficients
page.check(r"K_-:\ \dot b\parallel x_--\cos\Delta\,x_+\perp x_+", slides[PLUS] + slides[MINUS] * c)

page.section("5. Fate of the eight classes (Lemmas C.3–C.10)")
page.text(r"""
    The initial direction has sizes $u=|\langle b,x_+\rangle|$, $v=|\langle b,x_-\rangle|$ and a sign pattern.
    Each piece is a straight line; the coordinate that reaches 0 first decides the next piece. All signs
    follow from $p\cos\Delta>1$ (substituting $\cos\Delta=1/(1+h)$, $p=(1+q)(1+h)$ with $h,q>0$).
""")
rows = []
for course in derive.all_courses():
    condition = "" if course.condition == sp.true else inline(course.condition)
    steps = ", ".join(f"{step.kind} to `{step.pattern}`" for step in course.steps) or "none"
    sign = "+" if course.sign > 0 else "−"
    rows.append([sign, f"`{course.pattern}`", condition, steps, course.fate.value, inline(course.exit_time)])
page.table(["sign of $a$", "pattern", "if", "switches", "fate", "exit time"], rows)
for course in derive.all_courses():
    place = [u if course.pattern[0] == "+" else -u, v if course.pattern[1] == "+" else -v]
    pattern, clock = course.pattern, sp.Integer(0)
    for step in course.steps:
        active = tuple(i for i in (PLUS, MINUS) if pattern[i] == "+")
        rates = derive.smooth_velocity(model, course.sign, active).at(frozen)
        place = [x + rates.along(i) * (step.time - clock) for i, x in enumerate(place)]
        page.check(
            rf"\langle b,x_{'+-'[step.point]}\rangle=0\ \text{{at the switch, class }}"
            rf"({'+' if course.sign > 0 else '-'},{course.pattern})",
            place[step.point],
        )
        pattern, clock = step.pattern, step.time

page.section(r"6. How many live as $\kappa_1\to0$")
plus, minus = derive.living_fractions(model)
page.text(r"""
    Signs are fair coins and directions uniform, so each course has the probability of its wedge in the plane
    of the data. Adding the wedges that join $K_+$ and $K_-$:
""")
page.formula(r"\mathbb{E}\,\alpha_+", plus)
page.formula(r"\mathbb{E}\,\alpha_-", minus)
q = sp.Symbol("q", positive=True)
first_order = [sp.simplify(sp.diff(minus, Delta, k).subs(Delta, 0).subs(p, 1 + q)) for k in (0, 1)]
page.check(
    r"\mathbb{E}\,\alpha_-=\tfrac18+\tfrac{p}{4\pi(p-1)}\Delta+O(\Delta^2)",
    first_order[0] - sp.Rational(1, 8) + first_order[1] - (1 + q) / (4 * sp.pi * q),
)

if __name__ == "__main__":
    print(page.write(__file__))
