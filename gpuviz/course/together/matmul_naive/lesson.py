"""The naive matrix product: every thread loads its whole row and column from global memory."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from gpuviz.arch.roofline import FLOAT, Roof, a_float, intensity
from gpuviz.course import named
from gpuviz.course.together.matmul_common.block import (
    LASTING,
    SECONDS,
    Moment,
    Multiplication,
    multiplication,
    naive_moments,
)
from gpuviz.course.together.matmul_common.panels import access_table, naive_memory, written
from gpuviz.course.together.matmul_common.phases import cost_of, product_sum, stored, things
from gpuviz.course.together.matmul_common.reads import costs
from gpuviz.course.together.matmul_common.sizes import (
    FILL,
    REAL,
    WATCHED,
    Sizes,
    extents,
    launch,
    preset,
    problem,
    real,
    width,
)
from gpuviz.course.together.matmul_common.tips import number, readers, spaced
from gpuviz.panels.figures import Provenance
from gpuviz.panels.layout import Line as Parts
from gpuviz.panels.layout import Node, at_least, columns, first, rows, share, spare
from gpuviz.panels.lines import Heading, Line, Lines
from gpuviz.panels.panel import Answer
from gpuviz.panels.picture import Picture, longest
from gpuviz.panels.shares import Share, Shares
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Parameter, Plan, Runs, Story, Values
from gpuviz.story.lesson import number as whole
from gpuviz.story.measured import badge_of, time_of
from gpuviz.story.script import Script, pace
from gpuviz.words.language import tr

_DOCUMENT = "GPGPU programming, university course"
_BARS = 36.0  # letters: bars in less have no room for words with their unit
# Its examples: gigabytes a second, and GFLOP/s where it names a peak.
CARDS: Mapping[str, Roof] = {"1000": Roof(1000, 12_000), "150": Roof(150, None)}

LOOK_FOR = (
    "How often the threads of a block load the same elements, and how fast memory lets them work."
)
WORDS = ("request", "sector", "intensity", "roofline", "row-major")

PARAMETERS = (
    *extents(4),
    width((2, 4, 8, 16, 32), "width and height of a block", "block"),
    *WATCHED,
    FILL,
    Parameter(
        "card",
        "memory of the card",
        "1000",
        hint="the document's examples",
        offers={"1000": "1 TB/s, 12 TFLOP/s", "150": "150 GB/s"},
    ),
    REAL,
)

PRESETS = (
    preset("4 × 4, blocks of 2 × 2", (4, 4, 4, 2), (1, 0), card="1000"),
    preset("8 × 8, blocks of 4 × 4", (8, 8, 8, 4), (2, 1), card="1000"),
    preset("10 × 3 times 3 × 5", (10, 3, 5, 4), (2, 1), "twos", card="1000"),
    preset("32 × 32, blocks of 16 × 16, 150 GB/s", (32, 32, 32, 16), (2, 1), card="150"),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """The naive kernel, and the tiled one to compare its ratio with."""
    both = launch(values, "naive"), launch(values, "tiled")
    return *both, real(both[0], whole(values, "real"))


def narrate(values: Values, runs: Runs) -> Story:
    """The story of one block."""
    about = multiplication(values, runs["naive"], runs["tiled"])
    moments = tuple(naive_moments(about.sizes))
    words = tuple(_sentence(about, moment) for moment in moments)
    title, others, script = _title(about), longest(words), _script(about, runs["naive"], moments)
    card, side = CARDS[str(values["card"])], whole(values, "real")
    ratio = _ratios(ratios(about, runs, card, side))

    def at(t: float) -> Picture:
        now, over = script.at(t)
        return Picture(title, words[now], _body(about, moments[now], over, ratio), others)

    return Story.of(script, at, _expected(about.sizes))


def _script(about: Multiplication, run: Run, moments: tuple[Moment, ...]) -> Script:
    """One act a step of the loop, with the requests and transactions of its loads."""
    made, naive = costs(run.trace, about.arch, about.number), about.naive
    each = made.by_step(about.sizes.inner).tolist()
    script = Script("naive", pace((SECONDS[m.part] for m in moments), *LASTING))
    for step, (count, cost) in enumerate(each):
        said = cost_of(naive.load, (count, cost), about.noun)
        script.act(SECONDS["multiply"], "load", f"k = {step}", said, naive.load.line)
    said = cost_of(naive.store, made.of(naive.store), about.noun)
    script.act(SECONDS["store"], "store", tr("store"), said, naive.store.line)
    total = about.totals["naive"]
    moved = things(total.sectors, about.noun)
    loads = tr("{loads} loads · {sectors}", loads=spaced(total.loads), sectors=moved)
    script.act(SECONDS["result"], "result", tr("result"), loads)
    return script


def _loads(about: Multiplication, step: int | None = None) -> tuple[int, int]:
    """Floats that the block loads in a step or in all, and how many different ones these are."""
    steps = slice(None) if step is None else slice(step, step + 1)
    parts = [o.naive_reads[steps] for o in about.operands]
    loaded = [part[part >= 0] for part in parts]
    return sum(map(len, loaded)), sum(len(np.unique(part)) for part in loaded)


def _title(about: Multiplication) -> str:
    """What the block does in all."""
    loads, different = _loads(about)
    if loads == different:
        return tr("One block loads {n} floats, none of them twice", n=spaced(different))
    return tr(
        "One block makes {loads} loads of only {n} floats", loads=spaced(loads), n=spaced(different)
    )


def _sentence(about: Multiplication, moment: Moment) -> str:
    """What the block does now."""
    if moment.part == "multiply":
        loads, different = _loads(about, moment.step)
        what = {"k": moment.step, "loads": loads, "n": different}
        return tr(
            "Step k = {k}: {loads} loads from global memory, of {n} different floats.", **what
        )
    if moment.part == "store":
        return stored(about)
    loads, different = _loads(about)
    return tr(
        "On average each float was asked for {n} times: the kernel keeps nothing for other "
        "threads.",
        n=f"{loads / max(different, 1):.3g}",
    )


def _statement(about: Multiplication, moment: Moment) -> tuple[str, str, str]:
    """What the followed thread does: the statement, who it is, the values."""
    x, y = about.thread
    who = tr("thread ({x},{y})", x=x, y=y)
    if about.element < 0:
        return tr("nothing to do"), tr("{who} is a guard lane", who=who), ""
    who = f"{who} · {tr('as (row, column): ({y},{x})', x=x, y=y)}"
    target = about.written(about.element)
    if moment.step < 0:
        return f"{target} = sum", who, f"{target} = {number(float(about.sums[-1]))}"
    row, column = divmod(about.element, about.sizes.columns)
    added = f"{target} += M[{row}][k] × N[k][{column}]"
    return added, f"k = {moment.step} · {who}", product_sum(about, moment.step)


def _shared_reads(about: Multiplication, moment: Moment) -> Iterator[str]:
    """Which threads load the two elements that the followed thread loads now."""
    if moment.step < 0 or about.element < 0:
        return
    for operand in about.operands:
        reads = operand.naive_reads[moment.step]
        element = int(reads[about.watched])
        who = readers(about, np.flatnonzero(reads == element))
        yield tr("{element} is {who}", element=operand.written(element), who=who)


def expected_loads(sizes: Sizes) -> int:
    """Elements that all threads load: two for each product."""
    return 2 * sizes.rows * sizes.inner * sizes.columns


def _expected(sizes: Sizes) -> str:
    return tr(
        "by arithmetic: {n} elements loaded, two for each multiplication and addition: ratio 1",
        n=spaced(expected_loads(sizes)),
    )


@dataclass(frozen=True)
class Row:
    """One kernel, or what would be needed: operations a float, and GFLOP/s that memory allows."""

    name: str
    ratio: float
    rate: float


@dataclass(frozen=True)
class Ratios:
    """Operations of the product for every float loaded, and the rates that memory then allows.

    `operations` and `loads` are of the naive kernel; `measured` is the badge and the words of what
    a GPU reached, "" when none ran it.
    """

    operations: int
    loads: int
    card: Roof
    rows: tuple[Row, ...]
    measured: tuple[str, tuple[str, ...]]

    @property
    def said(self) -> str:
        """`128 operations / 128 loads = 1`."""
        return tr(
            "{a} operations / {b} loads = {ratio}",
            a=spaced(self.operations),
            b=spaced(self.loads),
            ratio=f"{self.rows[0].ratio:.3g}",
        )


def ratios(about: Multiplication, runs: Runs, card: Roof, side: int) -> Ratios:
    """Both kernels: the operations are those the naive one executes, which makes none in vain."""
    operations, naive, tiled = runs["naive"].trace.flops, *about.totals.values()
    names = tr("naive"), tr("tiles of {n} × {n}", n=about.sizes.tile), tr("needed")
    each = [intensity(operations, FLOAT * max(one.loads, 1)) for one in (naive, tiled)]
    each += [card.ridge] if card.ridge else []
    made = (
        Row(name, a_float(one), card.attainable(one))
        for name, one in zip(names, each, strict=False)
    )
    return Ratios(operations, naive.loads, card, tuple(made), _measured(runs["naive"], side))


def _measured(run: Run, side: int) -> tuple[str, tuple[str, ...]]:
    """Badge and wordings of what a GPU reached at the size people run, and of what its memory would
    allow if every load went there.
    """
    timed, beside = time_of(run), run.companion
    if timed is None or beside is None or beside.measurement is None:
        return "", ()
    reached = 2 * side**3 / timed.microseconds / 1000
    what: dict[str, object] = {"rate": spaced(round(reached)), "size": f"{side} × {side}"}
    said = tr("{rate} GFLOP/s at {size} on {device}", **what, device=timed.device)
    said = ", ".join(filter(None, (said, timed.overhead)))
    peaks = beside.measurement.peaks
    if peaks is None:
        return badge_of([timed]), (said,)
    alone = peaks.bytes_per_second / FLOAT / 1e9
    more = tr("memory alone: {rate}", rate=spaced(round(alone)))
    return badge_of([timed]), (f"{said}; {more}", said)


def _ratios(about: Ratios) -> tuple[Parts, Shares, Answer]:
    """A bar a kernel, as long as its part of the peak: with all sources, alone, or in a line."""
    card, most = about.card, max(row.rate for row in about.rows)
    bars = Shares(
        tuple(
            Share(
                row.name,
                row.rate,
                row.rate,
                _rate(row, card, most),
                (),
                shown=not i,
                ink=("compute", "accent", "good")[i],
                value=f"{row.ratio:.3g}",
            )
            for i, row in enumerate(about.rows)
        )
    )
    names = (
        tr("Operations for every float loaded: {said}", said=about.said),
        tr("Operations for every float loaded"),
        tr("Operations per load"),
    )
    head = Heading(names, badge=tr("model"))
    badge, words = about.measured
    reached = (Provenance(words, badge, "good"),) if badge else ()
    memory = tr("memory allows {rate} GFLOP/s", rate=spaced(about.rows[0].rate))
    brief = tr("FLOP a load: {n}", n=f"{about.rows[0].ratio:.3g}")
    line = Answer(Lines((Line((f"{about.said} · {memory}", about.said, brief), bold=True),)))
    full = rows(Answer(head), bars, Provenance(_published(card)), *reached)
    return full, _headed(bars), line


def _headed(bars: Shares) -> Shares:
    """Bars that stand without their heading: the first says what the numbers before them are."""
    first, *others = bars.bars
    named = replace(first, name=tr("FLOP a load: {n}", n=first.name))
    return Shares((named, *others))


def _rate(row: Row, card: Roof, most: float) -> tuple[str, ...]:
    """What memory allows."""
    rate = tr("{rate} GFLOP/s", rate=spaced(row.rate))
    percent = f"{100 * row.rate / most:.0f}"
    share = tr("{rate} · {percent} % of the peak", rate=rate, percent=percent)
    return (share, rate, spaced(row.rate)) if card.peak else (rate, spaced(row.rate))


def _published(card: Roof) -> tuple[str, ...]:
    """The document's own arithmetic, in more words or less."""
    if card.peak:
        said = tr("1 TB/s brings 250 G floats/s: 250 GFLOP/s at ratio 1, 2 % of 12 TFLOP/s")
        short = tr("1 TB/s, 12 TFLOP/s · {document}", document=_DOCUMENT)
        return f"{said} · {_DOCUMENT}", said, short, "1 TB/s, 12 TFLOP/s"
    said = tr("150 GB/s allow 600 GFLOP/s with tiles of 16 × 16")
    return f"{said} · {_DOCUMENT}", said, "150 GB/s"


def _body(
    about: Multiplication, moment: Moment, over: float, ratio: tuple[Parts, Shares, Answer]
) -> Node:
    """The matrices; what the followed thread does; which elements all threads load; the rates."""
    matrices, said = naive_memory(about, moment, over), _statement(about, moment)
    every, some = (access_table(about, moment, whole) for whole in (True, False))
    reads = tuple(Line((said,), "muted") for said in _shared_reads(about, moment))
    tables = rows(every, spare(share(0.01, Answer(Lines(reads, 3.2)))), gap=0.8), some
    full, bars, line = ratio

    def wide(table: Node, last: Node, high: float) -> Node:
        side = rows(written(said, high), table, last, gap=0.4)
        return columns(matrices, share(1, side), gap=1.8)

    upper = columns(matrices, share(1, rows(share(1, written(said, 4.9)), full)), gap=1.8)
    return first(
        *(at_least(wide(table, full, 4.9), 24, aspect=1.15) for table in tables),
        *(at_least(wide(table, bars, 4.9), 20, aspect=1.15) for table in tables),
        at_least(rows(share(1.3, upper), share(1, some), gap=1.2), 24),
        *(at_least(wide(table, bars, 3.4), 15, width=_BARS) for table in tables),
        wide(some, line, 4.4),
    )


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, problem, WORDS)
