"""The length of the plateau: exact solution of Phase II, plateau equation, law for small angles."""

import sympy as sp

from reduced import derive
from reduced.derive import MINUS, PLUS
from reduced.derive.plateau import f_minus_0, f_plus_0, share_0, x, x_0
from reduced.derive.symbols import Delta, alpha_minus, alpha_plus, c, in_cosines, p

ode = derive.phase("II")
solution = derive.closed_form(ode)
P, Q = ode.model.data.forces
g, h = in_cosines(ode.A + ode.C), in_cosines(ode.B + ode.D)
page = derive.Page("The length of the plateau")

page.section("1. The right variable")
page.text(r"""
    In Phase II $\dot r=rP\,(g-hr)$ for $r=Q/P$ (derivation 02). Put $r=r_\infty(1-e^{-x})$, $r_\infty=g/h$.
    With $S=\int P\,dt$ and $R=\int Q\,dt$ the equation becomes $dS/dx=\frac{1}{r\,(g-hr)}\frac{dr}{dx}$:
""")
page.formula("g", g)
page.formula("h", h)
page.formula(r"r_\infty", solution.fixed_ratio)
s_rate = 1 / (g * (1 - sp.exp(-x)))
page.check(
    r"\frac{1}{r(g-hr)}\frac{dr}{dx}=\frac{1}{g(1-e^{-x})}",
    sp.diff(solution.ratio, x) - s_rate * solution.ratio * (g - h * solution.ratio),
)

page.section("2. Everything but the time is elementary in x")
page.text(
    r"Integrating $dS/dx$ and $dR/dx=r\,dS/dx=1/h$ from $x_0$, and $f_+=f_{+0}+AS-BR$, $f_-=f_{-0}+CS-DR$:"
)
page.record(solution)
page.check(r"dS/dx=1/(g(1-e^{-x}))", sp.diff(solution.S, x) - s_rate)
page.check(r"dR/dx=1/h", sp.diff(solution.R, x) - 1 / h)
for name, residual in derive.substitution_residuals(solution).items():
    words = {"the equation of f_plus": r"\dot f_+=AP-BQ", "the equation of f_minus": r"\dot f_-=CP-DQ"}
    page.check(words.get(name, name), residual)

page.section("3. The time is an incomplete beta function")
page.text(r"""
    With $y=r/r_\infty=1-e^{-x}$, $z=1-y=e^{-x}$, $a=A/g$ and $b=B/h-a$, the force falls as
    $P=P_0\,(y/y_0)^{-a}(z/z_0)^{-b}$, and $dy/dt=g\,P\,y\,z$. Hence
""")
y_now, y_then, z_then, power, other, speed_0, eta = sp.symbols("y y_0 z_0 a b P_0 eta", positive=True)
beta = sp.Integral(eta ** (power - 1) * (1 - eta) ** (other - 1), (eta, y_then, y_now))
page.formula("t", y_then**-power * z_then**-other * beta / (sp.Symbol("g") * speed_0))
a, b = in_cosines(ode.A / g), in_cosines(ode.B / h - ode.A / g)
page.formula("a", a)
page.formula("b", b)
log_force = -(solution.f_plus - f_plus_0)
y, y_0 = 1 - sp.exp(-x), 1 - sp.exp(-x_0)
page.check(
    r"\frac{d}{dx}\ln P=-a\frac{d}{dx}\ln y-b\frac{d}{dx}\ln z",
    sp.diff(log_force, x) + a * sp.diff(sp.log(y), x) - b,
)
page.check(r"\ln(P/P_0)=0\ \text{at}\ x=x_0", log_force.subs(x, x_0))
weight = ode.model.force(PLUS).subs(ode.model.data.predictions[PLUS], solution.f_plus)
page.check(r"dy/dt=g\,P\,y\,z", sp.diff(y, x) / solution.time_rate - g * weight * y * sp.exp(-x))
ratio = alpha_minus / alpha_plus
page.check(
    r"b=-\frac{(1-\cos\Delta)(1+\alpha)}{(1+\cos\Delta)(1+\alpha(1-\cos\Delta))}",
    b + (1 - c) * (1 + ratio) / ((1 + c) * (1 + ratio * (1 - c))),
)

page.section("4. The plateau equation")
page.text(r"""
    The plateau ends when $f_-$ falls through 0: an elementary equation for $x$, with no integration left.
    From $f=0$:
""")
from_zero = {f_plus_0: 0, f_minus_0: 0, share_0: 0}
_, rate_plus, rate_minus = derive.plateau_end("T_plat")
event = solution.displacement(rate_plus, rate_minus)
page.formula("0=CS-DR", event)
page.check(r"CS-DR=f_--f_{-0}", event - (solution.f_minus - f_minus_0))
page.text(r"and $x_0$ follows from $r_0=1/p$:")
page.formula("x_0", solution.initial_x().subs(from_zero))

page.section("5. Small angles")
page.text(r"""
    Put $\xi=\Delta^2x$. At the event $x\to\infty$ as $\Delta\to0$ at fixed $\xi$, so $e^{-x}$ drops out and
    the plateau equation becomes $\text{constant}+\text{slope}\cdot\xi=0$; $\ln P$ becomes linear in $\xi$ as
    well.
""")
xi = sp.Symbol("xi", positive=True)
constant, slope = derive.far_expansion(solution, rate_plus, rate_minus)
page.formula(r"f_-", f_minus_0 + constant + slope * xi)
fall_constant, fall_slope = derive.far_expansion(solution, ode.A, -ode.B)
page.formula(r"f_+", f_plus_0 + fall_constant + fall_slope * xi)
page.check(r"\text{slope of }f_+=\lim -b/\Delta^2", fall_slope - sp.limit(-b / Delta**2, Delta, 0))
xi_plateau = -(f_minus_0 + constant) / slope
page.formula(r"\xi_{\mathrm{plat}}", xi_plateau)
page.text(r"Integrating $dt=\frac{d\xi}{\Delta^2gP}$ from 0 to that value:")
law = derive.small_angle_law("T_plat")
page.formula(r"\lim_{\Delta\to0}\Delta^2T_{\mathrm{plat}}", law * Delta**2)
page.text(r"and from $f=0$")
page.formula(r"\lim_{\Delta\to0}\Delta^2T_{\mathrm{plat}}", law.subs(from_zero) * Delta**2)
growth = sp.limit(g, Delta, 0)
speed = sp.exp(f_plus_0 + fall_constant + fall_slope * xi) * (1 + p) / (growth * p)
antiderivative = sp.integrate(speed, xi)
by_integral = antiderivative.subs(xi, xi_plateau) - antiderivative.subs(xi, 0)
page.check(
    r"T_{\mathrm{plat}}\Delta^2=\int_0^{\xi_{\mathrm{plat}}}\frac{d\xi}{gP}", by_integral - law * Delta**2
)
page.text(r"The same expansion for the share of $K_+$ in $f_-$ gives the end of Phase II:")
second_law = derive.small_angle_law("T_II").subs(from_zero)
page.formula(r"\lim_{\Delta\to0}\Delta^2T_{\mathrm{II}}", second_law * Delta**2)
_, *share = derive.plateau_end("T_II")
page.check(
    r"\dot f_-^{(+)}=\kappa_2^2\alpha_+(P\cos\Delta-Q)", share[0] * P + share[1] * Q - ode.shares[0][MINUS]
)

if __name__ == "__main__":
    print(page.write(__file__))
