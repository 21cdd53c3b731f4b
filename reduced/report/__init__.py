"""The report: one self-contained page of HTML on one network, and the tables that notebooks show.

from reduced.figures import paper_setting

found = reduced.report.collect(paper_setting(seed=0), digits=30)
reduced.report.write_page(reduced.report.html_page(found), "report.html")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reduced.report.findings import Drawing, Findings, collect
    from reduced.report.page import html_page, write_page

_LAZY = {
    "Drawing": "findings",
    "Findings": "findings",
    "collect": "findings",
    "html_page": "page",
    "write_page": "page",
}

__all__ = ["Drawing", "Findings", "collect", "html_page", "write_page"]


def __getattr__(name: str) -> Any:
    """Import a public name, and all it needs, when it is first used."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return sorted(__all__)
