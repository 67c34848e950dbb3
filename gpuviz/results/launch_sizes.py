"""How big the launches are that numbers are of, in one line."""

from __future__ import annotations

from collections.abc import Mapping

from gpuviz.words.language import tr

_FEW = 3  # sizes that are read at a glance


def sizes_said(sizes: Mapping[str, str]) -> str:
    """The sizes of launches by what these are called: once for all of the same size, the first and
    the last of many sizes.
    """
    different = list(dict.fromkeys(sizes.values()))
    if len(different) == 1:
        return different[0]
    if len(different) > _FEW:
        return tr(
            "{n} launches, from {first} to {last}",
            n=len(sizes),
            first=different[0],
            last=different[-1],
        )
    return " · ".join(f"{titles}: {size}" for titles, size in together(sizes))


def together(said: Mapping[str, str]) -> list[tuple[str, str]]:
    """What is said of each title, once with all titles of which it is said."""
    titles: dict[str, list[str]] = {}
    for title, text in said.items():
        titles.setdefault(text, []).append(title)
    return [(", ".join(names), text) for text, names in titles.items()]


def sizes_listed(sizes: Mapping[str, str]) -> str:
    """All of them below each other, where `sizes_said` leaves some out; else ""."""
    if len(set(sizes.values())) <= _FEW:
        return ""
    return "\n".join(f"{title}: {size}" for title, size in sizes.items())
