"""Pieces of HTML, well-formed as XML too: tables that scroll in their own box, sections, figures, texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


class Markup(str):
    """Text that is HTML already and is put in as it is."""

    __slots__ = ()


Cell = str | int | None


def html_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Return a table in a box of its own that scrolls sideways when it is too wide.

    Arguments: title, its caption; columns, the heads; rows of texts or :class:`Markup` (None shows as –), whose
    first cell names the row.
    """
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "\n".join(_row(row, columns) for row in rows)
    return (
        f'<div class="scroll" style="overflow-x: auto" tabindex="0" role="region" aria-label="{escape(title)}">\n'
        f"<table>\n<caption>{escape(title)}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody>\n</table>\n</div>"
    )


def values_table(title: str, rows: Iterable[tuple[str, Cell]]) -> str:
    """Return a table of quantities and their values."""
    return html_table(title, ("quantity", "value"), rows)


def section(anchor: str, title: str, *parts: str) -> str:
    """Return a section with its heading; the anchor is its id."""
    inside = "\n".join(parts)
    return (
        f'<section id="{anchor}" aria-labelledby="{anchor}-title">\n'
        f'<h2 id="{anchor}-title">{escape(title)}</h2>\n{inside}\n</section>'
    )


def heading(title: str) -> str:
    """Return a heading inside a section."""
    return f"<h3>{escape(title)}</h3>"


def text(words: str) -> str:
    """Return a paragraph of plain words."""
    return f"<p>{escape(words)}</p>"


def listed(items: Iterable[str]) -> str:
    """Return plain sentences as a list."""
    return "<ul>\n" + "\n".join(f"<li>{escape(item)}</li>" for item in items) + "\n</ul>"


def code(lines: Iterable[str]) -> str:
    """Return lines to be typed, in a box of their own that scrolls sideways."""
    inside = escape("\n".join(lines))
    return f'<pre tabindex="0"><code>{inside}</code></pre>'


def _row(row: Sequence[Cell], columns: Sequence[str]) -> str:
    """Return a row whose cells carry the heads of their columns, to be shown where cells stand in a stack."""
    first, *rest = map(_cell, row)
    heads = (escape(name) for name in columns[1:])
    cells = "".join(f'<td data-head="{head}">{cell}</td>' for head, cell in zip(heads, rest, strict=True))
    return f'<tr><th scope="row">{first}</th>{cells}</tr>'


def _cell(cell: Cell) -> str:
    if cell is None:
        return "–"
    return cell if isinstance(cell, Markup) else escape(str(cell))
