"""Divergence: groups of lanes take two paths; who is at work while a warp's instructions go out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.base.arrays import I32, I64, Bool
from gpuviz.base.errors import InputError
from gpuviz.course import named
from gpuviz.panels.figures import Figure, FigureRow, Provenance
from gpuviz.panels.lanes_over_time import LanesOverTime, Span
from gpuviz.panels.layout import Part as LayoutPart
from gpuviz.panels.layout import rows, spare
from gpuviz.panels.panel import Ink
from gpuviz.panels.picture import Picture
from gpuviz.panels.shares import Share, Shares
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values, number
from gpuviz.story.lesson import no_such_warp as problem
from gpuviz.story.measured import LaunchTime, time_of
from gpuviz.story.script import Script
from gpuviz.traces.trace import LANES, Path, Stretch, Trace, lane_mask
from gpuviz.words.language import grouped, tr, trn

_KERNEL, _ENTRY = "divergence.cu", "two_paths"
_DRAWN, _TIMED = 1 << 20, 1 << 24  # elements of the launch that is drawn and counted, and timed
_SHOWN, _OTHER = "groups", "compared"
_WHY = ("instructions", "achieved_occupancy")  # counters
_MORE = 1.1  # times as many, or as long: less is about the same
_COMMON, _PATH, _END = 2.0, 4.0, 3.0  # seconds
_INKS: tuple[Ink, ...] = ("barrier", "load", "compute")  # of what is done together, path A, path B

LOOK_FOR = (
    "Which lanes are switched off while a warp takes two paths, and why groups of 32 are free."
)
WORDS = ("divergence", "active-lane", "branch", "branch-efficiency", "path", "warp")

PARAMETERS = (
    Parameter(
        "group",
        "lanes in a group",
        16,
        offers=(1, 2, 4, 8, 16, 32, 64),
        hint="groups take path A and path B in turn",
    ),
    Parameter("first", "repetitions of path A", 12, 1, 24),
    Parameter("second", "repetitions of path B", 12, 1, 24),
    Parameter("threads", "threads per block", 128, offers=(64, 128, 256)),
    Parameter("warp", "warp shown", 0, 0, 7, hint="of block 0"),
)

PRESETS = (
    Preset("Groups of 16", {"group": 16, "first": 12, "second": 12, "threads": 128, "warp": 0}),
    Preset("Groups of 1", {"group": 1, "first": 12, "second": 12, "threads": 128, "warp": 0}),
    Preset("Groups of 32", {"group": 32, "first": 12, "second": 12, "threads": 128, "warp": 0}),
    Preset(
        "A short and a long path", {"group": 8, "first": 2, "second": 16, "threads": 128, "warp": 0}
    ),
)


def compared_with(group: int) -> int:
    """The group size to compare with: whole warps, or half warps when those are shown."""
    return LANES if group < LANES else LANES // 2


def plan(values: Values) -> tuple[Plan, ...]:
    """The launch shown, and one with groups of another size; warps part in one of the two."""
    group = number(values, "group")
    sizes = ((_SHOWN, group), (_OTHER, compared_with(group)))
    drawn = tuple(_launch(role, size, values, _DRAWN) for role, size in sizes)
    return (
        *drawn,
        *(_real(one, size, values) for one, (_, size) in zip(drawn, sizes, strict=True)),
    )


def _launch(role: str, group: int, values: Values, elements: int) -> Plan:
    """Groups of so many lanes take the two paths in turn."""
    threads = number(values, "threads")
    ends = f"i32={values['first']}", f"i32={values['second']}"
    shape = (elements // threads, 1, 1), (threads, 1, 1)
    arguments = (f"f32[{elements}]=rand", f"f32[{elements}]=zeros", f"i32={group}", *ends)
    size = tr("{n} elements", n=grouped(elements))
    return Plan(role, _KERNEL, _ENTRY, *shape, arguments, path=True, size=size, outputs=False)


def _real(drawn: Plan, group: int, values: Values) -> Plan:
    """The same at the size that is timed."""
    made = _launch(drawn.role, group, values, _TIMED)
    return drawn.companion(made.size, made.grid, made.arguments)


@dataclass(frozen=True)
class Part:
    """Rows [start, stop) of a way, in which the same lanes are on the same path (0: on none)."""

    start: int
    stop: int
    path: int


@dataclass(frozen=True, eq=False)
class Way:
    """The way of a warp through a program, one row a stretch of instructions.

    `start` and `count` (P,) are instructions issued before and in each row, `active` (P, 32) the
    lanes at work, `path` (P,) 0 outside the paths, 1 or 2 in them, `line` (P,) of the CUDA source.
    """

    warp: int
    start: I64
    count: I64
    active: Bool
    path: I32
    line: I32

    @cached_property
    def total(self) -> int:
        """Instructions issued."""
        return int(self.count.sum())

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Rows of one path and the same lanes together."""
        bits = np.packbits(self.active, axis=1)
        new = np.any(bits[1:] != bits[:-1], axis=1) | (self.path[1:] != self.path[:-1])
        edges = [0, *(np.flatnonzero(new) + 1).tolist(), len(self.path)]
        return tuple(Part(a, b, int(self.path[a])) for a, b in zip(edges, edges[1:], strict=False))

    def tip(self, row: int, lane: int) -> str:
        """What hovering a lane in a row says."""
        return tr(
            "lane {lane} of warp {warp} · {work}\nline {line} · instructions {a} to {b}",
            lane=lane,
            warp=self.warp,
            work=tr("at work") if self.active[row, lane] else tr("switched off"),
            line=self.line[row],
            a=int(self.start[row]) + 1,
            b=int(self.start[row] + self.count[row]),
        )


def way_of(run: Run, warp: int, sides: Mapping[int, int]) -> Way:
    """The way of a warp of block 0; `sides` says which path the instructions at a pc belong to."""
    mine, text = path_of(run.trace).of(0, warp), run.trace.source.splitlines()
    steps = [run.trace.stretches[i] for i in mine.stretch.tolist()]
    count = np.array([step.count for step in steps], np.int64)
    path = np.array([sides.get(step.pc, 0) for step in steps], np.int32)
    line = np.array([_line(step, text, p) for step, p in zip(steps, path, strict=True)], np.int32)
    return Way(warp, np.cumsum(count) - count, count, lane_mask(mine.active), path, line)


def path_of(trace: Trace) -> Path:
    """The way of the recorded warps."""
    if trace.path is None:
        raise InputError("the run has no path; ask for it in the plan")
    return trace.path


def sides_of(trace: Trace) -> dict[int, int]:
    """The pc of each stretch on one path only, with its path, in a run in which warps part.

    Lanes that part at the first branch are on two sides; what only those of one side execute is
    that side's path. Path A is the one that stands first in the source.
    """
    path, fork = path_of(trace), min(trace.branches, key=lambda b: b.pc).pc
    ends = np.array([s.pc + s.count - 1 for s in trace.stretches])
    by_side: dict[int, set[int]] = {}
    for block, warp in np.unique(np.stack([path.block, path.warp], axis=1), axis=0).tolist():
        mine = path.of(block, warp)
        lanes, stretch = lane_mask(mine.active), mine.stretch
        after = int(np.flatnonzero(ends[stretch] == fork)[0]) + 1
        for lane in range(LANES):
            own = stretch[after:][lanes[after:, lane]]
            by_side.setdefault(int(own[0]), set()).update(own.tolist())
    if len(by_side) != 2:
        return {}
    first, second = sorted(by_side.values(), key=lambda side: _first_line(trace, side))
    shared = first & second
    return {
        trace.stretches[i].pc: number
        for number, side in ((1, first - shared), (2, second - shared))
        for i in side
    }


def _first_line(trace: Trace, stretches: set[int]) -> int:
    return min(line for i in stretches for line in trace.stretches[i].lines)


def _line(step: Stretch, text: list[str], path: int) -> int:
    """The line that stands for a stretch: the body of a path's loop, or its last one."""
    said = [line for line in step.lines if text[line - 1].strip() not in ("}", "{")]
    if not said:
        return 0
    return max(said) if path else said[-1]


@dataclass(frozen=True)
class Cost:
    """A launch with groups of `group` lanes: instructions a warp issues, and `used` of them if all
    lanes were always at work; how many warps came to the fork, how many parted there; the share of
    all branches that no warp parted at.
    """

    group: int
    issued: float
    used: float
    forks: int
    parted: int
    efficiency: float


def cost_of(run: Run, group: int) -> Cost:
    """What a launch costs: instructions that each warp issues, and how many lanes they serve."""
    trace, warps = run.trace, run.trace.launch.warps_per_block * run.trace.launch.blocks
    fork = min(trace.branches, key=lambda b: b.pc)
    ran = sum(b.warps for b in trace.branches)
    split = sum(b.divergent for b in trace.branches)
    return Cost(
        group,
        trace.warp_instructions / warps,
        trace.thread_instructions / (LANES * warps),
        fork.warps,
        fork.divergent,
        (ran - split) / ran,
    )


def narrate(values: Values, runs: Runs) -> Story:
    """The story of one warp."""
    group = number(values, "group")
    parting = runs[_SHOWN if group < LANES else _OTHER].trace
    way = way_of(runs[_SHOWN], number(values, "warp"), sides_of(parting))
    mine, other = cost_of(runs[_SHOWN], group), cost_of(runs[_OTHER], compared_with(group))
    script, spans = _script(way), _spans(way)
    ends = [0.0, *(span.end for span in spans)]
    title, sentence = _title(way), _sentence(mine, other)
    times = _times((mine, runs[_SHOWN]), (other, runs[_OTHER]))

    def at(t: float) -> Picture:
        now = float(np.interp(script.done(t), range(len(ends)), ends))
        unit = tr("instructions of warp {warp}", warp=way.warp)
        body = rows(
            LanesOverTime(way.start, way.count, way.active, now, spans, unit, way.tip),
            Shares((_bar(mine, now / way.total, shown=True), _bar(other, 1.0))),
            _counted(way, mine, now),
            *times,
            spare(_published(), 2),
        )
        return Picture(title, sentence, body)

    return Story.of(script, at, _expected(runs[_SHOWN], group))


def _named(path: int) -> str:
    return (tr("together"), tr("path A"), tr("path B"))[path]


def _script(way: Way) -> Script:
    """One act for each part in which the same lanes are on the same path, then the result."""
    script = Script(_SHOWN)
    for part in way.parts:
        mine = slice(part.start, part.stop)
        lanes, count = int(way.active[part.start].sum()), int(way.count[mine].sum())
        script.act(
            _PATH if part.path else _COMMON,
            "compute" if part.path else "load" if part.start == 0 else "store",
            _named(part.path),
            tr("{n} instructions, {lanes} lanes", n=count, lanes=lanes),
            int(way.line[mine].max()),
        )
    share = 100 * way.active.T.dot(way.count).sum() / (LANES * way.total)
    script.act(
        _END,
        "result",
        tr("result"),
        tr("{share} % of the lane slots at work", share=f"{share:.0f}"),
    )
    return script


def _spans(way: Way) -> tuple[Span, ...]:
    """The parts of the way, named."""
    made = []
    for part in way.parts:
        name, lanes = _named(part.path), int(way.active[part.start].sum())
        names = tr("{name}: {n} lanes", name=name, n=lanes), name, name[-1] if part.path else ""
        last = part.stop - 1
        end = int(way.start[last] + way.count[last])
        made.append(Span(int(way.start[part.start]), end, names, _INKS[part.path]))
    return tuple(made)


def _bar(cost: Cost, grown: float, shown: bool = False) -> Share:
    idle, said = f"{100 * (1 - cost.used / cost.issued):.0f}", f"{cost.issued:.4g}"
    return Share(
        tr("groups of {n}", n=cost.group),
        cost.used,
        cost.issued,
        (tr("{n} PTX instructions a warp", n=said), tr("{n} PTX instructions", n=said), said),
        (tr("{share} % of the lane slots empty", share=idle), tr("{share} % empty", share=idle)),
        grown,
        shown,
    )


def _counted(way: Way, cost: Cost, now: float) -> FigureRow:
    row = max(int(np.searchsorted(way.start, now, side="right")) - 1, 0)
    share = f"{100 * cost.efficiency:.0f}"
    return FigureRow(
        (
            Figure(tr("{n} of 32 lanes at work", n=int(way.active[row].sum())), "accent", True),
            Figure(
                trn(
                    "{some} of {n} warp diverges",
                    "{some} of {n} warps diverge",
                    cost.forks,
                    n=grouped(cost.forks),
                    some=grouped(cost.parted),
                )
            ),
            Figure(tr("{share} % of the branches go one way", share=share)),
        )
    )


def _times(*launches: tuple[Cost, Run]) -> tuple[LayoutPart, ...]:
    """How long both launches took, where a GPU has timed them, and of how many elements."""
    found = [(cost, run, time) for cost, run in launches if (time := time_of(run)) is not None]
    if not found:
        return ()
    said = " · ".join(
        tr("groups of {n}: {time}", n=cost.group, time=time.whole) for cost, _, time in found
    )
    time = found[0][2]
    why = _why_alike([(_counters(run), time) for _, run, time in found])
    texts = f"{said} · {time.size} · {time.where}", f"{said} · {time.size}", said
    return spare(Provenance(texts, time.badge, "good")), *(spare(one, 3) for one in why)


def _counters(run: Run) -> Mapping[str, float]:
    """What the GPU counted of the launch that is timed."""
    found = run.companion.measurement if run.companion else run.measurement
    return found.values() if found is not None else {}


def _why_alike(
    launches: Sequence[tuple[Mapping[str, float], LaunchTime]],
) -> tuple[Provenance, ...]:
    """Why many more instructions cost hardly any time, where counters tell: the launch with few
    leaves slots of warps empty that the other one fills, so new blocks come as fast to both.
    """
    if len(launches) < 2:
        return ()
    told = [[counted.get(name, 0.0) for counted, _ in launches] for name in _WHY]
    (few, many), (slack, full) = map(sorted, told)
    quick, slow = sorted(time.microseconds for _, time in launches)
    fills = min(few, slack) > 0 and many > _MORE * few and full > _MORE * slack
    if not fills or slow > _MORE * quick:
        return ()
    said = {
        "more": f"{100 * (many / few - 1):.0f}",
        "longer": f"{100 * (slow / quick - 1):.0f}",
        "slack": f"{slack:.0f}",
        "full": f"{full:.0f}",
    }
    whole = tr(
        "{more} % more machine instructions executed, {longer} % longer: they fill {full} % of the "
        "slots for warps, not {slack} %, and new blocks come as fast",
        **said,
    )
    brief = tr(
        "{more} % more machine instructions, {longer} % longer: {full} % of the warp slots filled, "
        "not {slack} %",
        **said,
    )
    return (Provenance((whole, brief), launches[0][1].badge, "good"),)


def _published() -> Provenance:
    said = tr("8600 GTS, groups of 512, 16, 8: 14.5, 14.4, 22.1 ms")
    return Provenance(
        (
            tr(
                "{said}: its memory serves half warps · Threads and blocks in detail (2013)",
                said=said,
            ),
            tr("{said} · Threads and blocks in detail (2013)", said=said),
            said,
        )
    )


def _title(way: Way) -> str:
    """Whether the warp splits."""
    if len({p.path for p in way.parts} - {0}) == 2:
        return tr("Two paths in one warp: it takes both, one after the other")
    return tr("All lanes of the warp take the same path, so nobody waits")


def _sentence(mine: Cost, other: Cost) -> str:
    """What it costs beside the other group size."""
    if mine.group < LANES:
        more = 100 * (mine.issued / other.issued - 1)
        return tr(
            "Lanes of the other path wait: {more} % more instructions than with groups of {n}.",
            more=f"{more:.0f}",
            n=other.group,
        )
    return tr(
        "Groups of {n} part between warps, not within them: no lane is switched off.", n=mine.group
    )


def _expected(run: Run, group: int) -> str:
    """How many warps part, by arithmetic alone."""
    launch = run.trace.launch
    warps = launch.warps_per_block * launch.blocks
    what = {"group": group, "n": grouped(warps if group < LANES else 0), "warps": grouped(warps)}
    return tr("by arithmetic: groups of {group} make {n} of {warps} warps diverge", **what)


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, problem, WORDS)
