"""Barriers of a tiled product: there, missing, or inside the inner loop, and what warps can do."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal

import numpy as np

from gpuviz.course import named
from gpuviz.course.together.matmul_barrier.interleaving import (
    KIND,
    SECONDS,
    Kernel,
    bars_of,
    called,
    counted,
    kernel,
    report,
    sentence,
    touched,
)
from gpuviz.course.together.matmul_barrier.replay import Misread, Replay, TileReplay, Turn
from gpuviz.course.together.matmul_common.block import LASTING
from gpuviz.course.together.matmul_common.product import Product
from gpuviz.course.together.matmul_common.results import at_real_size, summary
from gpuviz.course.together.matmul_common.sizes import FILL, real, width
from gpuviz.course.together.matmul_common.tips import lane_of, spaced
from gpuviz.panels.grid import Grid, Hatch, Note, Outline, Paint
from gpuviz.panels.layout import Node, at_least, columns, first, rows, share, spare
from gpuviz.panels.lines import Heading
from gpuviz.panels.panel import Answer, Ink
from gpuviz.panels.picture import Picture, longest
from gpuviz.panels.shares import Share, Shares
from gpuviz.panels.swimlanes import Bar, Swimlanes
from gpuviz.panels.table import Column
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values, number
from gpuviz.story.script import Script, pace
from gpuviz.traces.trace import LANES
from gpuviz.words.language import tr, trn

_KERNEL, _SOUND, _MOST_TURNS = "matmul_barrier.cu", "both", 256
# Which of AFTER_LOAD, AFTER_MULTIPLY and INSIDE a variant is compiled with.
_MACROS = {
    "both": (1, 1, 0),
    "no first": (0, 1, 0),
    "no second": (1, 0, 0),
    "none": (0, 0, 0),
    "inside": (1, 0, 1),
}
_RESULT, _REAL = 3.0, 1024
_RIGHT = "both", "inside"  # what races need not be timed: what it computes is wrong

LOOK_FOR = "What a warp finds in shared memory when nothing makes it wait for the others."
WORDS = ("barrier", "race", "phase", "finding", "tile")

PARAMETERS = (
    Parameter(
        "barriers",
        "barriers",
        "no first",
        compiled=True,
        offers={
            "both": "both there",
            "no first": "first one missing",
            "no second": "second one missing",
            "none": "both missing",
            "inside": "second one in the inner loop",
        },
    ),
    replace(width((4, 8, 16), "width of a block and of its tiles"), default=8),
    Parameter("phases", "phases", 2, 1, 4, hint="tiles along a row of M"),
    Parameter(
        "ahead",
        "first to run",
        "first",
        hint="the warp whose turn comes first",
        offers={"first": "warp 0", "last": "the last warp"},
    ),
    replace(FILL, offers={"arange": "0, 1, 2, …", "rand": "random"}),
)


def _preset(name: str, barriers: str, tile: int = 8) -> Preset:
    return Preset(
        name, {"barriers": barriers, "tile": tile, "phases": 2, "ahead": "first", "fill": "arange"}
    )


PRESETS = (
    _preset("First barrier missing", "no first"),
    _preset("Second barrier missing", "no second"),
    _preset("Both missing", "none"),
    _preset("Published listing: barrier in the inner loop", "inside"),
    _preset("Both there", "both"),
    _preset("First missing, one warp", "no first", 4),
)


def problem(values: Values) -> str:
    """Why these values make no sense together, or ""."""
    tile, phases = number(values, "tile"), number(values, "phases")
    turns = tile * phases * max(tile * tile // LANES, 1)
    if values["barriers"] == "inside" and turns > _MOST_TURNS:
        return tr(
            "With a barrier in the inner loop, {phases} phases of {tile} × {tile} are {n} "
            "turns of the warps, too many to follow: take fewer phases.",
            phases=phases,
            tile=tile,
            n=turns,
        )
    return ""


def plan(values: Values) -> tuple[Plan, ...]:
    """The kernel asked for, and the sound one."""
    variants = dict.fromkeys((str(values["barriers"]), _SOUND))
    plans = tuple(_plan(values, variant) for variant in variants)
    return *plans, *(real(one, _REAL) for one in plans if one.role in _RIGHT)


def _plan(values: Values, variant: str) -> Plan:
    """One launch; a block computes one tile of P."""
    tile, phases, fill = number(values, "tile"), number(values, "phases"), values["fill"]
    side, names = tile * phases, ("AFTER_LOAD", "AFTER_MULTIPLY", "INSIDE")
    macros = zip(names, map(str, _MACROS[variant]), strict=True)
    shape = (phases, phases, 1), (tile, tile, 1)
    arguments = (*(f"f32[{side**2}]={how}" for how in (fill, fill, "zeros")), f"i32={side}")
    size = f"{side} × {side}"
    return Plan(
        variant, _KERNEL, "product", *shape, arguments, (("TILE", str(tile)), *macros), size=size
    )


def narrate(values: Values, runs: Runs) -> Story:
    """The warps of block 0 take turns."""
    variant, tile = str(values["barriers"]), number(values, "tile")
    last_first, phases = values["ahead"] == "last", number(values, "phases")
    sound = tr("both barriers"), tr("both")
    right = kernel(runs[_SOUND], tile, sound, last_first)
    names = _called(variant), tr("this kernel")
    shown = right if variant == _SOUND else kernel(runs[variant], tile, names, last_first)
    turns = shown.replay.turns
    misreads = tuple(map(shown.replay.misread, turns))
    said = tuple(sentence(shown, turn, read) for turn, read in zip(turns, misreads, strict=True))
    words, script = (*said, _result(shown, right)), _script(shown, misreads, variant)
    bars, title = tuple(bars_of(script, turns, misreads)), _title(variant, shown, right)
    timed = at_real_size([(one.outcome.name, one.run) for one in dict.fromkeys((shown, right))])
    kernels, others = (shown,) if shown is right else (shown, right), longest(words)

    def at(t: float) -> Picture:
        now, over = script.at(t)
        turn = turns[now] if now < len(turns) else None
        position = turns[-1].last if turn is None else turn.position(over)
        order = _order(shown, script, bars, t)
        tiles, report = _tiles(shown, phases, turn, position), _report(shown, position)
        numbers, line = _table(kernels, turn is None)
        body = _body(tiles, report, (rows(numbers, *timed), line), order)
        return Picture(title, words[now], body, others)

    return Story.of(script, at, _expected(variant, tile, phases))


def _called(variant: str) -> str:
    """The kernel in a few words."""
    return {
        "both": tr("both barriers"),
        "no first": tr("first missing"),
        "no second": tr("second missing"),
        "none": tr("both missing"),
        "inside": tr("in the inner loop"),
    }[variant]


def _title(variant: str, shown: Kernel, right: Kernel) -> str:
    """The claim of the picture."""
    if variant != "both" and variant != "inside" and not shown.hazards:
        return tr("A block of one warp has no other warp to race with")
    return {
        "both": tr("With both barriers no warp overtakes the tiles of another"),
        "no first": tr("Without the first barrier a warp multiplies what is not loaded yet"),
        "no second": tr("Without the second barrier a warp loads over what others still read"),
        "none": tr("Without barriers nothing keeps the warps in the same phase"),
        "inside": tr(
            "A barrier at every step: the product is right, with {n} barriers instead of {few}",
            n=shown.replay.barriers,
            few=right.replay.barriers,
        ),
    }[variant]


def _result(shown: Kernel, right: Kernel) -> str:
    """What the order of the turns does to the block's part of P."""
    if shown.outcome.count:
        return tr(
            "In this order: {said}. With all warps in step, as emulated: none.",
            said=shown.outcome.said,
        )
    if shown.hazards:
        return tr("In this order nothing is wrong; in another it may be.")
    if shown.warps == 1:
        return tr("Its lanes may still part ways: current hardware wants __syncwarp() then.")
    if shown.replay.stores > right.replay.stores:
        return tr(
            "In every order of the warps the product is right, stored {n} times instead of {few}.",
            n=spaced(shown.replay.stores),
            few=spaced(right.replay.stores),
        )
    return tr("In every order of the warps the product is right.")


def _script(shown: Kernel, misreads: tuple[Misread, ...], role: str) -> Script:
    """One act a turn, then the result."""
    turns = shown.replay.turns
    script = Script(role, pace((*(SECONDS[t.part] for t in turns), _RESULT), *LASTING))
    for turn, read in zip(turns, misreads, strict=True):
        label, detail = called(turn), touched(shown, turn, read)
        script.act(SECONDS[turn.part], KIND[turn.part], label, detail, turn.line)
    last = f"{counted(shown.hazards)} · {shown.outcome.said}"
    script.act(_RESULT, "result", tr("result"), last)
    return script


def expected(variant: str, tile: int, phases: int) -> tuple[int, int]:
    """Barriers that a block passes, and its stores to P."""
    after_load, after_multiply, inside = _MACROS[variant]
    stores = tile**2 * (phases if inside else 1)
    return phases * (after_load + after_multiply + tile * inside), stores


def _expected(variant: str, tile: int, phases: int) -> str:
    barriers, stores = expected(variant, tile, phases)
    said = trn(
        "by arithmetic: {n} barrier and {stores} stores to P in a block",
        "by arithmetic: {n} barriers and {stores} stores to P in a block",
        barriers,
        stores=spaced(stores),
    )
    if variant == "inside":
        return tr("{said}, as in the listing of CUDA memory considerations, a tutorial", said=said)
    return said


def _tiles(shown: Kernel, phases: int, turn: Turn | None, position: int) -> Product:
    """The tiles at a moment, and the block's threads; no turn: all are over."""
    m, n = (_tile(tile, shown.tile, phases, turn, position) for tile in shown.replay.tiles)
    said = tr("number: phase of the element"), tr("number: phase")
    m = replace(m, note=Note(said, numbers=True))
    return Product(m, n, _threads(shown, turn, position), loose=True)


def _tile(tile: TileReplay, width: int, phases: int, turn: Turn | None, position: int) -> Grid:
    """What each slot holds: the number is the phase; what is read now is outlined."""
    held = tile.held(position, width**2)
    now = np.zeros(0, np.int64)
    wrong = now
    if turn is not None:
        reading = tile.reading(turn, position)
        now, wrong = (np.unique(tile.reads.slot[r]) for r in (reading, reading & tile.wrong))

    def tip(slot: int) -> str:
        row, column = divmod(slot, width)
        phase = int(held[slot])
        what = tr("an element of phase {n}", n=phase + 1) if phase >= 0 else tr("nothing yet")
        return f"{tile.name}s[{row}][{column}]: {what}"

    return Grid(
        (f"{tile.name}s",),
        width,
        width,
        tip,
        (Paint(held >= 0, "load", 0.25 + 0.75 * (held + 1) / phases),),
        words=tuple(str(phase + 1) if phase >= 0 else "" for phase in held.tolist()),
        hatched=(Hatch(wrong, bad=True),),
        outlines=(Outline(now),),
    )


def _threads(shown: Kernel, turn: Turn | None, position: int) -> Grid:
    """The threads in the colours of their lanes; those that have read something wrong hatched."""
    every, tile, made = np.arange(shown.tile**2), shown.tile, shown.outcome
    wrong = made.wrong.ravel() if turn is None else shown.replay.wrong_before(position)
    lines: tuple[Outline, ...] = ()
    if turn is not None:
        mine = every[every // LANES == turn.warp] if turn.warp >= 0 else every
        lines = (Outline(mine, "outline" if turn.warp >= 0 else "barrier", 2.5),)
    ink: Ink | Literal["lanes"] = "lanes" if turn is not None else "store"
    return Grid(
        (tr("threads"),),
        tile,
        tile,
        made.tip if turn is None else lambda thread: lane_of(thread, tile),
        (Paint(every >= 0, ink),),
        hatched=(Hatch(np.flatnonzero(wrong), bad=True),),
        outlines=lines,
    )


def _report(shown: Kernel, position: int) -> tuple[Node, Node, Node]:
    """What the race check has found, at length and in few lines; what the warps have read so far,
    hatched what is wrong.
    """
    tile = shown.tile

    def thread(n: int) -> str:
        return tr("thread ({x},{y})", x=n % tile, y=n // tile)

    names = (
        tr("Reads of the shared tiles so far (hatched: wrong element)"),
        tr("Reads so far (hatched: wrong)"),
        tr("Reads so far"),
    )
    bars = Shares(tuple(_reads(shown.replay, position)))
    found = report(shown.hazards, thread, shown.slot, shown.warps)
    return *found, rows(Answer(Heading(names)), bars)


def _reads(made: Replay, position: int) -> Iterator[Share]:
    """The reads of each warp: those there will be, and so far."""
    so_far, in_all = made.read_before(position), made.read_before(float("inf"))
    for warp, (now, bad, all_, lost) in enumerate(zip(*so_far, *in_all, strict=True)):
        said = tr("{n} of {all} wrong", n=spaced(bad), all=spaced(now)) if bad else spaced(now)
        yield Share(
            tr("warp {n}", n=warp),
            float(all_ - lost),
            float(all_),
            (said,),
            (),
            (now - bad) / max(all_ - lost, 1),
            spoilt=bad / max(lost, 1),
            ink="compute",
        )


def _table(kernels: tuple[Kernel, ...], known: bool) -> tuple[Node, Node]:
    """The kernel beside the one with both barriers: a table, and a line."""

    def cells(count: Callable[[Kernel], int]) -> tuple[str, ...]:
        return tuple(spaced(count(one)) for one in kernels)

    stores = tr("stores to P"), tr("stores")
    risk = tr("words at risk"), tr("at risk")
    made = (
        Column((tr("barriers"),), cells(lambda one: one.replay.barriers), optional=1),
        Column(stores, cells(lambda one: one.replay.stores), optional=2),
        Column(risk, cells(lambda one: sum(hazard.count for hazard in one.hazards))),
    )
    outcomes, runs = [one.outcome for one in kernels], [one.run for one in kernels]
    return summary(outcomes, (known,) * len(kernels), made, runs)


def _order(shown: Kernel, script: Script, bars: tuple[Bar, ...], t: float) -> Swimlanes:
    """The warps' turns, and whose idea their order is."""
    title = (
        tr("An order the hardware may choose: each warp runs as far as the next barrier (grey)"),
        tr("Each warp runs as far as the next barrier (grey)"),
        tr("One possible order"),
    )
    names = tuple(tr("warp {n}", n=n) for n in range(shown.warps))

    def tip(turn: int) -> str:
        return f"{script.steps[turn].label}\n{script.steps[turn].detail}"

    return Swimlanes(title, names, bars, t, tip)


def _body(
    tiles: Node, report: tuple[Node, Node, Node], table: tuple[Node, Node], order: Node
) -> Node:
    """Shared tiles, race check, table of kernels, turns of the warps."""
    (found, brief, reads), (numbers, line) = report, table

    def wide(found: Node, last: Node) -> Node:
        side = rows(found, spare(reads), share(1, rows()), last, gap=0.5)
        return rows(share(1, columns(tiles, share(1, side), gap=2.4)), order, gap=0.6)

    high = rows(share(1, at_least(tiles, 14)), found, spare(reads), numbers, order, gap=0.8)
    large = at_least(wide(found, numbers), 20, aspect=1.15)
    return first(large, at_least(high, 20), wide(found, line), wide(brief, line))


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, problem, WORDS)
