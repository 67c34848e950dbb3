"""Turns of warps in words, and as bars along time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from gpuviz.course.together.matmul.kernels import Kernel
from gpuviz.course.together.matmul.phases import things
from gpuviz.course.together.matmul.replay import Misread, PartName, Turn
from gpuviz.course.together.matmul.tips import spaced
from gpuviz.panels.swimlanes import Bar
from gpuviz.story.script import Script
from gpuviz.traces.trace import LANES
from gpuviz.words.language import tr

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
    return tr(
        "Warp {warp} stores sums that are not complete: phase {n} of {all} is over.",
        warp=turn.warp,
        n=turn.phase + 1,
        all=phases,
    )


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
