"""Reduction: the sum of a block's elements, four ways, from idle lanes to shuffled registers."""

from collections.abc import Callable
from dataclasses import dataclass

from gpuviz.arch import Architecture, architecture
from gpuviz.course import named
from gpuviz.course.together.reduction import rounds as panel
from gpuviz.course.together.reduction.reduction_rounds import Round, Rounds, rounds_of
from gpuviz.draw.ease import passed
from gpuviz.memory.counts import Count
from gpuviz.panels.figures import Figure, FigureRow
from gpuviz.panels.layout import rows
from gpuviz.panels.picture import Picture
from gpuviz.panels.time_bars import TimeBars
from gpuviz.run.run import Run
from gpuviz.story import lesson as of
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values
from gpuviz.story.measured import LaunchTime, time_bars, time_of
from gpuviz.story.script import Script, StepKind
from gpuviz.traces.trace import LANES
from gpuviz.words.language import grouped, tr

_KERNEL = "reduction.cu"
_WAYS = ("interleaved", "packed", "sequential", "shuffled")
_LOAD, _ROUND, _END = 1.5, 1.7, 4.0  # seconds
_GAP = 0.5  # letters between the parts of the picture
_TIMED = 1 << 24  # elements

LOOK_FOR = (
    "Which lanes are still at work in every step of a sum, and how often the banks are asked."
)
WORDS = ("reduction", "divergence", "bank", "conflict", "shuffle", "barrier")

PARAMETERS = (
    Parameter(
        "way",
        "added",
        "interleaved",
        hint="which thread adds which words",
        offers={
            "interleaved": "neighbours first",
            "packed": "neighbours, by whole warps",
            "sequential": "halves onto halves",
            "shuffled": "by warp shuffles",
        },
    ),
    Parameter(
        "threads",
        "threads per block",
        128,
        compiled=True,
        hint="and elements of its sum",
        offers=(64, 128, 256),
    ),
    Parameter(
        "blocks",
        "blocks",
        1024,
        hint="of the launch that is counted, one of which is drawn",
        offers=(4, 64, 1024, 8192),
    ),
)

PRESETS = (
    Preset("Neighbours first", {"way": "interleaved", "threads": 128}),
    Preset("Whole warps", {"way": "packed", "threads": 128}),
    Preset("Halves", {"way": "sequential", "threads": 128}),
    Preset("Shuffles", {"way": "shuffled", "threads": 128}),
    Preset("Shuffles, blocks of 256", {"way": "shuffled", "threads": 256}),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """All four ways are launched, and timed at a larger size; the story is of one of them."""
    threads, blocks = of.number(values, "threads"), of.number(values, "blocks")
    drawn = tuple(_launch(way, threads, blocks) for way in _WAYS)
    return (*drawn, *(_real(one, threads) for one in drawn))


def _launch(way: str, threads: int, blocks: int) -> Plan:
    """One way to sum the elements of so many blocks."""
    return Plan(
        way,
        _KERNEL,
        way,
        (blocks, 1, 1),
        (threads, 1, 1),
        (f"f32[{threads * blocks}]=rand", f"f32[{blocks}]=zeros"),
        (("THREADS", str(threads)),),
        path=True,
        size=tr("{n} elements", n=grouped(threads * blocks)),
        outputs=False,
    )


def _real(drawn: Plan, threads: int) -> Plan:
    """The same at the size that is timed."""
    made = _launch(drawn.entry, threads, _TIMED // threads)
    return drawn.companion(made.size, made.grid, made.arguments)


@dataclass(frozen=True)
class Cost:
    """What one way of adding costs a block."""

    issued: int
    wavefronts: float
    instructions: float
    time: LaunchTime | None


def cost_of(run: Run, rounds: Rounds) -> Cost:
    """The cost of a launch, a block of it."""
    totals, blocks = run.counts.totals, run.trace.launch.blocks
    return Cost(
        sum(r.issued for r in rounds.steps),
        (totals[Count.SHARED_LOAD_WAVEFRONTS] + totals[Count.SHARED_STORE_WAVEFRONTS]) / blocks,
        run.trace.warp_instructions / blocks,
        time_of(run),
    )


def narrate(values: Values, runs: Runs) -> Story:
    """The rounds of block 0, and what each way costs."""
    way, threads = str(values["way"]), of.number(values, "threads")
    every = {name: rounds_of(runs[name], architecture(runs[name].arch)) for name in _WAYS}
    costs = tuple(cost_of(runs[name], every[name]) for name in _WAYS)
    rounds, now = every[way], _WAYS.index(way)
    script = _script(rounds, runs[way], way)
    title, sentence, drawn = _title(way), _sentence(rounds, costs[now]), _drawn(rounds)
    ended = script.steps[-1].start

    def at(t: float) -> Picture:
        if t >= ended:
            over = (t - ended) / _END
            return Picture(*_compared(costs), _times(costs, now, over))
        done = min(script.done(t), len(drawn))
        places = tr("registers of the threads") if rounds.shuffles else tr("words of the block")
        chart = panel.Rounds(drawn, rounds.places, places, done), _counted(rounds, done)
        return Picture(title, sentence, rows(*chart, gap=_GAP))

    return Story.of(script, at, _expected(way, threads, architecture(runs[way].arch)))


def name_of(rounds: Rounds, number: int) -> str:
    """What a round is called."""
    kind = rounds.rounds[number].kind
    if kind == "add":
        step = sum(r.kind == "add" for r in rounds.rounds[: number + 1])
        return tr("step {n}", n=step)
    return tr("load") if kind == "load" else tr("hand over")


def _drawn(rounds: Rounds) -> tuple[panel.Round, ...]:
    """The rounds as they are drawn."""
    return tuple(
        panel.Round(
            name_of(rounds, number),
            one.thread,
            one.target,
            one.source,
            one.useful,
            one.kind != "load",
            one.kind == "add",
            one.issued,
            one.wavefronts,
            one.ideal,
            _tip(rounds, number),
        )
        for number, one in enumerate(rounds.rounds)
    )


def _tip(rounds: Rounds, number: int) -> Callable[[int], str]:
    """What hovering a place says that a round writes."""
    one = rounds.rounds[number]

    def say(i: int) -> str:
        thread, target, source = int(one.thread[i]), int(one.target[i]), int(one.source[i])
        who = tr("lane {lane} of warp {warp}", lane=thread % LANES, warp=thread // LANES)
        count = tr("a sum of {n} elements", n=rounds.elements[number, target])
        if one.kind == "load":
            return tr("{who} loads element {n}", who=who, n=target)
        if one.kind == "move":
            return tr("{who} takes over place {a}: {count}", who=who, a=source, count=count)
        if not one.useful[i]:
            return tr("{who} adds, too, but nobody uses the sum", who=who)
        return tr(
            "{who} adds place {a} to place {b}: {count}", who=who, a=source, b=target, count=count
        )

    return say


def _title(way: str) -> str:
    """What is to be seen."""
    return {
        "interleaved": tr("Neighbours first: the warps stay, their lanes drop out"),
        "packed": tr("The same sums by whole warps: now lanes collide in the banks"),
        "sequential": tr("Halves onto halves: whole warps, words side by side"),
        "shuffled": tr("Shuffles hand registers on: shared memory is hardly needed"),
    }[way]


def _sentence(rounds: Rounds, cost: Cost) -> str:
    """What the sum costs."""
    adds = sum(r.lanes for r in rounds.steps)
    return tr(
        "{n} additions in {steps} steps: {issued} lanes issued, {waves} wavefronts of "
        "shared memory.",
        n=adds,
        steps=len(rounds.steps),
        issued=cost.issued,
        waves=f"{cost.wavefronts:g}",
    )


def _compared(costs: tuple[Cost, ...]) -> tuple[str, str]:
    """Title and sentence of the end."""
    first, last = costs[0], costs[-1]
    return (
        tr("Four ways to the same sum"),
        tr(
            "A block, from neighbours to shuffles: {a} wavefronts become {b}, {c} PTX "
            "instructions {d}.",
            a=f"{first.wavefronts:g}",
            b=f"{last.wavefronts:g}",
            c=f"{first.instructions:g}",
            d=f"{last.instructions:g}",
        ),
    )


def _script(rounds: Rounds, run: Run, way: str) -> Script:
    """Load, the rounds, and the sum."""
    script = Script(way)
    for number, one in enumerate(rounds.rounds):
        in_registers = rounds.shuffles and one.kind == "add"
        kind: StepKind = "compute" if in_registers else "shared"
        script.act(
            _LOAD if one.kind == "load" else _ROUND,
            "load" if one.kind == "load" else kind,
            name_of(rounds, number),
            _detail(one),
            one.line,
        )
    line = next(i.line for i in run.trace.instructions if i.space == "global" and i.op == "store")
    script.act(_END, "result", tr("result"), tr("one sum a block"), line)
    return script


def _detail(one: Round) -> str:
    """A round in a few words."""
    if one.kind == "load":
        return tr("{n} elements", n=one.lanes)
    if one.kind == "move":
        return tr("{n} words through shared memory", n=one.lanes)
    lanes = tr("{a} of {b} lanes add, {apart} apart", a=one.lanes, b=one.issued, apart=one.apart)
    if not one.wavefronts:
        return lanes
    return tr("{lanes} · {n} wavefronts", lanes=lanes, n=one.wavefronts)


def _expected(way: str, threads: int, arch: Architecture) -> str:
    """What arithmetic alone says of a block."""
    steps = threads.bit_length() - 1
    additions = tr("by arithmetic: {n} additions in {steps} steps", n=threads - 1, steps=steps)
    if not arch.has_sectors:  # banks of other widths, or half warps: another rule
        return additions
    waves = expected_wavefronts(way, threads)
    return tr("{additions}, {n} wavefronts a block", additions=additions, n=waves)


def expected_wavefronts(way: str, threads: int) -> int:
    """Wavefronts of a block with 32 banks of 32 bits.

    A step is two loads and a store: one wavefront for each warp that takes part, times the lanes
    that meet in a bank. Around it, a store of each warp and the load of the sum (or of all sums of
    the warps).
    """
    warps = threads // LANES
    if way == "shuffled":
        return warps + 1
    aparts = [1 << k for k in range(threads.bit_length() - 1)]
    adders = [threads // (2 * apart) for apart in aparts]
    each = {
        "interleaved": [min(warps, n) for n in adders],
        "packed": [
            max(n * min(2 * a, LANES) // LANES, 1) for n, a in zip(adders, aparts, strict=True)
        ],
        "sequential": [max(n // LANES, 1) for n in adders],
    }[way]
    return 3 * sum(each) + warps + 1


def _counted(rounds: Rounds, done: float) -> FigureRow:
    """What has happened so far, in numbers that tick."""
    some = rounds.rounds[: passed(done)]
    waves = sum(r.wavefronts for r in some)
    extra = waves - sum(r.ideal for r in some)
    adding = [r for r in some if r.kind == "add"]
    return FigureRow(
        (
            Figure(tr("{n} additions", n=sum(r.lanes for r in adding)), "accent", True),
            Figure(tr("{n} lanes issued for them", n=sum(r.issued for r in adding))),
            Figure(tr("{n} wavefronts", n=waves)),
            Figure(tr("{n} of them by conflicts", n=extra), "warn" if extra else "muted"),
        )
    )


def _times(costs: tuple[Cost, ...], now: int, over: float) -> TimeBars:
    """The ways on one axis of time, `now` being the one shown."""
    whole, shuffles = tr("neighbours, whole warps"), tr("warp shuffles")
    names = tr("neighbours first"), whole, tr("halves onto halves"), shuffles
    notes = list[tuple[str, ...]]()
    for cost in costs:
        waves = tr("{n} wavefronts a block", n=f"{cost.wavefronts:g}")
        both = f"{waves} · {tr('{n} PTX instructions', n=f'{cost.instructions:g}')}"
        lanes = tr("{n} lanes issued for them", n=cost.issued)
        notes.append((f"{both} · {lanes}", both, waves))
    launches = [(name, cost.time) for name, cost in zip(names, costs, strict=True)]
    return time_bars(launches, now, notes, over, picks=[{"way": way} for way in _WAYS])


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, words=WORDS)
