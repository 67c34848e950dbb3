"""How big the launches are that numbers are of, in one line."""

from __future__ import annotations

from collections.abc import Mapping


def sizes_said(sizes: Mapping[str, str]) -> str:
    """The sizes of launches by what these are called: once where all are the same."""
    different = dict.fromkeys(sizes.values())
    if len(different) == 1:
        return next(iter(different))
    return " · ".join(f"{title}: {size}" for title, size in sizes.items())
