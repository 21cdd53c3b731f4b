"""The options that keep long work in files, and what people are told of the files written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from reduced.cli.render import note
from reduced.errors import InputError

if TYPE_CHECKING:
    import fullnet


@dataclass(frozen=True)
class Keeping:
    """The file where long work is kept."""

    out: Annotated[
        str | None,
        Option(
            "--out",
            metavar="FILE.npz",
            rich_help_panel="Run",
            help="Save what is done there, every few seconds and at the end.",
        ),
    ] = None
    resume: Annotated[
        bool,
        Option(
            "--resume",
            rich_help_panel="Run",
            help="Go on with what is saved at --out, bit for bit; alone, with its network, data and loss.",
        ),
    ] = False

    def saved(self) -> str | None:
        """Return the file to go on with, None without --resume."""
        if self.resume and self.out is None:
            raise InputError("resume", "no file", "--out FILE, what to go on with")
        return self.out if self.resume else None

    @property
    def files(self) -> tuple[str, ...]:
        """The files to be written."""
        return () if self.out is None else (self.out,)

    def in_the_way(self) -> frozenset[str]:
        """Return the files that writing will replace, one gone on with aside."""
        return frozenset(path for path in self.files if path != self.saved() and Path(path).exists())

    def tell(self, replaced: frozenset[str]) -> None:
        """Say on stderr which files were written, and which of them were there before."""
        for path in self.files:
            note(f"{'replaced' if path in replaced else 'wrote'} {path}")


@dataclass(frozen=True)
class Saving(Keeping):
    """Where a flow is kept."""

    csv: Annotated[
        str | None,
        Option(
            "--csv",
            metavar="FILE.csv",
            rich_help_panel="Run",
            help="Write the flow as a table, a row per log-spaced time (numerical flow only).",
        ),
    ] = None

    @property
    def asked(self) -> bool:
        """Whether anything is to be kept or gone on with."""
        return self.out is not None or self.csv is not None or self.resume

    @property
    def files(self) -> tuple[str, ...]:
        """The files to be written."""
        return (*super().files, *(() if self.csv is None else (self.csv,)))

    def earlier(self) -> fullnet.Trajectory | None:
        """Load the flow to go on with, None without --resume."""
        import fullnet

        saved = self.saved()
        return None if saved is None else fullnet.load_trajectory(saved, "out")

    def checkpoint(self) -> fullnet.Checkpoint | None:
        """Return where and how often to save, None without --out."""
        import fullnet

        if self.csv is not None:
            fullnet.require_writable(self.csv, "csv")
        if self.out is None:
            return None
        fullnet.require_writable(self.out)
        return fullnet.Checkpoint(self.out)

    def write_table(self, path: fullnet.Trajectory) -> None:
        """Write the table that --csv asks for."""
        import fullnet

        if self.csv is not None:
            fullnet.save_csv(path, self.csv, argument="csv")
