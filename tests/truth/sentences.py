"""The sentences of a story, the numbers in them, and what of its launches they may be bound to.

A number is bound where a value of the same kind rounds to it: a count of the launch, a time, a
cell of the story's own tables. What the launch is given (parameters, constants of the kernel, facts
of the architecture) binds a number of any kind; what names its document is a quotation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import permutations

import numpy as np

from gpuviz.arch import architecture
from gpuviz.memory.counts import by_name
from gpuviz.memory.lanes import bytes_asked
from gpuviz.memory.request_counts import measure
from gpuviz.panels.figures import Paragraph, Provenance, TextLine
from gpuviz.panels.layout import panels
from gpuviz.panels.lines import Lines
from gpuviz.panels.picture import Picture
from gpuviz.panels.table import Column
from gpuviz.panels.time_bars import TimeBar
from gpuviz.recordings.measurement import Measurement
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Story, Values
from gpuviz.story.perform import Performance
from gpuviz.traces.trace import lane_mask
from gpuviz.words.language import THIN, duration

_SCALES = {"µs": 1e-6, "ms": 1e-3, "ns": 1e-9, "s": 1.0}
_BYTES = {"bytes": 1.0, "byte": 1.0, "B": 1.0, "kB": 1e3, "KB": 1024.0, "KiB": 1024.0}
_BYTES |= {"MB": 1e6, "MiB": 2.0**20, "GB": 1e9}
_PREFIX = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
NOUNS = (
    *("sector", "segment", "line", "wavefront", "pass", "request", "instruction", "conflict"),
    *("lane", "warp", "block", "thread", "register", "cycle", "bank", "barrier", "stage"),
)
_UNIT = r"µs|ms|ns|s|bytes?|[kKMG]i?B(?:/s)?|TB/s|[kMGT]?FLOP/s|[GT]op/s|%|×(?! ?[\d(])"
_NOUN = "|".join(f"{noun}(?:es|s)?" for noun in NOUNS)
_NUMBER = re.compile(
    rf"(?<![\w.,^/(\[-])(\d[\d{THIN} ]*(?<=\d)(?:\.\d+)?|\.\d+)"
    rf"[{THIN} ]?(?:({_UNIT})(?![\w(²])|(?:[a-z]+ )?({_NOUN})\b)"
)
_GROUPS = re.compile(rf"(?<=\d)[{THIN} ](?=\d{{3}}(?!\d))")
QUOTED = re.compile(
    "published|slides|GPGPU programming|lecture|“|G80|GF100|Tesla|8600|tutorial|textbook"
    "|NVIDIA's|guide"
)


@dataclass(frozen=True)
class Number:
    """A number in a text: its value, half of its last digit, and the kind of thing it counts."""

    value: float
    half: float
    kind: str
    text: str

    def is_(self, value: float) -> bool:
        """Whether a value rounds to it."""
        return abs(value - self.value) <= self.half * 1.02 + 1e-9 * abs(value)


def numbers(text: str) -> Iterator[Number]:
    """The numbers of a text that have a unit, or say what they count."""
    for found in _NUMBER.finditer(_GROUPS.sub("", text)):
        digits, unit, noun = found.groups()
        plain = digits.replace(" ", "").replace(THIN, "")
        scale, kind = _kind(unit) if unit else (1.0, singular(noun))
        half = 0.5 * 10.0 ** -len(plain.partition(".")[2])
        if "." not in plain and unit in ("µs", "ms") and len(plain) > 3:
            half = 0.5 * 10.0 ** (len(plain) - 3)
        yield Number(float(plain) * scale, half * scale, kind, found[0].strip())


def singular(noun: str) -> str:
    return next(one for one in NOUNS if noun in (one, f"{one}s", f"{one}es"))


def _kind(unit: str) -> tuple[float, str]:
    if unit in _SCALES:
        return _SCALES[unit], "time"
    if unit in _BYTES:
        return _BYTES[unit], "byte"
    if unit in "%×":
        return (0.01 if unit == "%" else 1.0), "ratio"
    kind = "bytes/s" if unit.endswith("B/s") else "op/s"
    return _PREFIX[unit[0] if unit[0] in _PREFIX else ""], kind


@dataclass
class Told:
    """What pictures say: sentences, the cells of tables by the words above them, figures and
    labels, and the numbers that panels draw, those of one panel together.
    """

    sentences: dict[str, None] = field(default_factory=dict)
    columns: list[Column] = field(default_factory=list)
    figures: dict[str, None] = field(default_factory=dict)
    drawn: list[tuple[float, ...]] = field(default_factory=list)


def moments(story: Story) -> list[float]:
    """The middle of each step, the beginning and the end."""
    some = story.steps if len(story.steps) < 40 else story.steps[:40]
    return sorted({0.0, story.duration, *((one.start + one.end) / 2 for one in some)})


def told_by(story: Story) -> Told:
    """All that a story says, at any moment; what its frames count up is left to its panels."""
    told = Told()
    for text in (story.title, story.sentence, story.expected):
        told.sentences[text] = None
    for step in story.steps[:40]:
        told.sentences[step.detail] = None
    assert story.at is not None
    for t in moments(story):
        _picture(told, story.at(t))
    told.sentences.pop("", None)
    return told


def _picture(told: Told, picture: Picture) -> None:
    for text in (picture.title, picture.sentence, *picture.others):
        told.sentences[text] = None
    for panel in panels(picture.body):
        _read(told, panel)


_SENTENCES = Lines, Paragraph, Provenance, TextLine  # what has sentences, not figures
_OURS = ("gpuviz.panels", "gpuviz.course")
_FEW = 64  # numbers that one panel tells; where there are more they are cells of a picture


def _read(told: Told, panel: object) -> None:
    texts, found = told.figures, list[float]()
    if isinstance(panel, _SENTENCES):
        texts = told.sentences
    for leaf in _leaves(told, panel):
        if isinstance(leaf, str):
            texts[leaf] = None
        else:
            found.append(leaf)
    if 0 < len(found) <= _FEW:
        told.drawn.append(tuple(found))


def _leaves(told: Told, thing: object) -> Iterator[str | float]:
    """The texts and numbers of a panel; columns of tables, and lines beside figures, apart."""
    if isinstance(thing, Column):
        told.columns.append(thing)
    elif isinstance(thing, TimeBar):
        if thing.us is not None:
            yield duration(thing.us)
        yield from (*thing.names, *thing.note)
    elif isinstance(thing, str):
        yield thing
    elif isinstance(thing, int | float) and not isinstance(thing, bool):
        yield float(thing)
    elif isinstance(thing, np.ndarray):
        if thing.size <= _FEW and thing.dtype.kind in "if":
            yield from thing.ravel().astype(float).tolist()
    elif isinstance(thing, tuple | list):
        for one in thing:
            yield from _leaves(told, one)
    elif is_dataclass(thing) and type(thing).__module__.startswith(
        ("gpuviz.panels", "gpuviz.cour")
    ):
        for one in fields(thing):
            yield from _leaves(told, getattr(thing, one.name))


_PARTED = "thread", "register"  # of which it is told how many are left, or more


@dataclass
class Facts:
    """Values by the kind of thing they count; `given` ones count for all kinds."""

    by_kind: dict[str, set[float]] = field(default_factory=dict)
    given: set[float] = field(default_factory=set)
    pairs: list[tuple[float, float]] = field(default_factory=list)  # of which shares are told

    def add(self, kind: str, *values: float) -> None:
        self.by_kind.setdefault(kind, set()).update(float(one) for one in values)

    def binds(self, number: Number) -> bool:
        """Whether a value of the kind, or something given, rounds to the number."""
        own = self.by_kind.get(number.kind, set())
        if any(map(number.is_, own)):
            return True
        if number.kind == "ratio":
            return any(map(number.is_, self._ratios()))
        if number.kind in ("time", "op/s", "bytes/s"):
            return False
        some = self.given | own if number.kind in _PARTED else set()
        return any(map(number.is_, self.given)) or any(
            number.is_(a - b) for a, b in permutations(some, 2)
        )

    def _ratios(self) -> Iterator[float]:
        for a, b in self.pairs:
            if b:
                yield from (a / b, 1 - a / b, a / b - 1)


def facts_of(lesson: Lesson, values: Values, made: Performance, told: Told) -> Facts:
    """What the launches of a story counted, took and were given, and its tables' cells."""
    facts = Facts()
    _given(facts, lesson, values)
    for run in made.runs.values():
        _of_run(facts, run)
    for plan in made.plans:
        _geometry(facts, plan.grid, plan.block)
        facts.given.update(_integers(" ".join((plan.size, *plan.arguments, str(plan.defines)))))
    totals = [by_name(run.counts.totals) for run in made.runs.values()]
    for one, other in permutations(totals, 2):
        facts.pairs += [(one[key], other[key]) for key in one if key in other]
    for one in totals:
        facts.pairs += permutations(one.values(), 2)
    times = sorted(facts.by_kind.get("time", ()))
    for n in (one for one in facts.given if 256 <= one <= 8192):  # products of n x n matrices
        facts.add("op/s", *(2 * n**3 / time for time in times))
    facts.pairs += permutations(times[:40], 2)
    for column in told.columns:
        _cells(facts, column)
    for text in told.figures:
        for number in numbers(text):
            facts.add(number.kind, number.value)
            facts.pairs.append((number.value, 1.0))
    for drawn in told.drawn:
        facts.given.update(drawn)
        facts.pairs += permutations(drawn[:24], 2)
        facts.pairs += [(one, 1.0) for one in drawn] + [(one, 100.0) for one in drawn]
    return facts


def _given(facts: Facts, lesson: Lesson, values: Values) -> None:
    for parameter in lesson.parameters:
        for number in numbers(parameter.shown(values[parameter.id])):
            facts.add(number.kind, number.value)
    facts.given.update(float(v) for v in values.values() if isinstance(v, int))
    facts.given.update(_integers(" ".join(map(str, values.values()))))
    facts.add("lane", 32)
    facts.add("byte", 32, 128)


def _integers(text: str) -> set[float]:
    return {float(one) for one in re.findall(r"\d+", text)}


def _geometry(facts: Facts, grid: Iterable[int], block: Iterable[int]) -> None:
    grid, block = tuple(grid), tuple(block)
    threads, blocks = math.prod(block), math.prod(grid)
    warps = -(-threads // 32)
    facts.add("thread", *block, threads, threads * blocks)
    facts.add("block", *grid, blocks)
    facts.add("warp", warps, warps * blocks)
    facts.pairs += [(threads, warps * 32)]
    facts.given.update((*grid, *block))


def _of_run(facts: Facts, run: Run) -> None:
    launch, arch = run.trace.launch, architecture(run.arch)
    _geometry(facts, launch.grid, launch.block)
    for name, value in by_name(run.counts.totals).items():
        kind = name.split("_")[2].rstrip("s") if name.count("_") > 1 else name
        facts.add(kind, value)
    for row in run.counts.rows:
        for count, value in row.counts.items():
            name = count.value
            facts.add(name.split("_")[2].rstrip("s"), value)
    _requests(facts, run)
    facts.add("instruction", run.trace.warp_instructions, run.trace.thread_instructions)
    facts.given.update(_integers(run.trace.source))
    for buffer in launch.buffers:
        facts.add("byte", buffer.size)
        facts.given.update((buffer.count, buffer.size))
    if run.resources is not None:
        facts.add("register", run.resources.registers)
        facts.add("byte", run.resources.static_shared_bytes)
    for one in fields(arch):
        value = getattr(arch, one.name)
        if isinstance(value, int) and not isinstance(value, bool):
            facts.given.add(float(value))
    facts.given.add(float(arch.max_warps))
    bytes_ = [32 * v for v in facts.by_kind.get("sector", ())] + [*facts.by_kind.get("byte", ())]
    facts.add("byte", *bytes_)
    found = [run.measurement, *run.others]
    if run.companion is not None:
        found.append(run.companion.measurement)
    for measured in found:
        _measured(facts, measured)


def _requests(facts: Facts, run: Run) -> None:
    """What each recorded request counts, and those of each warp and block together."""
    arch, trace = architecture(run.arch), run.trace
    every = trace.requests
    warps = every.block * 64 + every.warp
    for number, instruction in enumerate(trace.instructions):
        rows = np.flatnonzero(every.instruction == number)[:4096]
        if not len(rows):
            continue
        some = every.select(rows)
        active = lane_mask(some.active)
        facts.add("lane", *active.sum(1).tolist(), *(32 - active.sum(1)).tolist())
        for count, values in measure(arch, instruction, some.address, active).items():
            kind = count.value.split("_")[2].rstrip("s")
            facts.add(kind, *np.unique(values).tolist())
            for groups in (warps[rows], some.block, some.phase):
                facts.add(kind, *np.bincount(groups - groups.min(), values).tolist())
            if kind == "sector":
                moved = values * 32
                used = bytes_asked(active, instruction.width)
                facts.add("byte", *moved.tolist(), *used.tolist(), *(moved - used).tolist())


def _measured(facts: Facts, found: Measurement | None) -> None:
    if found is None:
        return
    facts.given.update((found.device.multiprocessors, found.resident_blocks or 0))
    for value in found.values().values():
        facts.pairs += [(value, 1.0), (value, 100.0)]
    if found.timing is not None:
        facts.add("time", found.timing.median * 1e-6)
    if found.peaks is not None and found.peaks.empty_us:
        facts.add("time", found.peaks.empty_us * 1e-6)
        facts.add("bytes/s", found.peaks.bytes_per_second)
        facts.add("op/s", found.peaks.flops_per_second)


def _cells(facts: Facts, column: Column) -> None:
    """Cells as numbers of their own unit, or of what the title says they count."""
    title = " ".join(column.titles)
    nouns = [noun for noun in NOUNS if re.search(rf"\b{noun}(es|s)?\b", title)]
    found: list[float] = []
    for cell in column.cells:
        for number in numbers(cell):
            facts.add(number.kind, number.value)
        plain = re.fullmatch(rf"[\d{THIN} ]+(\.\d+)?", cell)
        if plain:
            value = float(cell.replace(THIN, "").replace(" ", ""))
            found.append(value)
            facts.add("ratio", value)
            for noun in nouns:
                facts.add(noun, value)
            if "byte" in title:
                facts.add("byte", value)
    facts.pairs += permutations(found[:40], 2)
