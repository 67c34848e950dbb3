"""A question about any launch, for who looks at it alone: how much its dearest requests take."""

from contextlib import suppress

from gpuviz.arch import architecture
from gpuviz.base.errors import InputError
from gpuviz.lectures.answer import Runs, phases_of
from gpuviz.lectures.cues import moments_of
from gpuviz.lectures.lecture import PHASES, Question
from gpuviz.memory.counts import Count, Kind, cost_of, count_of, find
from gpuviz.memory.units import OPS, SPACES, unit_of
from gpuviz.run.run import Run
from gpuviz.story.lesson import Story
from gpuviz.traces.trace import LANES
from gpuviz.words.language import tr

_FEW = 4  # choices
_CONSTANT: Kind = ("constant", "load")  # a pass for each request at best


def desk_question(runs: Runs, story: Story) -> Question | None:
    """What can be asked of the run that a story begins with, about requests that it shows, where
    one of them takes more than it has to; None where the run makes none of which much differs.

    The choices are the answer, what would be ideal, and what people guess: half, twice, one a lane.
    Where nothing takes more than it has to, and there are mbarriers, it is about their phases.
    """
    drawn = story.steps[0].role if story.steps else ""
    key = next((key for key, run in runs.items() if not run.companion_of), "")
    key = drawn if drawn in runs else key
    if not key:
        return None
    run = runs[key]
    totals = run.counts.totals
    costs = [(_cost(kind, totals), kind) for kind in _kinds(totals)]
    dear = [one for one in costs if one[0][0] > one[0][1] and moments_of(*one[1], story)]
    if run.trace.handovers is not None and all(value <= ideal for (value, ideal), _ in costs):
        with suppress(InputError):
            return _of_phases(run, key)
    if not costs:
        return None
    (value, ideal), kind = max(
        dear or costs, key=lambda one: (one[0][0] / max(one[0][1], 1e-9), one[0][0])
    )
    count = count_of(kind, cost_of(kind[0]))
    several = sum(not one.companion_of for one in runs.values()) > 1
    return Question(_asked(run, kind, several), _choices(value, ideal), count.value, run=key)


def _of_phases(run: Run, key: str) -> Question:
    """How many phases of mbarriers are over in the end."""
    over = phases_of(run)
    choices = sorted({over, 2 * over, max(over // 2, 1), max(over // 8, 1)})
    ask = tr("How many phases of mbarriers does the block that is drawn bring to an end?")
    return Question(ask, tuple(choices), PHASES, run=key)


def _kinds(totals: dict[Count, int]) -> list[Kind]:
    """The kinds of requests that the launch makes, and that have an ideal."""
    ideals = [count for count in Count if count.value.endswith("_ideal")]
    found = [c.kind for c in ideals if totals.get(count_of(c.kind, "requests")) and totals.get(c)]
    return found + [_CONSTANT] * bool(totals.get(count_of(_CONSTANT, "requests")))


def _cost(kind: Kind, totals: dict[Count, int]) -> tuple[float, float]:
    """What a request takes, and would take at best."""
    count = count_of(kind, cost_of(kind[0]))
    requests, best = totals[count_of(kind, "requests")], find(f"{count}_ideal")
    ideal = 1.0 if kind == _CONSTANT else totals[best] / requests if best else 0.0
    return totals[count] / requests, ideal


def _choices(value: float, ideal: float) -> tuple[int | float, ...]:
    """From the least to the most; the answer is among them."""
    guesses = [value, ideal, 2 * value, value / 2, float(LANES), 1.0, 2 * ideal]
    found = list(dict.fromkeys(guess for guess in guesses if guess >= 1 or guess == value))[:_FEW]
    return tuple(int(one) if one == int(one) else one for one in sorted(found))


def _asked(run: Run, kind: Kind, several: bool) -> str:
    """The question; of which kernel, where there are `several` runs."""
    sectors = architecture(run.arch).has_sectors
    space, op = kind
    where = f"{run.trace.launch.kernel}, {tr(SPACES[space])}" if several else tr(SPACES[space])
    return tr(
        "How many {units} does one {op} request of a warp take, on average? ({where})",
        units=unit_of(cost_of(space), sectors).said(),
        op=tr(OPS[op]),
        where=where,
    )
