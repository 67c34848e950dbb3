"""The seven published trials of the square array: what they cost then, and what they cost now."""

from __future__ import annotations

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
from gpuviz.panels.bar import Bar
from gpuviz.panels.figures import Provenance
from gpuviz.panels.layout import rows, spare
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
    """One trial: what block 0 loads, on average for 32 elements (a whole warp's worth).

    Attributes
    ----------
    triple : STRIDE, OFFSET, GROUP_SIZE
    published : ms, None for a trial of one's own
    requests : load requests
    then, bytes_then : transactions and their bytes on the published card's architecture
    now, noun : transactions on the architecture chosen, and what they are called there
    lines : lines that the requests touch there, each request by itself
    first : warp 0's first load, as the published card served it
    """

    triple: Triple
    published: float | None
    requests: float
    then: float
    bytes_then: float
    now: float
    noun: str
    lines: float
    first: Request
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
    if len({_requests(t) for t in trials}) < 2:
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


def _lines(trial: Trial) -> str:
    return _number(trial.lines)


def _requests(trial: Trial) -> str:
    return _number(trial.requests)


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
        of(tr("requests"), _requests, optional=3),
        of((tr("lines touched"), tr("lines")), _lines, optional=2),
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
