"""What numbers are of: where they come from, in a word and in full; how big the launches are."""

from collections.abc import Iterable, Mapping

from gpuviz.draw.heading import BADGES as BADGES
from gpuviz.recordings.measurement import Measurement
from gpuviz.words.language import tr

_FEW = 3  # sizes that are read at a glance


def caption(measurement: Measurement) -> str:
    """Where the numbers of a measurement come from, in the language in use."""
    return captions([measurement])[0]


def captions(found: Iterable[Measurement]) -> tuple[str, ...]:
    """Where the numbers of measurements come from: once for each device and file, with all days."""
    dates: dict[tuple[bool, str, str], set[str]] = {}
    for one in found:
        dates.setdefault((one.source == "live", one.device.name, one.file), set()).add(one.date)
    return tuple(_caption(*whose, ", ".join(sorted(days))) for whose, days in dates.items())


def _caption(live: bool, device: str, file: str, date: str) -> str:
    if live:
        return tr("measured on {device}", device=device)
    if file:
        return tr("recorded on {device}, {date}, from {file}", device=device, date=date, file=file)
    return tr("recorded on {device}, {date}", device=device, date=date)


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
