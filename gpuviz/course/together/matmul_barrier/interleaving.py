"""Kernels with barriers in or out of place: turns of their warps, their races, what they leave."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gpuviz.base.arrays import F64
from gpuviz.course.together.matmul_barrier.replay import Misread, PartName, Replay, Turn, replay
from gpuviz.course.together.matmul_common.phases import things
from gpuviz.course.together.matmul_common.results import Outcome, outcome
from gpuviz.course.together.matmul_common.tips import spaced
from gpuviz.panels.layout import Node, rows
from gpuviz.panels.lines import Heading, Line, Lines
from gpuviz.panels.panel import Answer
from gpuviz.panels.swimlanes import Bar
from gpuviz.ptx.checks.hazards import Hazard
from gpuviz.ptx.checks.race import hazards
from gpuviz.run.run import Run
from gpuviz.story.script import Script
from gpuviz.traces.trace import LANES
from gpuviz.words.language import grouped, tr, trn


@dataclass(frozen=True, eq=False)
class Kernel:
    """One kernel: its run, the replay of block 0, the races in it, and what it ends up with."""

    run: Run
    tile: int
    replay: Replay
    hazards: tuple[Hazard, ...]
    outcome: Outcome

    @property
    def warps(self) -> int:
        """Warps in a block."""
        return self.run.trace.launch.warps_per_block

    def slot(self, address: int) -> str:
        """The element at a byte offset in shared memory, as in the program: `Ns[0][4]`."""
        first, second = sorted(self.replay.tiles, key=lambda tile: tile.base)
        tile = second if address >= second.base else first
        row, column = divmod((address - tile.base) // 4, self.tile)
        return f"{tile.name}s[{row}][{column}]"


def kernel(run: Run, tile: int, names: tuple[str, ...], last_first: bool) -> Kernel:
    """A run of the product, replayed."""
    side = round(len(run.outputs["P"]) ** 0.5)
    m, n = (np.asarray(run.outputs[name], np.float64).reshape(side, side) for name in "MN")
    made = replay(run.trace, 0, tile, m, n, last_first)
    return Kernel(run, tile, made, hazards(run.trace), _outcome(names, made, m, n, tile))


def _outcome(names: tuple[str, ...], made: Replay, m: F64, n: F64, tile: int) -> Outcome:
    """The block's part of P in the order of the replay, checked."""
    row, column = np.divmod(made.stored, len(m))
    value = np.zeros((tile, tile))
    value[row - row.min(), column - column.min()] = made.value
    down, across = (slice(int(a.min()), int(a.max()) + 1) for a in (row, column))
    return outcome(names, value, m[down], n[:, across])


SECONDS: Mapping[PartName, float] = {"load": 1.0, "multiply": 1.6, "store": 0.8, "barrier": 0.6}
KIND: Mapping[PartName, Literal["load", "compute", "store", "barrier"]] = {
    "load": "load",
    "multiply": "compute",
    "store": "store",
    "barrier": "barrier",
}


def called(turn: Turn) -> str:
    """A turn on the time line."""
    what: dict[str, object] = {"n": turn.phase + 1, "warp": turn.warp}
    return {
        "load": tr("warp {warp}: load {n}", **what),
        "multiply": tr("warp {warp}: multiply {n}", **what),
        "store": tr("warp {warp}: store", **what),
        "barrier": tr("barrier"),
    }[turn.part]


def touched(shown: Kernel, turn: Turn, read: Misread) -> str:
    """What it touches."""
    if turn.part == "barrier":
        return "__syncthreads()"
    if turn.part == "multiply":
        return tr("{few} of {all} reads wrong", few=spaced(read.wrong), all=spaced(read.every))
    return things(min(LANES, shown.tile**2), "thread")


def sentence(shown: Kernel, turn: Turn, read: Misread) -> str:
    """What a turn does, and what goes wrong in it."""
    what: dict[str, object] = {"warp": turn.warp, "n": turn.phase + 1, "all": spaced(read.every)}
    if turn.part == "barrier":
        if shown.warps == 1:
            return tr("Barrier: the only warp has nobody to wait for.")
        if shown.warps == 2:
            return tr("Barrier: here both warps wait for each other.")
        return tr("Barrier: here all {n} warps wait for each other.", n=shown.warps)
    if turn.part == "load":
        return tr("Warp {warp} copies its elements of phase {n} to shared memory.", **what)
    if turn.part == "store":
        return _stored(shown, turn)
    if read.early:
        return tr(
            "Warp {warp} multiplies phase {n}: {few} of its {all} reads come too early.",
            few=spaced(read.early),
            **what,
        )
    if read.late:
        return tr(
            "Warp {warp} multiplies phase {n}: {few} of its {all} reads find the next phase.",
            few=spaced(read.late),
            **what,
        )
    return tr("Warp {warp} multiplies phase {n}: it finds all that it needs.", **what)


def _stored(shown: Kernel, turn: Turn) -> str:
    """Whose elements are stored, and whether their sums are complete."""
    phases = max(t.phase for t in shown.replay.turns) + 1
    if turn.phase + 1 == phases:
        return tr("Warp {warp} stores its elements of P.", warp=turn.warp)
    what = {"warp": turn.warp, "n": turn.phase + 1, "all": phases}
    return tr("Warp {warp} stores sums that are not complete: phase {n} of {all} is over.", **what)


def bars_of(
    script: Script, turns: tuple[Turn, ...], misreads: tuple[Misread, ...]
) -> Iterator[Bar]:
    """The turns along time; those with wrong reads are hatched."""
    for step, turn, read in zip(script.steps, turns, misreads, strict=False):
        n = turn.phase + 1
        names = {
            "load": (tr("load {n}", n=n), tr("load")),
            "store": (tr("store"),),
            "barrier": (),
            "multiply": (tr("multiply {n}", n=n), tr("multiply"), f"× {n}", "×"),
        }[turn.part]
        yield Bar(turn.warp, step.start, step.end, names, KIND[turn.part], read.wrong > 0)


Name = Callable[[int], str]


def report(hazards: Sequence[Hazard], thread: Name, word: Name, warps: int) -> tuple[Node, Node]:
    """What the race check has found, kept back while a class is asked; and the same in few lines.

    `thread` and `word` name a thread of the block and a byte offset in shared memory.
    """
    told = [_hazard_lines(one, thread, word) for one in hazards]
    full, brief = [line for one in told for line in one], [one[0] for one in told]
    if not hazards:
        words = tr("No hazard: between two barriers no warp touches what another one writes.")
        if warps == 1:
            words = tr("No hazard: all threads of the block are in one warp.")
        full = brief = [Line((words,), "good")]
    head = Heading((tr("Race check of the kernel"), tr("Race check")), badge=tr("model"))
    first, second = (rows(Answer(head), Answer(Lines(tuple(said)))) for said in (full, brief))
    return first, second


def counted(hazards: Sequence[Hazard]) -> str:
    """`2 hazards`."""
    return trn("{n} hazard", "{n} hazards", len(hazards))


def _hazard_lines(hazard: Hazard, thread: Name, word: Name) -> tuple[Line, Line]:
    """Which lines, and the first case."""
    where: dict[str, object] = {"a": hazard.first.line, "b": hazard.second.line}
    lines = tr("lines {a} and {b}, {n} words", **where, n=grouped(hazard.count))
    one, two = map(thread, hazard.threads)
    who: dict[str, object] = {"one": one, "two": two, "slot": word(hazard.address)}
    kind, case = {
        "read after write": (
            tr("Read after write"),
            tr(
                "{one} writes {slot} and {two} of another warp reads it, with no barrier between.",
                **who,
            ),
        ),
        "write after read": (
            tr("Write after read"),
            tr(
                "{one} reads {slot} and {two} of another warp writes it, with no barrier between.",
                **who,
            ),
        ),
        "write after write": (
            tr("Write after write"),
            tr("{one} and {two} of another warp write {slot}, with no barrier between.", **who),
        ),
    }[hazard.kind]
    said = case[:1].upper() + case[1:]
    return Line((f"{kind}: {lines}",), "bad", bold=True), Line((said,), "muted")
