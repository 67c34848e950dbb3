"""The seven published trials of the square array, then and now."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.memory.coalescing import transactions
from gpuviz.memory.request import Request, requests_of
from gpuviz.memory.units import counted, nouns
from gpuviz.panels.address_map import AddressMap
from gpuviz.panels.figures import Figure, FigureRow
from gpuviz.panels.layout import rows
from gpuviz.panels.picture import Picture
from gpuviz.panels.time_bars import TimeBars
from gpuviz.run.run import Run
from gpuviz.story.lesson import Story
from gpuviz.story.measured import LaunchTime, time_bars, time_of
from gpuviz.story.requests.sentences import verdict
from gpuviz.story.script import Script
from gpuviz.traces.trace import LANES, Trace, lane_mask
from gpuviz.words.language import three, tr

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


def tell_trials(trials: tuple[Trial, ...], arch: Architecture) -> Story:
    """One trial after another, then what is left of their differences."""
    title = tr("Trials on a GeForce 8600 GTS: time follows the segments moved")
    script = Script(role_of(trials[0].triple))
    acts = []
    for trial in trials:
        detail = tr("{then} segments for 32 elements under CC 1.1", then=f"{trial.then:g}")
        role, line = role_of(trial.triple), trial.first.instruction.line
        acts.append(script.act(_SEND + _SERVE + _REST, "load", role, detail, line, role))
    today = _today(trials, arch)
    ending = script.act(_END, "result", tr("result"), today)
    ends, times = (
        tr("The same trials on {arch}", arch=str(arch)),
        [t.time for t in trials if t.time],
    )
    if alike(trials) and times:
        us = sorted(time.microseconds for time in times)
        ratio = three(us[-1] / us[0])
        ends = tr("As many bytes each now; the slowest takes {n} times as long", n=ratio)
    said = (*(verdict(trial.first) for trial in trials), today)

    def at(t: float) -> Picture:
        now = next((i for i, act in enumerate(acts) if t < act.end), None)
        if now is None:
            return Picture(ends, today, _times(trials, ending.share(t)), said)
        shown, first = trials[now], trials[now].first
        send, rest = acts[now].cut(_SEND)
        served = rest.cut(_SERVE)[0].counted(t, first.count)
        figures = (
            Figure(role_of(shown.triple), bold=True),
            Figure(tr("{n} segments for 32 elements", n=_number(shown.then)), "accent"),
        )
        body = rows(AddressMap(first, send.share(t), served), FigureRow(figures), gap=_GAP)
        return Picture(title, said[now], body, said)

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


def _long(triple: Triple) -> str:
    stride, offset, group = triple
    what = {"stride": stride, "offset": offset, "group": group}
    return tr("stride {stride}, offset {offset}, groups of {group}", **what)


def _times(trials: tuple[Trial, ...], over: float) -> TimeBars:
    """The trials on one axis of time, with what they ask for."""
    names = [(_long(t.triple), role_of(t.triple)) for t in trials]
    notes = []
    for trial in trials:
        cost = tr("{n} {nouns}", n=_number(trial.now), nouns=nouns(trial.noun))
        lines = tr("{n} lines for 32 elements", n=_number(trial.lines))
        notes.append((f"{cost}, {lines}", cost))
    pairs = zip(names, (trial.time for trial in trials), strict=True)
    return time_bars(pairs, None, notes, over)


def _number(value: float) -> str:
    """At most one decimal, none when whole."""
    return f"{value:.1f}".removesuffix(".0")
