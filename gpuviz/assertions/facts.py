"""The numbers of a run that can be asserted, each by its name, of the launch or of one line."""

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import cached_property

from gpuviz.base.errors import Error, InputError
from gpuviz.memory.counts import DERIVED, PART_OF, Count, parts
from gpuviz.recordings.stall_reasons import KEYS
from gpuviz.run.run import Run
from gpuviz.traces.check_table import ALL
from gpuviz.traces.trace import Finding

Modelled = Callable[[], Mapping[str, float]]
"""Time and traffic of caches as modelled, by name; raises UnavailableError where none is."""


class NotJudgedError(Error):
    """A claim of which nobody knows whether it holds: says what it lacks."""


_OF_RUN: Mapping[str, Callable[[Run], float]] = {
    "thread_instructions": lambda run: run.trace.thread_instructions,
    "warp_instructions": lambda run: run.trace.warp_instructions,
}
_OF_THREAD: Mapping[str, str] = {
    "registers_per_thread": "registers",
    "static_shared_bytes": "static_shared_bytes",
    "spill_loads_bytes": "spill_loads_bytes",
    "spill_stores_bytes": "spill_stores_bytes",
    "stack_bytes": "stack_bytes",
}
# What the checks found: which of them have to have looked, and what is one.
_FOUND: Mapping[str, tuple[tuple[str, ...], Callable[[Finding], bool]]] = {
    "findings": (ALL, lambda one: True),
    "errors": (ALL, lambda one: one.severity == "error"),
    "races": (("race",), lambda one: one.check == "race" and one.severity == "error"),
}
MODELLED = ("time_us", "duration_ns", "l2_to_l1_sectors", "dram_read_sectors", *KEYS)


def _sums() -> dict[str, tuple[Count, ...]]:
    """`global_sectors`, of all operations of a space together; what counts in two of them once."""
    found: dict[str, tuple[Count, ...]] = {}
    for count in Count:
        if PART_OF.get(count.kind, ("",))[0] != count.kind[0]:
            name = f"{count.kind[0]}_{count.quantity}"
            found[name] = (*found.get(name, ()), count)
    return found


SUMS = _sums()
_CONFLICTS = "conflicts"


class Facts:
    """Numbers of a run, by name."""

    def __init__(self, run: Run, modelled: Modelled, checked: Callable[[], Run]) -> None:
        """`modelled` is called when time or caches are asked for, `checked` when findings are that
        nobody looked for: it gives the launch run with its checks.
        """
        self.run, self._model, self._with_checks = run, modelled, checked

    @cached_property
    def modelled(self) -> Mapping[str, float]:
        """What is modelled, with the launch's time in microseconds."""
        found = dict(self._model())
        return found | {"time_us": found["duration_ns"] / 1000}

    def line(self, at: int | str) -> int:
        """The number of a line, which a part of its text may name.

        Raises
        ------
        InputError : there is no such line, or several
        """
        written = self.run.trace.source.splitlines()
        if isinstance(at, int):
            if not 1 <= at <= len(written):
                raise InputError(f"there is no line {at}: the source has {len(written)}")
            return at
        found = [number for number, text in enumerate(written, 1) if at in text]
        if len(found) != 1:
            where = f"lines {', '.join(map(str, found))} have it" if found else "no line has it"
            raise InputError(f"line({at!r}): {where}; give a number, or text that one line has")
        return found[0]

    def value(self, name: str, line: int = 0) -> float:
        """A number of the launch, or of one line of its source.

        Raises
        ------
        InputError : there is no such number
        NotJudgedError : it is an estimate, was not looked for, or is not modelled here
        """
        if name in _FOUND:
            return self._found(name, line)
        if counts := counts_named(name):
            return self._counted(counts, line, name.endswith(f"_{_CONFLICTS}"))
        if line:
            raise InputError(f"{name} is of the launch, not of a line")
        if name in _OF_RUN:
            return self._exact(_OF_RUN[name](self.run))
        if name in _OF_THREAD:
            if self.run.resources is None:
                raise NotJudgedError(f"{name}: the compiler said nothing of registers and memory")
            return float(getattr(self.run.resources, _OF_THREAD[name]))
        if name == "measured_us":
            return self._measured()
        if name in MODELLED:
            return self.modelled[name]
        raise InputError(_unknown(name, self.names()))

    @staticmethod
    def names() -> tuple[str, ...]:
        """All that can be asked for."""
        derived = (f"{space}_{op}_{_CONFLICTS}" for space, op in _conflicting())
        plain = (*Count, *SUMS, *derived, "shared_conflicts")
        return (*plain, *_OF_RUN, *_OF_THREAD, *_FOUND, *MODELLED, "measured_us")

    def _exact(self, value: float) -> float:
        if self.run.sampled:
            raise NotJudgedError(
                "the counts of this run are estimates from a sample of its blocks: "
                'count all of them (blocks="all", --blocks all), or a smaller launch'
            )
        return value

    def _counted(self, counts: tuple[Count, ...], line: int, conflicts: bool) -> float:
        if line:
            given = [r.counts for r in self.run.counts.rows if r.instruction.line == line]
        else:
            given = [self.run.counts.totals]
        total = sum(of.get(count, 0) for of in given for count in counts)
        if conflicts:
            ideal = (of.get(c.ideal, 0) for of in given for c in counts if c.ideal)
            total -= sum(ideal)
        return self._exact(total)

    def _found(self, name: str, line: int) -> float:
        needed, is_one = _FOUND[name]
        if not set(needed) <= set(self.run.checked):
            self.run = self._with_checks()
        if lacking := [check for check in needed if check not in self.run.checked]:
            raise NotJudgedError(
                f"{name}: nobody looked for {', '.join(lacking)}: ask for it "
                '(checks=("memory", "race", "init", "sync"), --check all)'
            )
        found = [f for f in self.run.trace.findings if is_one(f)]
        return sum(not line or line in (f.line, f.other_line) for f in found)

    def _measured(self) -> float:
        found = self.run.measurement
        if found is None or found.timing is None:
            raise NotJudgedError("measured_us: this run was not measured on a GPU: run.measure()")
        return found.timing.median


def _conflicting() -> list[tuple[str, str]]:
    return list(dict.fromkeys(c.kind for c in Count if DERIVED[_CONFLICTS].fits(c.kind)))


def counts_named(name: str) -> tuple[Count, ...]:
    """The counts that a name is the sum of; of conflicts the wavefronts. () for another name."""
    if name in Count.__members__.values():
        return (Count(name),)
    if name in SUMS:
        return SUMS[name]
    kind, _, quantity = name.rpartition("_")
    if quantity != _CONFLICTS:
        return ()
    return tuple(
        Count(f"{space}_{op}_wavefronts")
        for space, op in _conflicting()
        if kind in (space, f"{space}_{op}")
    )


def kinds_named(names: Iterable[str]) -> frozenset[tuple[str, str]]:
    """Spaces and operations whose accesses some names count."""
    return frozenset(parts(count)[:2] for name in names for count in counts_named(name))


def _unknown(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), 4)
    told = f"; near it: {', '.join(near)}" if near else "; docs/assertions.md lists the names"
    return f"{name} is no number of a run{told}"
