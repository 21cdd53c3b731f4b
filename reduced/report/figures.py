"""Figures inside the page: inline SVG whose ids are its own, with a caption and words for who cannot see it."""

from __future__ import annotations

import re
from html import escape
from xml.dom.minidom import Element, parseString

_IN_LINK, _IN_STYLE = re.compile(r"(?<=^#).+"), re.compile(r"(?<=url\(#)[^)]+")
_REFERRING = {
    "href": _IN_LINK,
    "xlink:href": _IN_LINK,
    **dict.fromkeys(("style", "clip-path", "fill", "mask", "filter"), _IN_STYLE),
}
_LEFT_OUT = ("metadata", "style")


def figure_html(name: str, title: str, caption: str, svg: str) -> str:
    """Return a figure: the drawing, as wide as the page at most, and its caption.

    Arguments: name, unique on the page; title and caption, plain words; svg, one ``<svg>`` element.
    """
    drawing = embedded(svg, name, title, caption)
    return (
        f'<figure id="figure-{name}">\n'
        f'<div class="plate">{drawing}</div>\n'
        f"<figcaption><strong>{escape(title)}.</strong> {escape(caption)}</figcaption>\n</figure>"
    )


def embedded(svg: str, name: str, title: str, description: str) -> str:
    """Return an ``<svg>`` element fit to stand in a page beside others.

    Only ids that the drawing refers to are kept, with the figure's name before them; metadata and page-wide styles
    are left out; the size follows the page, in the drawing's proportions; title and description are said to who
    cannot see it.
    """
    root = parseString(svg).getElementsByTagName("svg")[0]
    elements = (root, *root.getElementsByTagName("*"))
    for element in elements:
        for child in list(element.childNodes):
            if child.nodeName in _LEFT_OUT:
                element.removeChild(child)
    used = {own for element in elements for own in _references(element)}
    for element in elements:
        _rename(element, name, used)
    for size in ("width", "height"):
        if root.hasAttribute(size):
            root.removeAttribute(size)
    root.setAttribute("role", "img")
    root.setAttribute("aria-label", f"{title}. {description}")
    return str(root.toxml())


def _references(element: Element) -> list[str]:
    """Return the ids an element refers to."""
    return [own for key, ids in _REFERRING.items() for own in ids.findall(element.getAttribute(key))]


def _rename(element: Element, name: str, used: set[str]) -> None:
    """Put the figure's name before an element's id and before the ids it refers to; drop ids nobody refers to."""
    for key, ids in _REFERRING.items():
        if element.hasAttribute(key):
            renamed = ids.sub(lambda found: f"{name}-{found[0]}", element.getAttribute(key))
            element.setAttribute(key, renamed)
    if element.hasAttribute("id"):
        own = element.getAttribute("id")
        element.removeAttribute("id")
        if own in used:
            element.setAttribute("id", f"{name}-{own}")
