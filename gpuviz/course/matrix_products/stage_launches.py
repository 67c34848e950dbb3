"""A sum whose tiles go through a ring of stages: its launches, and how long they take."""

from gpuviz.panels.lines import Line
from gpuviz.panels.time_bars import TimeBars
from gpuviz.story.lesson import Parameter, Plan, Runs, Values, number
from gpuviz.story.measured import time_bars, time_of
from gpuviz.traces.trace import LANES, Finding
from gpuviz.words.language import english, grouped, tr, trn

COUNTS = (1, 2, 3, 4)  # of stages
BLOCKS, WORKERS, _TILES = 132, 8, 128  # of the launch that is timed: a block a multiprocessor
DRAWN = 2  # warps that add, of the block that is drawn
_FAULTS = {"none": 0, "overwritten": 1, "unawaited": 2}

STAGES = Parameter(
    "stages",
    "stages",
    3,
    offers=COUNTS,
    compiled=True,
    hint="parts of shared memory that tiles go through in turn",
)
TILES = Parameter("tiles", "tiles", 8, 4, 12, hint="how many the block that is drawn adds up")


def role(stages: int) -> str:
    """The name of the run with so many stages."""
    return english("{n} stage", "{n} stages", stages)


def launches(values: Values, kernel: str, producers: int = 0) -> tuple[Plan, ...]:
    """The sum with each number of stages, small and at real size; the chosen one with its fault.

    Of each block so many warps are `producers`, which only copy.
    """
    fault, plans = _FAULTS[str(values["fault"])], list[Plan]()
    for stages in COUNTS:
        wrong = fault * (stages == number(values, "stages"))
        tiles = number(values, "tiles")
        small = _launch(kernel, stages, wrong, 1, DRAWN, producers, tiles)
        plans.append(small)
        if not wrong:
            large = _launch(kernel, stages, 0, BLOCKS, WORKERS, producers, _TILES)
            more = {"block": large.block, "dynamic_shared": large.dynamic_shared}
            plans.append(small.companion(large.size, large.grid, large.arguments, **more))
    return tuple(plans)


def _launch(
    kernel: str, stages: int, fault: int, blocks: int, workers: int, producers: int, tiles: int
) -> Plan:
    count = 4 * blocks * workers * LANES
    each = trn("{n} tile", "{n} tiles", tiles)
    size = trn("{n} block of {each}", "{n} blocks of {each}", blocks, n=grouped(blocks), each=each)
    return Plan(
        role(stages),
        kernel,
        "sum",
        (blocks, 1, 1),
        ((workers + producers) * LANES, 1, 1),
        (f"f32[{count * tiles}]=rand", f"f32[{count}]=zeros", f"i32={tiles}"),
        (("FAULT", str(fault)), ("STAGES", str(stages))),
        stages * workers * LANES * 16,
        size=size,
        checks=("race",),
    )


def stage_times(runs: Runs, values: Values, over: float) -> TimeBars:
    """How long the sum takes with each number of stages, beside the shared memory of a block."""
    tile = WORKERS * LANES * 16
    return time_bars(
        [(trn("{n} stage", "{n} stages", n), time_of(runs[role(n)])) for n in COUNTS],
        COUNTS.index(number(values, "stages")),
        [tr("{n} bytes shared", n=grouped(n * tile)) for n in COUNTS],
        over,
        picks=[{"stages": n} for n in COUNTS],
    )


def race_words(race: Finding) -> Line:
    """What the race check has found, in words."""
    who = {"a": race.line, "b": race.other_line, "n": grouped(race.count)}
    said = (
        tr("Write after read: line {a} copies over what line {b} reads; {n} words.", **who)
        if "write after read" in race.kind
        else tr("Read after write: line {a} reads what line {b} copies; {n} words.", **who)
    )
    return Line((said,), "bad")
