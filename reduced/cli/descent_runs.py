"""The descents the command gd is asked for, as far as they are, and the file that keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reduced.cli.render import progress
from reduced.numbers import Exact
from reduced.records import Problem

if TYPE_CHECKING:
    import fullnet


@dataclass(frozen=True)
class Beginning:
    """What descents start from: network, data, problem and subgradient, with notes on them."""

    network: fullnet.Network
    points: fullnet.DataSet
    problem: Problem
    subgradient: float
    notes: list[str]


@dataclass(frozen=True)
class Runs:
    """Descents by learning rate, as far as they are, and the file that keeps them."""

    by_rate: dict[float, fullnet.Descent]
    file: str | None

    @staticmethod
    def begun(
        beginning: Beginning,
        asked: Sequence[tuple[Exact, int]],
        earlier: dict[float, fullnet.Descent],
        file: str | None,
    ) -> Runs:
        """Return the runs before anything is done: those of an earlier file, and those asked for beside them.

        Arguments: beginning; asked, learning rates and the most steps of each; earlier, by learning rate; file.
        Raises InputError where an earlier run is of another problem or has made more steps.
        """
        import fullnet

        runs = dict(earlier)
        for rate, steps in asked:
            lr = as_double(rate)
            runs[lr] = fullnet.gradient_descent(
                beginning.network,
                beginning.points,
                lr,
                steps,
                beginning.problem.loss.value,
                beginning.subgradient,
                stop_early=False,
                seconds=0.0,
                resume=runs.get(lr),
            )
        return Runs(runs, file)

    def of(self, rate: Exact) -> fullnet.Descent:
        """Return the run of a learning rate."""
        return self.by_rate[as_double(rate)]

    def keep(self) -> None:
        """Save all runs, where there is a file."""
        import fullnet

        if self.file is not None:
            fullnet.save_descents(list(self.by_rate.values()), self.file)

    def go_on(self, rate: Exact, seconds: float | None) -> None:
        """Let a run go on to its last step, or until the time is up; save it now and then, and at the end."""
        import fullnet

        begun = self.of(rate)
        task = begun.task
        with progress(f"descending with lr = {rate}") as update:
            run = fullnet.gradient_descent(
                task.network,
                task.data,
                task.lr,
                begun.asked,
                task.loss.value,
                task.subgradient,
                task.stop_early,
                on_progress=lambda made: update(f"{made} steps"),
                seconds=seconds,
                on_checkpoint=None if self.file is None else self._replace,
                resume=begun,
            )
        self._replace(run)

    def _replace(self, run: fullnet.Descent) -> None:
        self.by_rate[run.lr] = run
        self.keep()


def as_double(rate: Exact) -> float:
    """Return the double nearest to a learning rate."""
    from reduced.maxmargin.network import as_float

    return as_float(rate, "lr")
