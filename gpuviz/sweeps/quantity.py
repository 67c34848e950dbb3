"""What can be shown of a cell: counts by their names, time, occupancy, ratios of two of them."""

import difflib
from collections.abc import Callable, Mapping, Sequence

from gpuviz.base.errors import InputError
from gpuviz.memory.counts import Count, parts
from gpuviz.memory.units import SPACES, label, unit_of
from gpuviz.sweeps.cell import Found, On, Outcome
from gpuviz.words.language import later, tr

Number = float | None
_OTHERS: Mapping[str, Callable[[Found], Number]] = {
    "time": lambda found: found.microseconds,
    "modelled": lambda found: found.modelled,
    "occupancy": lambda found: found.occupancy,
    "registers": lambda found: found.registers,
    "thread_instructions": lambda found: found.thread_instructions,
    "warp_instructions": lambda found: found.warp_instructions,
}
_NAMES: Mapping[str, str] = {
    "time": later("Time in µs"),
    "modelled": later("Modelled time in µs"),
    "occupancy": later("Occupancy"),
    "registers": later("Registers a thread"),
    "thread_instructions": later("Thread instructions"),
    "warp_instructions": later("Warp instructions"),
}
_FIRST = (
    "time",
    "global_load_sectors",
    "global_store_sectors",
    "shared_load_wavefronts",
    "shared_store_wavefronts",
    "local_load_sectors",
    "constant_load_wavefronts",
    "occupancy",
    "warp_instructions",
)


_COMPUTED = ("occupancy", "registers")  # wherever the rest of a cell comes from


def measured(quantity: str, on: On) -> bool:
    """Whether a GPU has said it, of cells done there; occupancy follows from what was compiled."""
    return on == "gpu" and not any(part in _COMPUTED for part in quantity.split("/", 1))


def names() -> tuple[str, ...]:
    """All that can be asked for."""
    return (*_OTHERS, *map(str, Count))


def value(outcome: Outcome, quantity: str, role: str = "") -> Number:
    """A quantity (`time`, or `global_load_sectors/global_load_requests`) of a cell's launch.

    `role` is needed where there are several launches; None where it is not known. Time is in
    microseconds, occupancy from 0 to 1.
    """
    found = next((one for one in outcome.found if not role or one.role == role), None)
    if found is None:
        return None
    over, divided, under = quantity.partition("/")
    first = _one(found, over)
    if not divided:
        return first
    second = _one(found, under)
    return None if first is None or not second else first / second


def _one(found: Found, name: str) -> Number:
    if name in _OTHERS:
        return _OTHERS[name](found)
    return found.counts.get(name, None if found.thread_instructions is None else 0.0)


def checked(quantity: str) -> str:
    """The same quantity; InputError when there is none of that name."""
    for part in quantity.split("/", 1):
        if part not in names():
            near = difflib.get_close_matches(part, names(), 3)
            near = near or [name for name in names() if part and part in name][:3]
            others = f"there are {', '.join(_OTHERS)}, and the counts of gpuviz count --json"
            hint = f"is it {' or '.join(near)}?" if near else others
            raise InputError(f"nothing is called {part!r}: {hint}")
    return quantity


def known(outcomes: Sequence[Outcome]) -> list[str]:
    """What is known, and not 0, of at least one cell, in the order of `names`."""
    found = [one for outcome in outcomes for one in outcome.found]
    counted = set().union(*(one.counts for one in found))
    others = [name for name, how in _OTHERS.items() if any(how(one) for one in found)]
    return others + [str(count) for count in Count if count in counted]


def called(quantity: str) -> str:
    """A quantity in words: "Global memory: load sectors"."""
    over, divided, under = quantity.partition("/")
    first = tr(_NAMES[over]) if over in _NAMES else _of_count(over)
    return f"{first} / {called(under)}" if divided else first


def _of_count(name: str) -> str:
    space, op, counted = parts(name)
    where = tr(SPACES[space]) if space in SPACES else space.upper()
    return f"{where}: {label(op, unit_of(counted))}"


def telling(outcomes: Sequence[Outcome], role: str = "") -> str:
    """The quantity to show unasked: the first of some that differs between the cells."""
    for quantity in _FIRST:
        seen = {value(outcome, quantity, role) for outcome in outcomes} - {None}
        if len(seen) > 1:
            return quantity
    return _FIRST[1]
