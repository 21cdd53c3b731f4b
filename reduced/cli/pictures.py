"""The command figures: the paper's pictures and more, as files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from reduced.cli.budget import BudgetExceeded, time_limit
from reduced.cli.options import Flow, Model, Weights, choose
from reduced.cli.render import note, print_json, print_tables, print_text, progress, table
from reduced.errors import InputError
from reduced.records import Outcome

if TYPE_CHECKING:
    from reduced.figures import Entry, Setting

    # draws, and returns what then writes the file
    Job = Callable[[Setting], Callable[[], Path]]

DONE, BAD_INPUT, BUDGET = 0, 2, 3

_OUTPUT = "Output"


def figures(
    model: Model,
    weights: Weights,
    flow: Flow,
    names: Annotated[
        list[str] | None, Argument(metavar="[NAME]...", help="Figures to draw. Default: all; see --list.")
    ] = None,
    out: Annotated[
        str, Option("--out", "-o", metavar="DIR", rich_help_panel=_OUTPUT, help="Folder of the files.")
    ] = "figures",
    form: Annotated[
        str, Option("--format", metavar="png|svg|pdf", rich_help_panel=_OUTPUT, help="Form of the files.")
    ] = "png",
    listed: Annotated[
        bool, Option("--list", rich_help_panel=_OUTPUT, help="Say what figures there are and draw none.")
    ] = False,
    animation: Annotated[
        str | None,
        Option(
            "--animation",
            metavar="FILE",
            rich_help_panel=_OUTPUT,
            help="Write the film of condensation: .gif, or .mp4 where ffmpeg is. Without NAMEs, only that.",
        ),
    ] = None,
    json: Annotated[
        bool, Option("--json", rich_help_panel=_OUTPUT, help="Print one JSON object and nothing else.")
    ] = False,
) -> int:
    """The paper's pictures, and those it lacks, of one network and its reduced model.

    Each figure becomes a file as soon as it is drawn and stays when a later one fails. A figure that there
    cannot be for a setting is skipped with a note, unless it was asked for by name: then the exit code is 2.

    \b
    Examples
      reduced figures
      reduced figures --list
      reduced figures timeline overlay --seed 1 --format svg --out pictures
      reduced figures --delta pi/20 --p 6 orientations
      reduced figures --animation condensation.gif
    """
    from reduced.figures.catalogue import chosen
    from reduced.figures.files import FORMATS, require_folder

    choose(form, "format", FORMATS)
    wanted = chosen(names or ())
    if listed:
        _print_catalogue(wanted, json)
        return DONE
    if animation is not None and not names:
        wanted = ()
    jobs = _jobs(wanted, out, form, animation)
    setting = read_setting(model, weights, flow)
    for line in weights.unused(model):
        note(line)
    if wanted:
        require_folder(out, "out")
    return _draw(jobs, setting, flow.seconds(), as_json=json, asked=bool(names) or animation is not None)


def _jobs(wanted: Sequence[Entry], out: str, form: str, animation: str | None) -> dict[str, Job]:
    """Return what is to be drawn, by name. Raises InputError for files that cannot be written."""
    from reduced.figures.files import save_figure

    def job(entry: Entry) -> Job:
        target = Path(out) / f"{entry.name}.{form}"
        return lambda setting: partial(save_figure, entry.draw(setting), target)

    jobs = {entry.name: job(entry) for entry in wanted}
    if animation is not None:
        from reduced.figures.animation import film_writer, write_animation

        film_writer(Path(animation))
        jobs["animation"] = lambda setting: partial(write_animation, setting.path, animation)
    return jobs


@dataclass
class _Done:
    """What became of the figures: files written, why others failed, why there cannot be the rest."""

    files: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def draw(self, name: str, job: Job, setting: Setting, asked: bool) -> str | None:
        """Draw one thing and return its file; None, with a note, where that fails."""
        import fullnet

        reasons = self.failed if asked else self.skipped
        try:
            write = job(setting)
            reasons = self.failed
            self.files.append(str(write()))
        except (InputError, fullnet.InputError) as why:
            reasons[name] = str(why)
            note(f"{name} is {'skipped' if reasons is self.skipped else 'not drawn'}: {why}")
            return None
        return self.files[-1]


def _draw(
    jobs: dict[str, Job], setting: Setting, seconds: float | None, *, as_json: bool, asked: bool
) -> int:
    """Draw one thing after the other; what cannot be drawn is named and does not stop the rest."""
    done, outcome = _Done(), Outcome.FINISHED
    try:
        with progress("drawing") as update, time_limit(seconds):
            for name, job in jobs.items():
                update(name)
                path = done.draw(name, job, setting, asked)
                if path is not None and not as_json:
                    print_text(path)
    except BudgetExceeded:
        outcome = Outcome.BUDGET
        note(f"{outcome.message}; {len(done.files)} of {len(jobs)} files are written")
    if as_json:
        print_json({**asdict(done), "outcome": outcome.value})
    if outcome is Outcome.BUDGET:
        return BUDGET
    return BAD_INPUT if done.failed or not done.files else DONE


def _print_catalogue(entries: Sequence[Entry], as_json: bool) -> None:
    if as_json:
        rows = [{"name": e.name, "title": e.title, "caption": e.caption} for e in entries]
        print_json({"figures": rows})
        return
    print_tables(table("Figures", ("name", "shows"), [(e.name, e.title) for e in entries]))


def read_setting(model: Model, weights: Weights, flow: Flow) -> Setting:
    """Read from the options what the figures show. Raises InputError."""
    from reduced.figures import Setting
    from reduced.figures.setting import LAST_TIME
    from reduced.maxmargin.network import as_float

    problem, network = model.problem(), weights.network(model)
    kappa1 = as_float(model.read_kappa1(), "kappa1") if weights.init is None else network.kappa1
    return Setting(
        problem,
        network,
        kappa1,
        weights.init_law or "sphere",
        weights.seed or 0,
        flow.until_or(LAST_TIME),
        flow.checked_ridge(),
    )
