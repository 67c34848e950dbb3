"""The order in which lines were asked for, as a ring of links: what was asked for longest ago goes
first.

Line d is node d + 1; node 0 is where the ring begins and ends: `newer[0]` is the oldest,
`older[0]` the newest. Two arrays of zeros are an empty ring. `native` puts these functions in the
place of their calls.
"""

from __future__ import annotations

from gpuviz.base.arrays import I32


def leave(node: int, older: I32, newer: I32) -> None:
    """Take a node out."""
    before = older[node]
    after = newer[node]
    newer[before] = after
    older[after] = before


def come(node: int, older: I32, newer: I32) -> None:
    """Put a node in as the newest."""
    before = older[0]
    older[node] = before
    newer[node] = 0
    newer[before] = node
    older[0] = node


def renew(node: int, older: I32, newer: I32) -> None:
    """Make a node that is there the newest."""
    if older[0] != node:
        leave(node, older, newer)
        come(node, older, newer)
