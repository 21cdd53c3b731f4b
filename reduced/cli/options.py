"""Every option of the command line, declared once, as records that commands take whole."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from reduced.errors import InputError
from reduced.numbers import Exact, cos, exact, read_number, sign
from reduced.parameters import problem, require_positive, start
from reduced.records import Problem, Start

if TYPE_CHECKING:
    import fullnet

MAX_NEURONS = 10_000_000
MAX_WEIGHTS = 50_000_000
DOUBLE_DIGITS = 17
_SEPARATE = exact("2e-8")
_PLAIN = exact("1e300")  # later times are known by their logarithm

_MODEL, _START, _NETWORK, _RUN, _OUTPUT = "Model", "Start (t = 0)", "Network", "Run", "Output"


def _number(flag: str, panel: str, words: str) -> Any:
    return Option(flag, metavar="NUMBER", rich_help_panel=panel, help=words)


def _choice(flag: str, panel: str, metavar: str, words: str) -> Any:
    return Option(flag, metavar=metavar, rich_help_panel=panel, help=words)


@dataclass(frozen=True)
class Model:
    """The shared options: two data points, living fractions, scales and loss, as texts."""

    p: Annotated[str, _number("--p", _MODEL, "Weight ratio n₊/n₋ of the two points; p cos Δ > 1.")] = "4"
    delta: Annotated[str, _number("--delta", _MODEL, "Angle Δ between the points, radians, in (0, π/2).")] = (
        "pi/15"
    )
    kappa1: Annotated[
        str | None, _number("--kappa1", _MODEL, "Size κ₁ of the initial weights of a network. Default: 1/10.")
    ] = None
    kappa2: Annotated[str, _number("--kappa2", _MODEL, "Size κ₂ of the output weights.")] = "1"
    alpha_plus: Annotated[
        str | None,
        _number("--alpha-plus", _MODEL, "Living positive fraction α₊. Default: the κ₁ → 0 law."),
    ] = None
    alpha_minus: Annotated[
        str | None,
        _number("--alpha-minus", _MODEL, "Living negative fraction α₋. Default: the κ₁ → 0 law."),
    ] = None
    loss: Annotated[
        str, _choice("--loss", _MODEL, "exp|logistic", "Loss of the margin; cross-entropy is logistic.")
    ] = "exp"

    def problem(self, *, assumption: bool = True) -> Problem:
        """Read the texts into a checked Problem; assumption=False allows p cos Δ ≤ 1."""
        self.read_kappa1()
        alphas = (self.alpha_plus, self.alpha_minus)
        if not assumption:
            # the κ₁ → 0 law holds inside Assumption 3.1 only, and a network has its own fractions
            alphas = (_or(self.alpha_plus, "0"), _or(self.alpha_minus, "0"))
        return problem(self.p, self.delta, *alphas, self.kappa2, self.loss, assumption=assumption)

    def read_kappa1(self) -> Exact:
        """Read κ₁ > 0."""
        value = read_number("1/10" if self.kappa1 is None else self.kappa1, "kappa1")
        require_positive(value, "kappa1")
        return value


def outside_assumption(found: Problem) -> list[str]:
    """Return a note when p cos Δ ≤ 1, else nothing."""
    if sign(found.p * cos(found.delta) - 1) > 0:
        return []
    return ["outside Assumption 3.1: p cos(delta) <= 1, so the paper's phases need not appear"]


def require_separate(found: Problem) -> None:
    """Raise InputError where doubles, in which the numerical side computes, take the two points for one."""
    if sign(found.delta - _SEPARATE) < 0:
        raise InputError(
            "delta", found.delta, "an angle of at least 2e-8, at which doubles tell the points apart"
        )


@dataclass(frozen=True)
class State:
    """The state at t = 0 of the collapsed model, as texts."""

    f_plus: Annotated[str, _number("--f-plus", _START, "Prediction f₊ = f(x₊).")] = "0"
    f_minus: Annotated[str, _number("--f-minus", _START, "Prediction f₋ = f(x₋), the whole.")] = "0"
    f_minus_negative: Annotated[
        str, _number("--f-minus-negative", _START, "Share of K₋ in f₋, at most 0.")
    ] = "0"

    def start(self) -> Start:
        """Read the texts into a checked Start."""
        return start(self.f_plus, self.f_minus, self.f_minus_negative)


@dataclass(frozen=True)
class Digits:
    """How many digits, in which form."""

    digits: Annotated[
        int | None,
        Option(
            "--digits",
            rich_help_panel=_OUTPUT,
            help="Significant digits, 1 to 10000, all right. Default: 30.",
        ),
    ] = None
    json: Annotated[
        bool, Option("--json", rich_help_panel=_OUTPUT, help="Print one JSON object and nothing else.")
    ] = False

    def checked(self) -> int:
        """Return the digits after checking their range."""
        from reduced.solve.promise import check_digits

        return check_digits(_or(self.digits, 30))

    def shown(self, few: int) -> int:
        """Return the digits of a table for people: those asked for, else a few."""
        return few if self.digits is None else self.digits


@dataclass(frozen=True)
class Weights:
    """Where the initial weights come from: a draw, or a file."""

    m: Annotated[
        int | None, Option("--m", rich_help_panel=_NETWORK, help="Number of neurons. Default: 100.")
    ] = None
    dim: Annotated[
        int | None,
        Option("--dim", rich_help_panel=_NETWORK, help="Dimension d, ≥ 2. Default: that of --data, else 20."),
    ] = None
    seed: Annotated[
        int | None, Option("--seed", rich_help_panel=_NETWORK, help="Seed of the draw. Default: 0.")
    ] = None
    init_law: Annotated[
        str | None,
        _choice(
            "--init-law",
            _NETWORK,
            "sphere|gaussian",
            "Law of the draw: radius κ₁/√m, or N(0, κ₁²/(md)). Default: sphere.",
        ),
    ] = None
    init: Annotated[
        str | None,
        _choice("--init", _NETWORK, "FILE.npz", "Take W (m, d) and sign (m,) of ±1 from a file instead."),
    ] = None

    def network(self, model: Model, dimension: int | None = None) -> fullnet.Network:
        """Draw or load the initial network; without --dim a draw has the dimension given here, or 20."""
        import fullnet
        from reduced.maxmargin.network import as_float

        kappa1, kappa2 = model.read_kappa1(), as_float(model.kappa2, "kappa2")
        m, dim = _or(self.m, 100), _or(self.dim, _or(dimension, 20))
        if not 1 <= m <= MAX_NEURONS:
            raise InputError("m", m, f"an integer from 1 to {MAX_NEURONS}")
        if not 2 <= dim <= MAX_WEIGHTS or m * dim > MAX_WEIGHTS:
            raise InputError("dim", dim, f"an integer of at least 2 with m × dim at most {MAX_WEIGHTS}")
        if self.init is not None:
            return fullnet.load_network(self.init, kappa2, "init")
        law = choose(_or(self.init_law, "sphere"), "init_law", ("sphere", "gaussian"))
        return fullnet.initial_network(m, dim, as_float(kappa1, "kappa1"), kappa2, _or(self.seed, 0), law)

    def unused(self, model: Model) -> list[str]:
        """Return notes on options that do not count."""
        drawn = {"--m": self.m, "--dim": self.dim, "--seed": self.seed, "--init-law": self.init_law}
        given = [flag for flag, value in (*drawn.items(), ("--kappa1", model.kappa1)) if value is not None]
        notes = []
        if self.init is not None and given:
            notes.append(f"{', '.join(given)}: not used, the weights come from --init")
        if model.alpha_plus is not None or model.alpha_minus is not None:
            notes.append("--alpha-plus, --alpha-minus: not used, the network has its own living fractions")
        return notes + unread("--init", self.init, ("W", "sign"))


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def unread(flag: str, path: str | None, known: tuple[str, ...]) -> list[str]:
    """Return a note on the arrays in an option's file that are not read."""
    from fullnet.files import listed, unread_arrays

    names = [] if path is None else unread_arrays(path, known)
    return [f"{flag}: only {', '.join(known)} are read, not {listed(names)}"] if names else []


@dataclass(frozen=True)
class Budget:
    """How long a command may take."""

    budget: Annotated[
        float | None,
        Option("--budget", metavar="SECONDS", rich_help_panel=_RUN, help="Most wall time; then exit 3."),
    ] = None

    def seconds(self) -> float | None:
        """Return the most wall time, None for no bound."""
        return self.budget


@dataclass(frozen=True)
class Flow(Budget):
    """How a flow is run."""

    ridge: Annotated[
        str | None,
        _choice(
            "--ridge",
            _RUN,
            "active|inactive|slide",
            "The solution taken by a neuron that starts on a repelling kink.",
        ),
    ] = None
    until: Annotated[
        str | None,
        Option("--until", metavar="T", rich_help_panel=_RUN, help="Last flow time t = step × learning rate."),
    ] = None

    def checked_ridge(self) -> Any:
        """Return the ridge's choice after checking it."""
        if self.ridge is not None:
            choose(self.ridge, "ridge", ("active", "inactive", "slide"))
        return self.ridge

    def read_until(self) -> Exact | None:
        """Read the last flow time, None when it is not given."""
        if self.until is None:
            return None
        value = read_number(self.until, "until")
        require_positive(value, "until")
        return value

    def until_or(self, default: float) -> float:
        """Read the last flow time as a double."""
        from reduced.maxmargin.network import as_float

        value = self.read_until()
        if value is not None and sign(value - _PLAIN) > 0:
            raise InputError("until", self.until, "a flow time up to 1e300")
        return default if value is None else as_float(value, "until")

    def log_until(self) -> float | None:
        """Read the last flow time as ln t, None where doubles hold the time itself."""
        from reduced.solve.promise import private_context

        value = self.read_until()
        if value is None or sign(value - _PLAIN) <= 0:
            return None
        ctx = private_context(25)
        return float(ctx.log(value.evaluate(ctx)))


@dataclass(frozen=True)
class Data:
    """Other data than the two points."""

    data: Annotated[
        str | None,
        _choice(
            "--data",
            _NETWORK,
            "FILE",
            "Points instead of p and Δ: CSV, a line each: coordinates, label ±1 last; or .npz: X, y (weights).",
        ),
    ] = None
    preset: Annotated[
        str | None,
        _choice(
            "--preset",
            _NETWORK,
            "two-point|noisy|orthogonal",
            "Data by name: the two points; 3(p + 1) noisy ones; orthogonally separable ones, drawn by --seed.",
        ),
    ] = None

    @property
    def other(self) -> bool:
        """Whether the data are not the two points."""
        return self.data is not None or self.preset not in (None, "two-point")

    def unused(self) -> list[str]:
        """Return notes on what the file holds and nobody reads."""
        archive = self.data if self.data is not None and self.data.lower().endswith(".npz") else None
        return unread("--data", archive, ("X", "y", "weights"))

    @cached_property
    def own(self) -> fullnet.DataSet | None:
        """The file's data set, None without --data."""
        import fullnet

        if self.preset is not None:
            choose(self.preset, "preset", ("two-point", "noisy", "orthogonal"))
            if self.data is not None:
                raise InputError("preset", self.preset, "either --preset or --data, not both")
        return None if self.data is None else fullnet.load_data(self.data, "data")

    @property
    def dimension(self) -> int | None:
        """The dimension of the file's data set, None without --data."""
        return None if self.own is None else self.own.X.shape[1]

    def points(self, problem: Problem, dim: int, seed: int | None = None) -> fullnet.DataSet:
        """Build the two points or a preset in dimension dim, or take the file's."""
        import fullnet
        from reduced.maxmargin.network import as_float

        if self.own is not None:
            return self.own
        p = as_float(problem.p, "p")
        if self.preset == "noisy":
            return fullnet.noisy(p, dim, _or(seed, 0))
        if self.preset == "orthogonal":
            return fullnet.orthogonal(dim=dim, seed=_or(seed, 0))
        return fullnet.two_point(p, as_float(problem.delta, "delta"), dim)


def choose(value: str, name: str, allowed: tuple[str, ...]) -> str:
    """Return value if it is one of the allowed words, else raise InputError."""
    if value not in allowed:
        raise InputError(name, repr(value), "one of " + ", ".join(allowed))
    return value
