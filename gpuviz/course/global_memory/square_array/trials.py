"""The seven published trials of the square array, then and now; what threads take in each turn."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import ClassVar, NamedTuple

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.base.arrays import F32, I64
from gpuviz.draw.heading import at, label
from gpuviz.draw.layout import Rect, centers, first_fitting, grid
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.memory.coalescing import transactions
from gpuviz.memory.request import Request, requests_of
from gpuviz.memory.units import counted, nouns
from gpuviz.panels.address_map import AddressMap
from gpuviz.panels.bar import Bar
from gpuviz.panels.figures import Provenance
from gpuviz.panels.layout import rows, spare
from gpuviz.panels.panel import Need, Panel
from gpuviz.panels.picture import Picture
from gpuviz.panels.table import Columns, Table
from gpuviz.run.run import Run
from gpuviz.story.lesson import Story
from gpuviz.story.measured import LaunchTime, time_column, time_of
from gpuviz.story.requests.sentences import verdict
from gpuviz.story.script import Script
from gpuviz.traces.trace import LANES, Trace, lane_mask
from gpuviz.words.language import grouped, tr

_SEND, _SERVE, _REST, _END = 0.5, 1.3, 0.4, 3.5  # seconds of a trial, and for the result
_GAP = 0.3  # letters
_APART = 1.1  # times that differ by more are told apart
Triple = tuple[int, int, int]  # STRIDE, OFFSET, GROUP_SIZE
# "Threads and blocks in detail" (2013): mean of 1000 launches on a GeForce 8600 GTS, in ms.
PUBLISHED: Mapping[Triple, float] = {
    (32, 0, 512): 14.5,
    (16, 0, 512): 14.7,
    (8, 0, 512): 86.0,
    (32, 1, 512): 93.5,
    (32, 0, 16): 14.4,
    (32, 0, 8): 22.1,
    (8, 1, 8): 85.5,
}
_PUBLISHED_SIZE = 1 << 25  # elements
THEN = architecture("sm_11")  # of the GeForce 8600 GTS


@dataclass(frozen=True, eq=False)
class Trial:
    """One trial: what block 0 loads, on average for 32 elements (a whole warp's worth)."""

    triple: Triple  # STRIDE, OFFSET, GROUP_SIZE
    published: float | None  # ms, None for a trial of one's own
    requests: float  # load requests
    # then, bytes_then: transactions and their bytes on the published card's architecture.
    then: float
    bytes_then: float
    # now, noun: transactions on the architecture chosen, and what they are called there.
    now: float
    noun: str
    lines: float  # lines that the requests touch there, each request by itself
    first: Request  # warp 0's first load, as the published card served it
    time: LaunchTime | None


def trial_of(triple: Triple, run: Run) -> Trial:
    """One trial, counted from the requests of block 0."""
    arch, before = architecture(run.arch), loads(run.trace, THEN)
    here = loads(run.trace, arch)
    noun = requests_of(run.trace, arch, 0, 0)[0].noun
    first = requests_of(run.trace, THEN, 0, 0)[0]
    return Trial(
        triple,
        PUBLISHED.get(triple),
        here.requests,
        before.transactions,
        before.moved,
        here.transactions,
        noun,
        here.lines,
        first,
        time_of(run),
    )


class Loads(NamedTuple):
    """What block 0 loads, for every 32 elements of it: requests, transactions, bytes, lines."""

    requests: float
    transactions: float
    moved: float
    lines: float


def loads(trace: Trace, arch: Architecture) -> Loads:
    """The loads of block 0 under an architecture's rules."""
    rows = trace.of(block=0, space="global", op="load")
    active = lane_mask(rows.active)
    cost = transactions(arch, rows.address, active, 4)
    share = LANES / int(active.sum())
    found = len(rows), cost.count.sum(), cost.moved.sum(), cost.lines.sum()
    return Loads(*(int(n) * share for n in found))


def alike(trials: tuple[Trial, ...]) -> bool:
    """Whether all trials cost the same number of transactions on the architecture chosen."""
    return len(np.unique([t.now for t in trials])) == 1


def role_of(triple: Triple) -> str:
    """The name of a trial's run."""
    return "({}, {}, {})".format(*triple)


def tell_trials(trials: tuple[Trial, ...], arch: Architecture, elements: int) -> Story:
    """One trial after another, then what is left of their differences."""
    title = tr("Trials on a GeForce 8600 GTS: time follows the segments moved")
    script = Script(role_of(trials[0].triple))
    acts = []
    for trial in trials:
        detail = tr("{then} segments for 32 elements under CC 1.1", then=f"{trial.then:g}")
        role, line = role_of(trial.triple), trial.first.instruction.line
        acts.append(script.act(_SEND + _SERVE + _REST, "load", role, detail, line, role))
    today = _today(trials, arch)
    script.act(_END, "result", tr("result"), today)
    said = (*(verdict(trial.first) for trial in trials), today)

    def at(t: float) -> Picture:
        now = next((i for i, act in enumerate(acts) if t < act.end), None)
        shown = len(trials) - 1 if now is None else now
        first = trials[shown].first
        send, rest = acts[shown].cut(_SEND)
        served = rest.cut(_SERVE)[0].counted(t, first.count)
        body = rows(
            spare(AddressMap(first, send.share(t), served)),
            _trial_table(trials, arch, now, shown + 1),
            _sources(elements),
            gap=_GAP,
        )
        return Picture(title, said[-1 if now is None else now], body, said)

    expected = tr(
        "published (\u201cThreads and blocks in detail\u201d, GeForce 8600 GTS, 2^25 "
        "elements, mean of 1000): {times} ms",
        times=", ".join(f"{role_of(t)} {ms}" for t, ms in PUBLISHED.items()),
    )
    return Story.of(script, at, expected, today)


def _today(trials: tuple[Trial, ...], arch: Architecture) -> str:
    """What the architecture chosen makes of the trials."""
    if arch.needs_order:
        return tr("Half warps in order take a segment each; all others one a lane.")
    if alike(trials):
        said = tr(
            "Under {arch} all trials load the same {count} for 32 elements: order and start "
            "no longer matter.",
            arch=str(arch),
            count=counted(trials[0].noun, round(trials[0].now)),
        )
        return f"{said} {_why_unlike(trials)}".strip()
    return tr("Under {arch} the trials differ less.", arch=str(arch))


def _why_unlike(trials: tuple[Trial, ...]) -> str:
    """Why trials that move the same take unequal times, as far as counts tell it."""
    times = [t.time.microseconds for t in trials if t.time]
    if len(times) < len(trials) or max(times) < _APART * min(times):
        return ""
    if len({_number(t.requests) for t in trials}) < 2:
        said = tr("Times differ with the lines that are touched.")
    else:
        said = tr("Times differ with the lines touched, and a parted warp asks twice.")
    pairs = combinations(zip(trials, times, strict=True), 2)
    unlike = [(a, b) for (a, s), (b, t) in pairs if _same(a, b) and max(s, t) > _APART * min(s, t)]
    if not unlike:
        return said
    a, b = (role_of(one.triple) for one in unlike[0])
    return f"{said} " + tr("What parts {a} from {b} no count tells.", a=a, b=b)


def _same(one: Trial, other: Trial) -> bool:
    """Whether two trials cost the same in every count."""
    return (one.requests, one.now, one.lines) == (other.requests, other.now, other.lines)


def _trial_table(
    trials: tuple[Trial, ...], arch: Architecture, now: int | None, shown: int
) -> Table:
    """What the trials cost then and now; the times only where there are any."""
    of, model = Columns(trials), tr("model")
    what = tr("{what}, {arch}", what=nouns(trials[0].noun), arch=f"CC {arch.version}")
    asked = 4 * LANES

    def published(trial: Trial) -> str | None:
        return None if trial.published is None else f"{trial.published:.1f} ms"

    def bars(trial: Trial) -> tuple[Bar, Bar]:
        then = Bar(trial.published or 0.0, ink="compute")
        return then, Bar(asked, trial.bytes_then - asked, ink="accent")

    made = (
        of("STRIDE", lambda t: t.triple[0], given=True),
        of("OFFSET", lambda t: t.triple[1], given=True),
        of("GROUP_SIZE", lambda t: t.triple[2], given=True),
        of(tr("8600 GTS"), published, badge=tr("published"), ink="muted", bold=True),
        of(tr("segments, CC 1.1"), lambda t: _number(t.then), badge=model, bold=True),
        of.bars(tr("above: ms, below: bytes moved"), bars, wide=6.0),
        of(what, lambda t: _number(t.now), badge=model, bold=True),
        of(tr("requests"), lambda t: _number(t.requests), optional=3),
        of((tr("lines touched"), tr("lines")), lambda t: _number(t.lines), optional=2),
        *time_column([t.time for t in trials], named=True),
    )
    return Table(made, now, shown)


def _number(value: float) -> str:
    """At most one decimal, none when whole."""
    return f"{value:.1f}".removesuffix(".0")


def _sources(elements: int) -> Provenance:
    """Where the published times are from, and how large our array is."""
    if elements == _PUBLISHED_SIZE:
        return Provenance(
            (
                tr(
                    "“Threads and blocks in detail” (2013): GeForce 8600 GTS, 2^25 elements, mean "
                    "of 1000 launches · here 2^25 elements, too"
                ),
                tr("“Threads and blocks in detail”, 8600 GTS · 2^25 elements there and here"),
                tr("2^25 elements there and here"),
            )
        )
    n = grouped(elements)
    return Provenance(
        (
            tr(
                "“Threads and blocks in detail” (2013): GeForce 8600 GTS, 2^25 elements, mean of "
                "1000 launches · here {n} elements",
                n=n,
            ),
            tr("“Threads and blocks in detail”, 8600 GTS, 2^25 elements · here {n}", n=n),
            tr("2^25 elements on a GeForce 8600 GTS · here {n}", n=n),
        )
    )


_COLUMN_GAP = 3.0  # pixels between columns
_CAPTION, _HEAD, _ROW = 1.6, 2.2, 1.4  # letters high
_LEAST = 6  # rows


@dataclass(frozen=True, eq=False)
class TurnTable(Panel):
    """`taken` (I, T) by each thread in each turn, of which `now` are over."""

    share: ClassVar[float] = 1.0
    taken: I64
    lane: I64  # (T,) lane whose colour each thread has
    now: float
    captions: tuple[str, ...]  # what the numbers are, wordings from the longest
    # thread_tip, tip: hover texts of a thread, and of what is taken in a turn by a thread.
    thread_tip: Callable[[int], str]
    tip: Callable[[int, int], str]

    def need(self, stage: Stage, width: float) -> Need:
        """A few rows, all columns."""
        size = stage.text(14)
        column = text_width(str(int(self.taken.max())), size, True) + size * 0.6
        wide = _names(stage) + len(self.lane) * column
        high = (_CAPTION + _HEAD + _ROW * _LEAST) * size
        return Need(high, high, wide)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Caption, threads, and the turns there is room for."""
        size, palette = stage.text(14), stage.palette
        caption, rest = area.above(size * _CAPTION)
        first, body = rest.above(size * (_HEAD - 0.3), size * 0.3)
        text = first_fitting(self.captions, caption.width, size)
        yield label(caption.x, caption.y + size * 0.5, text, palette.muted, size)
        head = self._cells(stage, first)
        fill = palette.lanes[self.lane]
        numbers = tuple(map(str, range(len(self.lane))))
        yield label(first.x, first.center[1], tr("thread"), palette.muted, size)
        yield Boxes(head, fill, radius=4, tip=self.thread_tip)
        yield Texts(centers(head), numbers, palette.ink_on(fill), size, "center", bold=True)
        yield Boxes(Rect(body.x, body.y - size * 0.15, body.width, 1).array(), palette.border)
        yield from self._body(stage, body)

    def _body(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        size, palette = stage.text(14), stage.palette
        turns = _shown(len(self.taken), self.now, int(area.height / (size * _ROW)))
        high = min(area.height / len(turns), size * 2.0)
        for place, turn in enumerate(turns):
            row = Rect(area.x, area.y + place * high, area.width, high)
            if turn < 0:
                middle = at(row.x + _names(stage) / 2, row.center[1])
                yield Texts(middle, ("…",), palette.faint, size, "center")
                continue
            under_way = turn == int(self.now)
            if under_way:
                yield Boxes(row.inset(-4, 1).array(), palette.accent_soft, radius=5)
            yield from self._row(stage, row, turn, under_way)

    def _row(self, stage: Stage, row: Rect, turn: int, under_way: bool) -> Iterator[Mark]:
        """One turn: its number, and what is taken, dim until its time has come."""
        size, palette = stage.text(14), stage.palette
        middle = at(row.x + _names(stage) / 2 - size * 0.4, row.center[1])
        name = palette.ink if under_way else palette.muted
        yield Texts(middle, (str(turn),), name, size, "center")
        ink = palette.ink if turn < self.now else palette.faint
        cells = centers(self._cells(stage, row))
        words, tip = tuple(map(str, self.taken[turn].tolist())), partial(self.tip, turn)
        yield Texts(cells, words, ink, size, "center", bold=under_way, tip=tip)

    def _cells(self, stage: Stage, row: Rect) -> F32:
        return grid(row.beside(_names(stage))[1], 1, len(self.lane), _COLUMN_GAP)


def _names(stage: Stage) -> float:
    """The width of the column of turns."""
    size = stage.text(14)
    return text_width(tr("thread"), size) + size * 0.8


def _shown(count: int, now: float, room: int) -> list[int]:
    """Turns whose rows are shown; -1 where some are left out.

    The first ones and the last one always are; the one under way is, wherever it is.
    """
    if room >= count:
        return list(range(count))
    first = max(room - 4, 1)
    current = min(int(now), count - 1)
    if current < first + 1 or current >= count - 2:
        return [*range(first + 1), -1, count - 2, count - 1]
    return [*range(first), -1, current, -1, count - 1]
