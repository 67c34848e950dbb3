"""Sizes that are no multiple of the tile: guard lanes and zeros, and a phase count rounded down."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpuviz.course import named
from gpuviz.course.together.matmul_common.block import (
    LASTING,
    SECONDS,
    Moment,
    Multiplication,
    multiplication,
)
from gpuviz.course.together.matmul_common.block import moments as moments_of
from gpuviz.course.together.matmul_common.panels import (
    arranged,
    at_work,
    moving,
    tiled_memory,
    tiles,
    track,
)
from gpuviz.course.together.matmul_common.phases import act, sentence, statement
from gpuviz.course.together.matmul_common.results import Outcome, outcome, verdict
from gpuviz.course.together.matmul_common.results import values as elements
from gpuviz.course.together.matmul_common.sizes import (
    FILL,
    WATCHED,
    Sizes,
    extents,
    launch,
    preset,
    real,
    sizes_of,
    width,
)
from gpuviz.course.together.matmul_common.sizes import problem as no_such_thread
from gpuviz.course.together.matmul_common.tips import number
from gpuviz.panels.grid import Grids
from gpuviz.panels.layout import Node
from gpuviz.panels.picture import Picture, longest
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Plan, Runs, Story, Values
from gpuviz.story.measured import time_bars, time_of
from gpuviz.story.script import Script, pace
from gpuviz.words.language import tr, trn

_DOWN, _UP = "rounded down", "rounded up"
_END = 4.5  # seconds
_REAL = 1000  # no multiple of any tile that is timed but 8

LOOK_FOR = (
    "What guard lanes put into partial tiles, and which elements are wrong when a tile is dropped."
)
WORDS = ("guard", "active-lane", "tile", "phase", "maximum-difference")

PARAMETERS = (
    *extents(3),
    width((2, 4, 8, 16), "width of a block and of its tiles"),
    *WATCHED,
    FILL,
)

PRESETS = (
    preset("3 × 3, tile 2", (3, 3, 3, 2), (1, 0)),
    preset("10 × 3 times 3 × 5, tile 2", (10, 3, 5, 2), (1, 0), "twos"),
    preset("9 × 10 times 10 × 6, tile 4", (9, 10, 6, 4), (2, 1)),
    preset("4 × 4, tile 2: nothing to drop", (4, 4, 4, 2), (1, 0)),
)


def problem(values: Values) -> str:
    """Why these values make no sense together, or ""."""
    sizes = sizes_of(values)
    if sizes.inner < sizes.tile:
        return trn(
            "With {n} column of M and tiles of {tile} the count rounded down is 0: "
            "make M at least {tile} wide.",
            "With {n} columns of M and tiles of {tile} the count rounded down is 0: "
            "make M at least {tile} wide.",
            sizes.inner,
            tile=sizes.tile,
        )
    return no_such_thread(values)


def plan(values: Values) -> tuple[Plan, ...]:
    """The kernel that rounds down, the mended one, and the naive one for what a block needs."""
    tiled = launch(values, "tiled")
    down = replace(tiled, role=_DOWN, defines=(*tiled.defines, ("ROUND_DOWN", "1")))
    both = down, replace(tiled, role=_UP)
    return *both, launch(values, "naive"), *(real(one, _REAL) for one in both)


@dataclass(frozen=True, eq=False)
class Scene:
    """A moment of one of the two kernels, and which of their results are known by then."""

    about: Multiplication
    moment: Moment
    role: str
    known: tuple[bool, bool]

    @property
    def after(self) -> bool:
        """Whether all phases are over."""
        return self.moment.part in ("store", "result")


def narrate(values: Values, runs: Runs) -> Story:
    """The wrong kernel to its end, then what the mended one does more."""
    down, up = (multiplication(values, runs["naive"], runs[role]) for role in (_DOWN, _UP))
    names = (tr("rounded down"), tr("down")), (tr("rounded up"), tr("up"))
    results = tuple(
        outcome(name, about.product, about.m.value, about.n.value)
        for name, about in zip(names, (down, up), strict=True)
    )
    pair = list(zip(results, (runs[_DOWN], runs[_UP]), strict=True))
    scenes = tuple(_scenes(down, up))
    script = _script(scenes, down, up, results)
    words = tuple(_sentence(scene, results) for scene in scenes)
    title, others = _title(results[0]), longest(words)
    ending = script.act(_END, "result", tr("result"), tr("how long both take"))

    def at(t: float) -> Picture:
        now, over = script.at(t)
        if now == len(scenes):
            return _times(pair, ending.share(t))
        scene = scenes[now]
        body = _body(scene, results, over, (verdict(results, scene.known),) * 3)
        moves = moving(scene.about, scene.moment, over)
        return Picture(title, words[now], body, others, moving=moves)

    return Story.of(script, at, _expected(down.sizes, results))


def _times(pair: list[tuple[Outcome, Run]], over: float) -> Picture:
    """Both kernels on one axis of time, with what they leave wrong in the pictures."""
    found = [(one.names, time_of(run)) for one, run in pair]
    bars = time_bars(found, 1, [one.said for one, _ in pair], over)
    down, up = (time for _, time in found)
    text = tr("The block that is drawn is small; the times are of a product that people run.")
    if down is None or up is None:
        return Picture(tr("What guarding the edge costs"), text, bars)
    more = f"{100 * (up.microseconds / down.microseconds - 1):.1f} %"
    return Picture(tr("To be right takes {n} more time", n=more), text, bars)


def _scenes(down: Multiplication, up: Multiplication) -> Iterator[Scene]:
    """All moments of the first, and of the second those after the phases both make."""
    for moment in moments_of(down.sizes, down.phases):
        over = moment.part == "result"
        yield Scene(down, moment, _DOWN, (over, over and up.phases == down.phases))
    if up.phases > down.phases:
        for moment in moments_of(up.sizes):
            if moment.phase >= down.phases:
                yield Scene(up, moment, _UP, (True, moment.part == "result"))


def _script(
    scenes: Sequence[Scene], down: Multiplication, up: Multiplication, results: Sequence[Outcome]
) -> Script:
    """Both kernels at the pace they have alone, unless that takes too long together."""
    own = {
        about: pace((SECONDS[m.part] for m in moments_of(about.sizes, about.phases)), *LASTING)
        for about in (down, up)
    }
    seconds = (SECONDS[scene.moment.part] * own[scene.about] for scene in scenes)
    script = Script(_DOWN, pace(seconds, 0.0, LASTING[1] - _END))
    for one in scenes:
        result = results[one.role == _UP]
        compared = tr("compare"), f"{result.name}: {result.said}"
        told = compared if one.moment.part == "result" else None
        act(script, one.about, one.moment, own[one.about], one.role, told)
    return script


def _title(wrong: Outcome) -> str:
    """What rounding down does."""
    if not wrong.count:
        return tr("The tiles fit without a rest: rounding down drops nothing")
    return tr("Rounded down, the last tile is dropped: {said}", said=wrong.said)


def _sentence(scene: Scene, results: Sequence[Outcome]) -> str:
    """What happens now, with what it means for the result."""
    (down, up), sizes, phases = results, scene.about.sizes, scene.about.phases
    count: dict[str, object] = {"inner": sizes.inner, "tile": sizes.tile, "n": phases}
    if scene.moment.part == "store" and phases < sizes.phases:
        return tr(
            "{inner} / {tile} = {n}: the sums are stored after {n} of {all} phases.",
            **count,
            all=sizes.phases,
        )
    if scene.moment.part != "result":
        return sentence(scene.about, scene.moment)
    if scene.role == _UP:
        return tr(
            "({inner} + {more}) / {tile} = {n} phases: guard lanes fill the last tile with "
            "zeros; {said}.",
            **count,
            more=sizes.tile - 1,
            said=up.said,
        )
    if not down.count:
        return trn(
            "Both ways of rounding give {n} phase, and the same product.",
            "Both ways of rounding give {n} phases, and the same product.",
            phases,
        )
    row, column = np.argwhere(down.wrong)[0].tolist()
    value, right = (number(float(each[row, column])) for each in (down.value, down.reference))
    where: dict[str, object] = {"row": row, "column": column, "value": value, "right": right}
    return tr(
        "P[{row}][{column}] = {value} instead of {right}: what was never loaded is missing.",
        **where,
    )


def _expected(sizes: Sizes, results: Sequence[Outcome]) -> str:
    """The phases either way, and the document's product."""
    what = {"down": sizes.inner // sizes.tile, "up": sizes.phases}
    said = tr("by arithmetic: phase count {down} rounded down, {up} rounded up", **what)
    if (sizes.rows, sizes.inner, sizes.columns) == (10, 3, 5) and (results[1].reference == 6).all():
        return tr(
            "{said}; published (GPGPU programming, university course): every element is 6",
            said=said,
        )
    return said


def _body(scene: Scene, results: Sequence[Outcome], over: float, totals: Sequence[Node]) -> Node:
    """The block at work, what is never loaded, both results."""
    about, moment = scene.about, scene.moment
    wrong = results[scene.role == _UP].wrong if moment.part == "result" else None
    matrices = tiled_memory(about, moment, over, lost=scene.after, wrong=wrong)
    work = at_work(tiles(about, moment, over), statement(about, moment))
    both = Grids(tuple(map(elements, results, scene.known)))
    phases = track(moment, about.phases, about.sizes.phases)
    return arranged(matrices, work, (both,), totals, phases)


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, problem, WORDS)
