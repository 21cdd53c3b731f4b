"""Tables for people: as wide as their cells, folded onto more lines a row where the terminal is narrower.

No cell is ever cut or wrapped. A table that is too wide first loses a space between columns, then the columns it
can spare, then gives way to a narrower one of fewer digits, if it has that; else each row takes as many lines as
it needs, with the heads folded alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from rich.console import RenderableType

_MISSING = "–"
_GAP, _NARROW_GAP = 3, 2
_MARGIN, _INDENT = 1, 3


@dataclass(frozen=True)
class Table:
    """A titled table of texts.

    ``spare`` names columns that are left out where there is no room for them; ``narrower`` is what is shown where
    that does not suffice.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    spare: frozenset[str] = frozenset()
    narrower: Table | None = None

    @classmethod
    def of(
        cls,
        title: str,
        columns: Sequence[str],
        rows: Iterable[Sequence[str | None]],
        spare: Iterable[str] = (),
    ) -> Table:
        """Build a table; None shows as –."""
        cells = tuple(tuple(_MISSING if cell is None else cell for cell in row) for row in rows)
        return cls(title, tuple(columns), cells, frozenset(spare))

    def within(self, width: int) -> RenderableType:
        """Lay the table out in so many columns of a terminal, more only where a single cell needs them."""
        from rich.console import Group
        from rich.text import Text

        fitting, lines, gap = self._layout(width)
        heads = fitting._row_lines(fitting.columns, lines, gap)
        body = [line for row in fitting.rows for line in fitting._row_lines(row, lines, gap)]
        rule = " " + "─" * (max(map(cell_len, (*heads, *body)), default=1) - 1)
        head = Text("\n".join(heads), style="bold")
        return Group(Text(self.title, style="bold"), Text(), head, Text("\n".join([rule, *body, ""])))

    def _layout(self, width: int) -> tuple[Table, list[range], int]:
        """Return the table without what it must spare, which columns share a line, and the gap between them."""
        small = self._without_spare()
        for table, gap in ((self, _GAP), (self, _NARROW_GAP), (small, _GAP), (small, _NARROW_GAP)):
            count = len(table.columns)
            if table._widest((0, count), gap) <= width:
                return table, [range(count)], gap
        if self.narrower is not None:
            return self.narrower._layout(width)
        return self, self._shared_lines(width), _GAP

    def _without_spare(self) -> Table:
        kept = [number for number, name in enumerate(self.columns) if name not in self.spare]
        rows = tuple(tuple(row[number] for number in kept) for row in self.rows)
        return Table(self.title, tuple(self.columns[number] for number in kept), rows)

    def _shared_lines(self, width: int) -> list[range]:
        """Return which columns share a line: on as few lines as fit, the widest of them as narrow as can be."""
        count = len(self.columns)
        needed = max(width, self._widest(tuple(range(count + 1)), _GAP))
        for lines in range(2, count + 1):
            choices = ((0, *cuts, count) for cuts in combinations(range(1, count), lines - 1))
            best = min(choices, key=lambda cuts: self._widest(cuts, _GAP))
            if self._widest(best, _GAP) <= needed:
                return [range(first, last) for first, last in pairwise(best)]
        return [range(count)]

    def _widest(self, cuts: Sequence[int], gap: int) -> int:
        """Return the width of the widest line when the columns are cut into lines there."""
        widths = self._widths()
        return max(
            (_INDENT if first else _MARGIN) + sum(widths[first:last]) + gap * (last - first - 1)
            for first, last in pairwise(cuts)
        )

    def _widths(self) -> list[int]:
        return [max(map(cell_len, column)) for column in zip(self.columns, *self.rows, strict=True)]

    def _row_lines(self, cells: Sequence[str], lines: Sequence[range], gap: int) -> list[str]:
        widths = self._widths()
        padded = [cell + " " * (size - cell_len(cell)) for cell, size in zip(cells, widths, strict=True)]
        return [
            " " * (_INDENT if line[0] else _MARGIN) + (" " * gap).join(padded[number] for number in line)
            for line in lines
        ]
