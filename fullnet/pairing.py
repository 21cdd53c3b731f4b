"""Pairing heaps in arrays, compiled by numba: the nearest neuron of each crowd on each surface.

A node belongs to one heap at a time, so three links a node are all the memory the heaps ever need. ``before``
is the left sibling or, for a first child, the parent; −1 means none. Equal keys are ordered by node, so the
root does not depend on the order in which a heap was built.
"""

from __future__ import annotations

from typing import Any

from fullnet.compilation import inner


@inner
def melded(key: Any, child: Any, sibling: Any, before: Any, a: int, b: int) -> int:
    """Return the root of two heaps made one."""
    if a < 0:
        return b
    if b < 0:
        return a
    if key[b] < key[a] or (key[b] == key[a] and b < a):
        a, b = b, a
    first = child[a]
    sibling[b] = first
    if first >= 0:
        before[first] = b
    child[a] = b
    before[b] = a
    return a


@inner
def gathered(key: Any, child: Any, sibling: Any, before: Any, first: int) -> int:
    """Return the root of the children in a row made one heap (two passes)."""
    chain = -1
    while first >= 0:
        a = first
        b = sibling[a]
        first = sibling[b] if b >= 0 else -1
        sibling[a] = before[a] = -1
        if b >= 0:
            sibling[b] = before[b] = -1
        a = melded(key, child, sibling, before, a, b)
        sibling[a] = chain
        chain = a
    root = -1
    while chain >= 0:
        following = sibling[chain]
        sibling[chain] = -1
        root = melded(key, child, sibling, before, root, chain)
        chain = following
    return root


@inner
def removed(key: Any, child: Any, sibling: Any, before: Any, root: int, node: int) -> int:
    """Return the root of a heap after taking a node out of it."""
    rest = gathered(key, child, sibling, before, child[node])
    child[node] = -1
    if node == root:
        return rest
    left, right = before[node], sibling[node]
    if child[left] == node:
        child[left] = right
    else:
        sibling[left] = right
    if right >= 0:
        before[right] = left
    sibling[node] = before[node] = -1
    return melded(key, child, sibling, before, root, rest)
