"""Latency: a chase of pointers waits; more warps and more chains have more under way."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gpuviz.arch import architecture
from gpuviz.course import named
from gpuviz.course.together.latency_hiding import LINE, Group, UnderWay, clock_ghz, law
from gpuviz.panels.figures import Provenance
from gpuviz.panels.layout import Node, first, rows, share, spare
from gpuviz.panels.picture import Picture, longest
from gpuviz.panels.plot import Plot, PointLabel
from gpuviz.panels.time_bars import TimeBars
from gpuviz.panels.warp_timeline import WarpTimeline
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values, number
from gpuviz.story.measured import no_time, time_bars, time_of
from gpuviz.story.script import Act, Script, line_with
from gpuviz.timing.device import H200
from gpuviz.timing.sample import looked_at
from gpuviz.words.language import grouped, percent, three, tr, trn

_KERNEL, _MULTIPROCESSORS, _WIDEST = "chase.cu", 132, 16  # warps of a block at the most
WARPS, CHAINS = (1, 2, 4, 8, 16, 32, 64), (1, 2, 4, 8)
_ONE, _WARPS, _CHAINS, _LAW, _HOLD, _END = 3.5, 1.1, 1.3, 3.0, 1.5, 4.5  # seconds
_HOPS, _ROUND = 5.5, 100.0  # in view, up to round cycles: as many beside another latency
_FULL = 0.9  # of what more warps would bring, if nothing were in their way

LOOK_FOR = "How much has to be under way at a time for answers that take long to come often."
WORDS = ("latency", "ilp", "tlp", "warp", "cache")

PARAMETERS = (
    Parameter(
        "warps",
        "warps with several chains",
        4,
        offers=WARPS[:-1],
        hint="on a multiprocessor, where each thread follows 1, 2, 4 and 8 chains",
    ),
    Parameter(
        "chains",
        "chains of a thread",
        1,
        compiled=True,
        offers=(1, 2, 4),
        hint="where one warp after another is added",
    ),
    Parameter("most", "warps at the most", 64, offers=(8, 16, 32, 64), small=8),
    Parameter("hops", "elements of a chain", 32, 8, 64, small=12),
)

PRESETS = (
    Preset("One chain each", {"warps": 4, "chains": 1}),
    Preset("Four chains each", {"warps": 4, "chains": 4}),
    Preset("Chains of a single warp", {"warps": 1, "chains": 1}),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """1 to 64 warps on each multiprocessor; then some warps with 1 to 8 chains."""
    hops, chains, warps = (number(values, name) for name in ("hops", "chains", "warps"))
    every = [*((n, chains) for n in _added(values)), *((warps, n) for n in CHAINS)]
    return tuple(_plan(*shape, hops) for shape in dict.fromkeys(every))


def _added(values: Values) -> tuple[int, ...]:
    """1, 2, 4 ... warps."""
    return tuple(n for n in WARPS if n <= number(values, "most"))


def _role(warps: int, chains: int) -> str:
    """`16 × 1`: warps, and chains of each."""
    return f"{warps} × {chains}"


def _plan(warps: int, chains: int, hops: int) -> Plan:
    """So many warps on each multiprocessor of an H200."""
    blocks = _MULTIPROCESSORS * max(1, warps // _WIDEST)
    threads = 32 * min(warps, _WIDEST)
    far = blocks * threads * chains
    return Plan(
        _role(warps, chains),
        _KERNEL,
        "chase",
        (blocks, 1, 1),
        (threads, 1, 1),
        (f"i32[{far * hops}]={far}", f"i32[{blocks * threads}]=zeros", f"i32={hops}"),
        (("CHAINS", str(chains)),),
        size=trn(
            "{n} block of {each} threads, {hops} elements a chain",
            "{n} blocks of {each} threads, {hops} elements a chain",
            blocks,
            each=threads,
            hops=hops,
        ),
        record=looked_at(H200, blocks),
        path=True,
        outputs=False,
        timeline="longest",
    )


@dataclass(frozen=True, eq=False)
class Chase(UnderWay):
    """A launch: `warps` on each multiprocessor, each with chains; as modelled over time."""

    run: Run

    @property
    def chains(self) -> int:
        """Chains of a thread: each has one load under way."""
        return self.each

    @cached_property
    def hop(self) -> float | None:
        """Cycles a hop as measured: from a block's start to its end by the GPU's own timer, without
        the launching; None where nobody noted it, or the clock.
        """
        found = self.run.measurement
        if found is None or found.placement is None or not (clock := clock_ghz(found)):
            return None
        lasted = float(np.median(found.placement.end_ns - found.placement.start_ns))
        return lasted * clock / int(dict(self.run.trace.launch.scalars)["hops"])


@dataclass(frozen=True, eq=False)
class LatencyRuns:
    """All that the pictures select from; `span` cycles of each launch are in view."""

    more: tuple[Chase, ...]
    deeper: tuple[Chase, ...]
    span: float

    @property
    def one(self) -> Chase:
        """The least."""
        return self.more[0]

    def end(self, chase: Chase) -> float:
        """The last cycle of a launch that is in view."""
        return min(self.span, chase.timeline.cycles)

    def full(self, chase: Chase) -> bool:
        """Whether it gets less than it asks for would bring, as its answers take longer."""
        alone = self.one.rate / self.one.warps / self.one.chains
        less = chase.rate < _FULL * alone * chase.warps * chase.chains
        return less and chase.latency * _FULL > self.one.latency

    @property
    def filled(self) -> bool:
        """Whether any of them gets less than it asks for would bring."""
        return any(self.full(one) for one in (*self.more, *self.deeper))


def narrate(values: Values, runs: Runs) -> Story:
    """One warp; more warps; more chains; Little's law."""
    warps, chains = number(values, "warps"), number(values, "chains")
    more = tuple(_chase(runs[_role(n, chains)], n, chains) for n in _added(values))
    deeper = tuple(_chase(runs[_role(warps, n)], warps, n) for n in CHAINS)
    added = [(n, chains) for n in _added(values)]
    script = Script(_role(*added[0]))
    acts = _acts(script, runs, added, [(warps, n) for n in CHAINS])
    known = [one for one in (*more, *deeper) if one]
    if len(known) < len(more) + len(deeper):
        return _unmodelled(script, [(n, runs[_role(n, c)]) for n, c in added])
    begun = known[: len(more)], known[len(more) :]
    span = _ROUND * float(np.ceil(_HOPS * known[0].latency / _ROUND))
    shown = LatencyRuns(tuple(begun[0]), tuple(begun[1]), span)
    every = tuple(_said(shown, one) for one in known)
    others, law, ending = longest(every), acts[-2], acts[-1]

    def at(t: float) -> Picture:
        if t >= ending.start:
            return _times(shown, ending.share(t))
        if t >= law.start:
            return _law(shown, min((t - law.start) / _LAW, 1.0))
        number = next(i for i, act in enumerate(acts) if t < act.end)
        chase = known[number]
        now = acts[number].share(t) * 1.15 * shown.span
        title = _title(shown, chase, number >= len(more))
        return Picture(title, every[number], _timeline(shown, chase, now), others)

    return Story.of(script, at, shown.one.arithmetic)


def _chase(run: Run, warps: int, chains: int) -> Chase | None:
    return None if run.timeline is None else Chase(warps, chains, run.timeline, run)


def _acts(
    script: Script, runs: Runs, added: Sequence[tuple[int, int]], deeper: Sequence[tuple[int, int]]
) -> list[Act]:
    """An act a launch, then the law."""
    line = line_with(runs[script.role].trace.source, "+= next")
    acts = []
    for n, c in added:
        label = trn("{n} warp", "{n} warps", n)
        said = tr("each waits for its answers")
        seconds = _ONE if n == 1 else _WARPS
        acts.append(script.act(seconds, "load", label, said, line, _role(n, c)))
    for n, c in deeper:
        label = trn("{n} chain", "{n} chains", c)
        said = tr("they do not wait for each other")
        acts.append(script.act(_CHAINS, "load", label, said, line, _role(n, c)))
    said = tr("under way = latency × rate")
    acts.append(script.act(_LAW + _HOLD, "compute", tr("Little's law"), said, line))
    acts.append(script.act(_END, "result", tr("result"), tr("how long the launches take"), line))
    return acts


def _title(shown: LatencyRuns, chase: Chase, deeper: bool) -> str:
    """What this launch shows."""
    if chase is shown.one:
        return tr(
            "A warp that follows {chains} waits {percent} of its time",
            chains=trn("{n} chain", "{n} chains", chase.chains),
            percent=percent(chase.waits(shown.end(chase))),
        )
    if shown.full(chase) and chase.rate > 0.8 * max(one.rate for one in shown.more):
        return tr("More under way bring no more: L2 sends what it can, and all wait longer")
    warps = trn("{n} warp", "{n} warps", chase.warps)
    rate = f"{chase.rate:.3g}"
    if deeper and chase.chains > 1:
        what = {"chains": chase.chains, "warps": warps, "rate": rate}
        return tr(
            "{warps}, {chains} chains a thread: {rate} bytes a cycle without another warp", **what
        )
    return tr("{warps}: while one waits, others ask; {rate} bytes a cycle", warps=warps, rate=rate)


def _said(shown: LatencyRuns, chase: Chase) -> str:
    """Its numbers."""
    return tr(
        "Each answer takes {latency} cycles; {n} lines are under way, {rate} bytes come a cycle.",
        latency=f"{chase.latency:.0f}",
        n=chase.lines,
        rate=f"{chase.rate:.3g}",
    )


def _timeline(shown: LatencyRuns, chase: Chase, now: float) -> Node:
    """The first hops of the launch, on one multiprocessor."""
    record = chase.timeline
    end = shown.end(chase)
    panel = WarpTimeline(record, 0.0, end, now=now if now < end else None)
    low = replace(panel, busy=False)
    figures, sources = chase.figures(), (_source(chase), *_measured(chase))
    said = [spare(one, rank) for rank, one in enumerate(sources, 1)]
    return first(*(rows(share(1, one), figures, *said, gap=0.4) for one in (panel, low)))


def _measured(chase: Chase) -> tuple[Provenance, ...]:
    """What a hop takes by the blocks' own timer; the launch as a whole is mostly launching."""
    time = time_of(chase.run)
    if chase.hop is None or time is None:
        return ()
    whole = tr(
        "{device}: {n} cycles a hop, from the start to the end of a block; the launch: {time}",
        device=time.device,
        n=f"{chase.hop:.0f}",
        time=time.whole,
    )
    brief = tr("{device}: {n} cycles a hop", device=time.device, n=f"{chase.hop:.0f}")
    return (Provenance((whole, brief), time.badge, "good"),)


def _source(chase: Chase, sized: bool = True) -> Provenance:
    """What was modelled."""
    where = tr(
        "one multiprocessor of an {device}, the data in L2", device=chase.timeline.device.name
    )
    size = f"{chase.run.size_words}; {where}" if sized else where
    return Provenance((size, where), tr("model"), "accent")


def _law(shown: LatencyRuns, grown: float) -> Picture:
    """All launches: bytes a cycle over bytes under way,"""
    every = (*shown.more, *shown.deeper)
    most = max(every, key=lambda one: one.rate)
    latency = (shown.one if shown.filled else most).latency  # what fills, or what there is
    enough = most.rate * latency
    known = {
        "rate": f"{most.rate:.3g}",
        "latency": f"{latency:.0f}",
        "n": grouped(round(enough)),
        "lines": f"{enough / LINE:.0f}",
    }
    if shown.filled:
        said = tr(
            "{rate} bytes a cycle, {latency} cycles each: {n} bytes under way ({lines} "
            "lines) fill what L2 gives a multiprocessor.",
            **known,
        )
    else:
        said = tr(
            "{rate} bytes a cycle, {latency} cycles each: {n} bytes ({lines} lines) are "
            "under way, and more would bring more.",
            **known,
        )
    title = tr("Little's law: bytes under way = latency × bytes a cycle")
    sources = (_source(shown.one, False), *_beside(every))
    return Picture(title, said, rows(share(1, _plot(shown, grown)), *map(spare, sources)))


def _beside(every: Sequence[Chase]) -> tuple[Provenance, ...]:
    """How far latencies as modelled and hops as measured are apart."""
    hops, model = [one.hop for one in every if one.hop], [one.latency for one in every]
    time = time_of(every[0].run)
    if not hops or time is None:
        return ()
    said = tr(
        "a hop took {least} to {most} cycles, where the model has answers take {few} to {many}",
        least=f"{min(hops):.0f}",
        most=f"{max(hops):.0f}",
        few=f"{min(model):.0f}",
        many=f"{max(model):.0f}",
    )
    return (Provenance((f"{said} · {time.where}", said), time.badge, "good"),)


def _plot(shown: LatencyRuns, grown: float) -> Plot:
    """The slope of one latency, and the roof."""
    few, some = shown.more[0], shown.more[3]
    return law(
        shown.one,
        (Group(shown.more, "accent"), Group(shown.deeper, "good", hollow=True)),
        [
            PointLabel(
                one.under_way,
                one.rate,
                trn("{n} warp", "{n} warps", one.warps),
                "accent",
                answers=True,
                lower=True,
            )
            for one in (few, some)
        ],
        _tip,
        grown,
        tr("discs: more warps · rings: more chains"),
        shown.filled,
    )


def _tip(one: UnderWay) -> str:
    """A launch in words."""
    warps = trn("{n} warp", "{n} warps", one.warps)
    chains = trn("{n} chain", "{n} chains", one.each)
    return f"{warps}, {chains}: " + tr("{n} bytes a cycle", n=f"{one.rate:.3g}")


def _times(shown: LatencyRuns, over: float) -> Picture:
    """Launches of more and more warps on one axis of time, with what they bring."""
    first, last = shown.more[0], shown.more[-1]
    every = [(one.warps, one.run) for one in shown.more]
    bars = _bars(every, [_brings(one) for one in shown.more], over)
    times = [time_of(one.run) for one in (first, last)]
    said = tr("{n} warps ask for as many lines as one after another would.", n=last.warps)
    if not times[0] or not times[1]:
        return Picture(tr("More warps bring more in the same cycles"), said, bars)
    ratio = times[1].microseconds / times[0].microseconds
    what = {"n": f"{last.warps / first.warps:g}", "m": three(ratio)}
    return Picture(tr("{n} times the loads in {m} times the time", **what), said, bars)


def _brings(one: Chase) -> str:
    return tr("{n} bytes a cycle", n=f"{one.rate:.3g}")


def _bars(every: Sequence[tuple[int, Run]], notes: Sequence[str], over: float) -> TimeBars:
    launches = [(trn("{n} warp", "{n} warps", n), time_of(run)) for n, run in every]
    return time_bars(launches, len(every) - 1, notes, over)


def _unmodelled(script: Script, every: Sequence[tuple[int, Run]]) -> Story:
    """Where no time is modelled: what can be under way, and what a GPU measured."""
    arch = architecture(every[0][1].arch)
    notes = [tr("{n} bytes under way, at most", n=grouped(_bytes(run))) for _, run in every]
    title = tr("More warps can have more under way")
    picture = Picture(title, no_time(arch), _bars(every, notes, 1.0))
    return Story.of(script, lambda t: picture)


def _bytes(run: Run) -> int:
    """What all threads of a multiprocessor can have asked for at a time."""
    launch = run.trace.launch
    steps = launch.buffers[0].count // max(int(dict(launch.scalars).get("hops", 1)), 1)
    return 4 * steps // _MULTIPROCESSORS


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, words=WORDS)
