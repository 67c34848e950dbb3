"""Histogram: atomics in global memory, in shared memory, and in a copy for each lane."""

from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.base.arrays import I64
from gpuviz.course import named
from gpuviz.course.together.histogram.count import Cost, CountRequests, cost_of, counting_of
from gpuviz.course.together.histogram.queues import Lanes, Queues
from gpuviz.draw.ease import passed, smooth
from gpuviz.memory.units import counted
from gpuviz.panels.figures import Figure, FigureRow
from gpuviz.panels.layout import rows
from gpuviz.panels.picture import Picture
from gpuviz.panels.time_bars import TimeBars
from gpuviz.run.run import Run
from gpuviz.story import lesson as of
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values
from gpuviz.story.measured import time_bars
from gpuviz.story.script import Act, Script, StepKind
from gpuviz.words.language import grouped, tr, trn

_KERNEL = "histogram.cu"
_WAYS = ("global_atomics", "shared_atomics", "privatised")
_LOAD, _TURNS, _TURN, _PAUSE, _REST, _MERGE, _END = 1.5, 6.0, 1.2, 0.8, 5.0, 2.0, 4.0  # seconds
_GAP = 0.5  # letters between the parts of the picture
_FEWEST = 16  # bins that are drawn at least
_SEEN = 16  # of a block's requests after the first, in passing
_REAL = (
    1056,
    128,
)  # blocks and values a thread of the companion: what 132 multiprocessors hold, 8 blocks each

LOOK_FOR = (
    "How lanes that count in the same bin take turns, in global memory, in shared memory, and not "
    "at all."
)
WORDS = ("atomic", "privatisation", "shared-memory", "conflict", "barrier")

PARAMETERS = (
    Parameter(
        "way",
        "counted in",
        "global_atomics",
        offers={
            "global_atomics": "global memory",
            "shared_atomics": "shared memory",
            "privatised": "a copy for each lane",
        },
    ),
    Parameter(
        "used",
        "bins in use",
        64,
        hint="values are spread over so many bins",
        offers=(1, 4, 16, 32, 64, 128),
    ),
    Parameter("values", "values", "rand", offers={"rand": "random", "arange": "in order"}),
    Parameter("bins", "bins", 64, compiled=True, offers=(32, 64, 128)),
    Parameter(
        "copies",
        "copies of each bin",
        32,
        compiled=True,
        hint="where every lane has a copy of its own, or some share one",
        offers=(2, 4, 8, 16, 32),
    ),
    Parameter("each", "values per thread", 32, offers=(8, 32, 128)),
    Parameter("blocks", "blocks", 132, hint="of 128 threads", offers=(4, 32, 132)),
)
_THREADS = 128

PRESETS = (
    Preset("Global atomics", {"way": "global_atomics", "used": 64}),
    Preset("Shared atomics", {"way": "shared_atomics", "used": 64}),
    Preset("A copy for each lane", {"way": "privatised", "used": 64}),
    Preset("One bin for all", {"way": "global_atomics", "used": 1}),
    Preset("One bin, in shared memory", {"way": "shared_atomics", "used": 1}),
)


def problem(values: Values) -> str:
    """Why these values make no sense together, or ""."""
    used, bins = of.number(values, "used"), of.number(values, "bins")
    if used > bins:
        return tr(
            "Values cannot be spread over {used} bins: there are {bins}.", used=used, bins=bins
        )
    return ""


def plan(values: Values) -> tuple[Plan, ...]:
    """All three ways, drawn of half a million values, and timed of seventeen million."""
    shape = of.number(values, "blocks"), of.number(values, "each")
    drawn = tuple(_launch(way, values, *shape) for way in _WAYS)
    return (*drawn, *(_real(plan, values) for plan in drawn))


def _launch(way: str, values: Values, blocks: int, each: int) -> Plan:
    """One way to count the values of so many blocks."""
    bins, count = of.number(values, "bins"), blocks * _THREADS * each
    arguments = (
        f"u32[{count}]={values['values']}",
        f"u32[{bins}]=zeros",
        f"i32={of.number(values, 'used') - 1}",
        f"i32={count}",
    )
    defines = ("BINS", str(bins)), ("COPIES", str(of.number(values, "copies")))
    size = tr("{n} values", n=grouped(count))
    return Plan(way, _KERNEL, way, (blocks, 1, 1), (_THREADS, 1, 1), arguments, defines, size=size)


def _real(drawn: Plan, values: Values) -> Plan:
    """The same at the size that is timed."""
    made = _launch(drawn.entry, values, *_REAL)
    return drawn.companion(made.size, made.grid, made.arguments)


@dataclass(frozen=True)
class _Acts:
    """Stretches of the story: lanes join their queues, the first request is served turn by turn;
    its tokens become bars, the rest of the block's follow, then all blocks are put together.
    """

    load: Act
    turns: Act
    pause: Act
    rest: Act
    merge: Act


def narrate(values: Values, runs: Runs) -> Story:
    """One warp's atomic turn by turn, the rest of the block, all blocks, and the costs."""
    way, bins, used = str(values["way"]), *(of.number(values, n) for n in ("bins", "used"))
    run, arch = runs[way], architecture(runs[way].arch)
    copies = of.number(values, "copies")
    counting = counting_of(run, arch, bins, copies if way == "privatised" else 1)
    costs = tuple(cost_of(runs[name]) for name in _WAYS)
    total = run.outputs["bins"].astype(np.int64)
    title, sentence, over = _title(way, counting), _sentence(counting), _compared(costs)
    script, acts = _script(counting, run, way, over[0])

    def at(t: float) -> Picture:
        if t >= acts.merge.end:
            share = (t - acts.merge.end) / _END
            return Picture(*over, _times(costs, copies, _WAYS.index(way), share))
        served, done = acts.turns.counted(t, counting.turns), _requests(counting, acts, t)
        chart = (
            _queues(counting, total, used, acts, t),
            _counted(counting, total, served, done, acts.merge.share(t)),
        )
        return Picture(title, sentence, rows(*chart, gap=_GAP))

    return Story.of(script, at, _expected(values, run, counting))


def _requests(counting: CountRequests, acts: _Acts, t: float) -> float:
    """The block's requests that are over, the fraction being the one under way."""
    if t < acts.turns.end:
        return 0.0
    return 1.0 + acts.rest.counted(t, len(counting.cell) - 1)


def _queues(counting: CountRequests, total: I64, used: int, acts: _Acts, t: float) -> Queues:
    """The request under way: the first one turn by turn, of the others some in passing."""
    served, done = acts.turns.counted(t, counting.turns), _requests(counting, acts, t)
    request, asked, first = 0, acts.load.share(t), done <= 1
    if not first:
        request, served = _passing(counting, acts.rest.share(t))
        asked = 1.0
    lanes = Lanes(
        counting.active[request],
        counting.bin[request],
        counting.copy[request],
        counting.turn[request],
        asked,
        served,
        lambda lane: _lane_tip(counting, request, lane),
    )
    bins = min(max(used, _FEWEST), counting.bins)
    shape = counting.copies, counting.bins
    counts = counting.counts(served, done).reshape(shape)[:, :bins]
    whole = counting.after[-1].reshape(shape)[:, :bins]
    left = ""
    if bins < counting.bins:
        left = tr("bins {a} to {b} stay empty", a=bins, b=counting.bins - 1)
    merged = acts.merge.share(t)
    return Queues(lanes, first, acts.pause.share(t), counts, whole, total[:bins], merged, left)


def _passing(counting: CountRequests, share: float) -> tuple[int, float]:
    """Which of the requests after the first is seen, and how many of its turns are over."""
    later = len(counting.cell) - 1
    seen = min(later, _SEEN)
    number, part = min(int(share * seen), seen - 1), share * seen
    request = 1 + number * later // seen
    turns = int(counting.turn[request, counting.active[request]].max()) + 1
    return request, turns * min(part - number, 1.0)


def _title(way: str, counting: CountRequests) -> str:
    """What becomes of the first request."""
    turns, cost = counting.turns, cost_in_words(counting, int(counting.cost[0]))
    if counting.locks:
        return tr(
            "{cost} a request at least: what locks cost before 5.0 is not modelled", cost=cost
        )
    if way == "global_atomics":
        if turns == 1:
            return tr("Global atomics: every lane wants a bin of its own")
        return tr("Global atomics: lanes that want the same bin take {n} rounds", n=turns)
    if way == "shared_atomics":
        if turns == 1:
            return tr("Shared atomics: one wavefront counts for all lanes")
        if counting.lanes_meet:
            return tr("Shared atomics: {n} wavefronts, as lanes meet in a bank", n=turns)
        return tr("Shared atomics: {n} wavefronts, as bins meet in a bank", n=turns)
    if turns == 1:
        return tr("A copy for each lane: nobody ever waits")
    return tr("{copies} copies of each bin: {n} wavefronts", copies=counting.copies, n=turns)


def _sentence(counting: CountRequests) -> str:
    """What the block's requests cost."""
    ideal, count = int(counting.ideal.sum()), len(counting.cell)
    cost = cost_in_words(counting, int(counting.cost.sum()))
    if counting.shared:
        return tr(
            "One of the block's {count} atomic requests; together they take {cost} of shared "
            "memory, {ideal} at best.",
            count=grouped(count),
            cost=cost,
            ideal=grouped(ideal),
        )
    return tr(
        "The longest queue of the block's {count} atomic requests; together they take {cost}; "
        "{ideal} would do for values in order.",
        count=count,
        cost=cost,
        ideal=grouped(ideal),
    )


def _compared(costs: tuple[Cost, ...]) -> tuple[str, str]:
    """Title and sentence of the end."""
    _, shared, private = costs
    more = private.wavefronts - shared.wavefronts
    numbers = {
        "a": grouped(private.atomic),
        "b": grouped(shared.atomic),
        "c": grouped(private.around - shared.around),
        "d": grouped(abs(more)),
    }
    said = tr(
        "Copies count in {a} wavefronts instead of {b}, and take {c} more to clear and merge: {d} "
        "more in all.",
        **numbers,
    )
    if more <= 0:
        said = tr(
            "Copies count in {a} wavefronts instead of {b}, and take {c} more to clear and "
            "merge: {d} fewer in all.",
            **numbers,
        )
    return tr("Three places to count in"), said


def _expected(values: Values, run: Run, counting: CountRequests) -> str:
    """Additions in global memory, by arithmetic alone."""
    launch = run.trace.launch
    count = launch.blocks * launch.threads_per_block * of.number(values, "each")
    if counting.shared:
        what = {"bins": counting.bins, "blocks": launch.blocks, "count": grouped(count)}
        return tr(
            "by arithmetic: {bins} × {blocks} additions in global memory instead of {count}", **what
        )
    sectors = expected_sectors(values, architecture(run.arch))
    if sectors is None:
        return tr("by arithmetic: {count} additions in global memory", count=grouped(count))
    return tr("by arithmetic: {n} sectors a request", n=sectors)


def expected_sectors(values: Values, arch: Architecture) -> int | None:
    """Sectors of an atomic request of values in order: a round for each lane of a bin."""
    used = of.number(values, "used")
    if not arch.has_sectors or (values["values"] != "arange" and used > 1):
        return None
    rounds = max(32 // used, 1)
    return rounds * max(min(used, 32) // 8, 1)


def _script(counting: CountRequests, run: Run, way: str, result: str) -> tuple[Script, _Acts]:
    """Load, turns, the rest of the block, all blocks, the costs."""
    did, loaded = counting.instruction, counting.load
    kind: StepKind = "shared" if counting.shared else "store"
    detail = f"{did.text} · {cost_in_words(counting, int(counting.cost[0]))}"
    script = Script(way)
    load = script.act(_LOAD, "load", tr("values"), loaded.text, loaded.line)
    turns = script.series(
        min(counting.turns * _TURN, _TURNS),
        counting.turns,
        kind,
        lambda first, last: turn_name(counting, first + 1),
        detail,
        did.line,
    )
    requests = request_count(len(counting.cell))
    script.act(_PAUSE + _REST, kind, tr("rest of the block"), requests, did.line)
    pause, rest = Act(turns.end, turns.end + _PAUSE), Act(turns.end + _PAUSE, script.end)
    merge = [i for i in run.trace.instructions if i.space == "global" and i.op == "reduction"][-1:]
    line, blocks = merge[0].line if merge else did.line, run.trace.launch.blocks
    merged = script.act(
        _MERGE, "store", tr("all blocks"), trn("{n} block", "{n} blocks", blocks), line
    )
    script.act(_END, "result", tr("result"), result)
    return script, _Acts(load, turns, pause, rest, merged)


def turn_name(counting: CountRequests, number: int) -> str:
    """`round 2` or `wavefront 2`."""
    if counting.shared:
        return tr("wavefront {number}", number=number)
    return tr("round {number}", number=number)


def request_count(number: int) -> str:
    """`32 requests`."""
    return trn("{n} request", "{n} requests", number, n=grouped(number))


def cost_in_words(counting: CountRequests, cost: int) -> str:
    """`2 wavefronts`, or `13 sectors`."""
    return counted("wavefront" if counting.shared else counting.noun, cost)


def _lane_tip(counting: CountRequests, request: int, lane: int) -> str:
    """What hovering a lane says."""
    if not counting.active[request, lane]:
        return tr("lane {lane} · takes no part", lane=lane)
    what = {"lane": lane, "warp": counting.warp[request], "bin": counting.bin[request, lane]}
    where = tr("lane {lane} of warp {warp} counts in bin {bin}", **what)
    return f"{where}\n{turn_name(counting, int(counting.turn[request, lane]) + 1)}"


def _counted(
    counting: CountRequests, total: I64, served: float, done: float, merged: float
) -> FigureRow:
    """What has been counted so far, and what that cost."""
    mine = int(counting.counts(served, done).sum())
    counted = mine + round((int(total.sum()) - mine) * float(smooth(merged)))
    values = Figure(tr("{n} values counted", n=grouped(counted)), "accent", True)
    if done < 1:
        turn = turn_name(counting, min(int(served) + 1, counting.turns))
        return FigureRow((values, Figure(tr("{turn} of {all}", turn=turn, all=counting.turns))))
    over = passed(done)
    return FigureRow(
        (
            values,
            Figure(tr("block 0: {requests}", requests=request_count(over))),
            Figure(cost_in_words(counting, int(counting.cost[:over].sum()))),
            Figure(tr("ideal {n}", n=grouped(int(counting.ideal[:over].sum()))), "muted"),
        )
    )


def _times(costs: tuple[Cost, ...], copies: int, now: int, over: float) -> TimeBars:
    """The ways on one axis of time, `now` being the one shown."""
    names = tr("global memory"), tr("shared memory"), tr("{n} copies in shared memory", n=copies)
    notes = [
        tr("{n} sectors of atomics", n=grouped(cost.sectors))
        if way == "global_atomics"
        else tr("{n} wavefronts", n=grouped(cost.wavefronts))
        for way, cost in zip(_WAYS, costs, strict=True)
    ]
    launches = [(name, cost.time) for name, cost in zip(names, costs, strict=True)]
    return time_bars(launches, now, notes, over, picks=[{"way": way} for way in _WAYS])


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, problem, WORDS)
