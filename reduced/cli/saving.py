"""The options that keep a flow in files, and what people are told of the files written."""

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
class Saving:
    """Where a flow is kept."""

    out: Annotated[
        str | None,
        Option(
            "--out",
            metavar="FILE.npz",
            rich_help_panel="Run",
            help="Save the flow there, every few seconds and at its end (numerical flow only).",
        ),
    ] = None
    csv: Annotated[
        str | None,
        Option(
            "--csv",
            metavar="FILE.csv",
            rich_help_panel="Run",
            help="Write the flow as a table, a row per log-spaced time (numerical flow only).",
        ),
    ] = None
    resume: Annotated[
        bool,
        Option(
            "--resume",
            rich_help_panel="Run",
            help="Go on with the flow saved at --out, bit for bit; alone, with its network, data and loss.",
        ),
    ] = False

    @property
    def asked(self) -> bool:
        """Whether anything is to be kept or gone on with."""
        return self.out is not None or self.csv is not None or self.resume

    def earlier(self) -> fullnet.Trajectory | None:
        """Load the flow to go on with, None without --resume."""
        import fullnet

        if not self.resume:
            return None
        if self.out is None:
            raise InputError("resume", "no file", "--out FILE, the flow to go on with")
        return fullnet.load_trajectory(self.out, "out")

    def checkpoint(self) -> fullnet.Checkpoint | None:
        """Return where and how often to save, None without --out."""
        import fullnet

        if self.csv is not None:
            fullnet.require_writable(self.csv, "csv")
        if self.out is None:
            return None
        fullnet.require_writable(self.out)
        return fullnet.Checkpoint(self.out)

    def in_the_way(self) -> frozenset[str]:
        """Return the files that writing will replace, a flow gone on with aside."""
        new = (None if self.resume else self.out, self.csv)
        return frozenset(path for path in new if path is not None and Path(path).exists())

    def write_table(self, path: fullnet.Trajectory) -> None:
        """Write the table that --csv asks for."""
        import fullnet

        if self.csv is not None:
            fullnet.save_csv(path, self.csv, argument="csv")

    def tell(self, replaced: frozenset[str]) -> None:
        """Say on stderr which files were written, and which of them were there before."""
        for path in (self.out, self.csv):
            if path is not None:
                note(f"{'replaced' if path in replaced else 'wrote'} {path}")
