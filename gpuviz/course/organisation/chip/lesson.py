"""Chip: a whole launch as a time-lapse on the multiprocessors, and the way in to one address."""

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.arch.occupancy import occupancy
from gpuviz.base.arrays import I64
from gpuviz.course import named
from gpuviz.course.organisation.chip.floor import DEPTHS, BlockPlacement, Chip, placed_of
from gpuviz.course.organisation.launch_attempt import A, B, C
from gpuviz.panels.figures import Figure, FigureRow, TextLine
from gpuviz.panels.layout import rows
from gpuviz.panels.panel import Ink
from gpuviz.panels.picture import Picture
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values, number
from gpuviz.story.measured import time_figures, time_of
from gpuviz.story.script import Act, Script
from gpuviz.words.language import grouped, tr, trn

_ROLE, _KERNEL, _ENTRY = "fma4", "fma4.cu", "fma4"
_ALONG_Y = 65535  # blocks that a grid has along y at most, on every device
_BEGIN, _FIRST, _STEP, _STAY, _BACK, _REST, _END = 1.0, 3.5, 2.0, 1.2, 1.8, 4.0, 1.5  # seconds

LOOK_FOR = "Which multiprocessors the blocks go to, and the way from the grid to one address."
WORDS = ("grid", "block", "multiprocessor", "warp", "lane", "sector")

PARAMETERS = (
    Parameter(
        "elements",
        "elements",
        1 << 22,
        offers={1 << 18: "2^18", 1 << 20: "2^20", 1 << 22: "2^22"},
        hint="a thread each",
    ),
    Parameter("threads", "threads per block", 128, offers=(64, 128, 256, 512, 1024)),
    Parameter("shown", "block shown", 20000, 0, 65535, hint="its linear number, the last at most"),
    Parameter("lane", "lane shown", 5, 0, 31, hint="of warp 0 of the block"),
    Parameter(
        "sms", "multiprocessors", 132, 1, 256, hint="of the rule, where no GPU noted the blocks"
    ),
)

PRESETS = (
    Preset("fma4, 2^22 elements", {"elements": 1 << 22, "threads": 128, "shown": 20000}),
    Preset("Large blocks", {"elements": 1 << 22, "threads": 1024, "shown": 2500}),
    Preset("Too few to fill the chip", {"elements": 1 << 18, "threads": 1024, "shown": 100}),
)


def _grid(values: Values) -> tuple[int, int]:
    """Blocks along x and y: along y as in the lesson on limits, unless that takes fewer."""
    blocks = number(values, "elements") // number(values, "threads")
    across = -(-blocks // _ALONG_Y)
    return across, blocks // across


def _shown(values: Values) -> int:
    """The block shown: fewer blocks may have been chosen meanwhile."""
    across, down = _grid(values)
    return min(number(values, "shown"), across * down - 1)


def plan(values: Values) -> tuple[Plan, ...]:
    """One launch over all elements."""
    elements, threads = number(values, "elements"), number(values, "threads")
    buffers = (f"f32[{elements}]={fill}" for fill in (A, B, C, "zeros"))
    return (
        Plan(
            _ROLE,
            _KERNEL,
            _ENTRY,
            (*_grid(values), 1),
            (threads, 1, 1),
            (*buffers, f"i32={elements}"),
            record=(_shown(values),),
            size=trn("{n} element", "{n} elements", elements, n=grouped(elements)),
            outputs=False,
            placed=True,
        ),
    )


def narrate(values: Values, runs: Runs) -> Story:
    """Blocks come and go; a pause at one of them, the way in to an address, and on to the end."""
    run, shown = runs[_ROLE], _shown(values)
    arch, launch, lane = architecture(run.arch), run.trace.launch, number(values, "lane")
    placed = placed_of(run, _resident(run, arch), number(values, "sms"))
    halt = float(placed.start[shown] + placed.end[shown]) / 2
    words, line = _words(run, shown)
    script = Script(_ROLE)
    begin = script.act(_BEGIN, "intro", tr("grid"), _blocks(launch.blocks))
    first = script.act(_FIRST, "compute", tr("blocks come"), _blocks(launch.blocks))
    names = tr("multiprocessor"), tr("block"), tr("warp"), tr("lane and address")
    inward = [script.act(_STEP, "load", name, "", line) for name in names]
    script.act(_STAY, "load", tr("one address"), tr("a[{n}]", n=grouped(int(words[lane]))), line)
    back = script.act(_BACK, "intro", tr("the chip again"), "")
    rest = script.act(_REST, "compute", tr("blocks leave"), _blocks(launch.blocks))
    script.act(_END, "result", tr("result"), _blocks(launch.blocks))
    sentences = _sentences(placed, run, shown, lane, words)
    title = _title(placed, launch.blocks)
    acts = begin, first, tuple(inward), back, rest

    def at(t: float) -> Picture:
        now = halt * first.share(t) + (placed.last - halt) * rest.share(t)
        body = rows(
            _chip(placed, now, shown, lane, launch.warps_per_block, words, _depth(t, *acts[2:4])),
            _counted(placed, now, launch.blocks, run),
            TextLine(placed.sources),
        )
        step = script.at(t)[0]
        return Picture(title, sentences[min(step, len(sentences) - 1)], body, sentences)

    return Story.of(script, at, _expected(placed, run, arch))


def _resident(run: Run, arch: Architecture) -> int:
    """Blocks that fit a multiprocessor."""
    registers = run.resources.registers if run.resources else 0
    return occupancy(arch, run.trace.launch.threads_per_block, registers).blocks


def _words(run: Run, shown: int) -> tuple[I64, int]:
    """(32,) elements of `a` that the lanes of warp 0 of the block load, and the line that does."""
    loads = run.trace.of(block=shown, op="load", space="global")
    mine = loads.select(loads.warp == 0)
    first = run.trace.instructions[int(mine.instruction[0])]
    address = mine.address[0].astype(np.int64)
    buffer = run.trace.launch.buffer_at(int(address[0]))
    return (address - (buffer.address if buffer else int(address[0]))) // first.width, first.line


def _depth(t: float, inward: tuple[Act, ...], back: Act) -> float:
    """How far the camera has gone."""
    gone = sum(act.share(t) for act in inward)
    return gone - DEPTHS * back.share(t)


def _chip(
    placed: BlockPlacement, now: float, shown: int, lane: int, warps: int, words: I64, depth: float
) -> Chip:
    """The plan at a time."""
    there = np.flatnonzero((placed.start <= now) & (now < placed.end))
    lasts = placed.end[there] - placed.start[there]
    done = np.bincount(placed.sm[placed.end <= now], minlength=placed.sms)
    return Chip(
        placed.sms,
        placed.slots,
        there,
        placed.sm[there],
        placed.slot[there],
        (now - placed.start[there]) / lasts,
        done,
        shown,
        (int(placed.sm[shown]), int(placed.slot[shown])),
        warps,
        0,
        lane,
        words,
        depth,
    )


def _counted(placed: BlockPlacement, now: float, blocks: int, run: Run) -> FigureRow:
    """What is on the chip, what has left it, and how long that took."""
    here, left = placed.resident(now), placed.left(now)
    if placed.measured:
        passed = f"{now / 1000:.1f}"
        clock = Figure(
            tr("{n} µs since the first began", n=passed), shorter=(tr("after {n} µs", n=passed),)
        )
    else:
        turns = int(placed.last)
        clock = Figure(tr("turn {n} of {all}", n=min(int(now) + 1, turns), all=turns))
    figures = (
        Figure(trn("{n} block here", "{n} blocks here", here, n=grouped(here)), "accent", True),
        clock,
        Figure(tr("{n} of {all} done", n=grouped(left), all=grouped(blocks))),
        Figure(tr("{n} waiting", n=grouped(blocks - here - left)), "muted"),
    )
    ink: Ink = "good" if placed.measured else "accent"
    return FigureRow((*figures, *time_figures(time_of(run))), placed.badge, ink)


def _blocks(count: int) -> str:
    return trn("{n} block", "{n} blocks", count, n=grouped(count))


def _title(placed: BlockPlacement, blocks: int) -> str:
    """Whether the chip is filled."""
    room = placed.sms * placed.slots
    if not placed.measured and blocks <= room:
        what = {"n": grouped(blocks), "sms": placed.sms}
        return tr("{n} blocks leave slots of {sms} multiprocessors empty", **what)
    return tr("{n} blocks pass through {sms} multiprocessors", n=grouped(blocks), sms=placed.sms)


def _sentences(
    placed: BlockPlacement, run: Run, shown: int, lane: int, words: I64
) -> tuple[str, ...]:
    """One for each step."""
    launch = run.trace.launch
    where = {"n": grouped(shown), "sm": placed.sm[shown]}
    on = (
        tr("Block {n} ran on multiprocessor {sm}.", **where)
        if placed.measured
        else tr("By the rule block {n} goes to multiprocessor {sm}.", **where)
    )
    come = (
        tr("As soon as a block leaves, another one takes its slot.")
        if placed.measured
        else tr("Dealt in turn by the usual rule: no GPU has noted where these blocks ran.")
    )
    warps = trn(
        "It has {n} warp of 32 lanes.", "It has {n} warps of 32 lanes.", launch.warps_per_block
    )
    address = tr(
        "Lane {lane} of warp 0 loads a[{n}]; eight neighbours share a sector of 32 bytes.",
        lane=lane,
        n=grouped(int(words[lane])),
    )
    return (
        tr("Each block stays on one multiprocessor from its first thread to its last."),
        come,
        on,
        on,
        warps,
        address,
        address,
        come,
        come,
        _shared_out(placed),
    )


def _shared_out(placed: BlockPlacement) -> str:
    """How many blocks each multiprocessor has run in the end."""
    ran = np.bincount(placed.sm, minlength=placed.sms)
    least, most = grouped(int(ran.min())), grouped(int(ran.max()))
    if least == most:
        return tr("All blocks are done: every multiprocessor has run {n} of them.", n=most)
    what = {"least": least, "most": most}
    return tr("All blocks are done: a multiprocessor has run {least} to {most} of them.", **what)


def _expected(placed: BlockPlacement, run: Run, arch: Architecture) -> str:
    """Turns by arithmetic alone."""
    blocks, fits = run.trace.launch.blocks, _resident(run, arch)
    turns = -(-blocks // max(fits * placed.sms, 1))
    return trn(
        "by arithmetic: {blocks} blocks, {fits} at once on each of {sms}: {n} turn",
        "by arithmetic: {blocks} blocks, {fits} at once on each of {sms}: {n} turns",
        turns,
        blocks=grouped(blocks),
        fits=fits,
        sms=placed.sms,
    )


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, words=WORDS)
