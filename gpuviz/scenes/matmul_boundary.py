"""Sizes that are no multiple of the tile: guard lanes and zeros, and a phase count rounded down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gpuviz.arch import architecture
from gpuviz.draw.heading import steady_heading
from gpuviz.draw.marks import Frame
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.panels.script import Step
from gpuviz.runners.base import Run
from gpuviz.scenes.base import Lesson, Plan, Story, Values
from gpuviz.scenes.matmul import parameters as matmul_parameters
from gpuviz.scenes.matmul.boundary_view import WRONG, Scene, draw
from gpuviz.scenes.matmul.parameters import (
    FILL,
    WATCHED,
    block_of,
    extents,
    launches,
    preset,
    sizes_of,
    thread_of,
    width,
)
from gpuviz.scenes.matmul.reads import Sizes
from gpuviz.scenes.matmul.results import Outcome, outcome
from gpuviz.scenes.matmul.scene import Multiplication, multiplication
from gpuviz.scenes.matmul.time import at
from gpuviz.scenes.matmul.words import number, sentence, step

_DOWN, _UP = WRONG, "rounded up"
_LONGEST = 24.0  # seconds

PARAMETERS = (
    *extents(3, 3, 3),
    width((2, 4, 8, 16), "width of a block and of its tiles"),
    *WATCHED,
    FILL,
)

PRESETS = (
    preset("3 × 3, tile 2", 3, 3, 3, 2, (1, 0)),
    preset("10 × 3 times 3 × 5, tile 2", 10, 3, 5, 2, (1, 0), "twos"),
    preset("9 × 10 times 10 × 6, tile 4", 9, 10, 6, 4, (2, 1)),
    preset("4 × 4, tile 2: nothing to drop", 4, 4, 4, 2, (1, 0)),
)


def problem(values: Values) -> str:
    """Why these values make no sense together, or ""."""
    sizes = sizes_of(values)
    if sizes.inner < sizes.tile:
        return tr(
            "With {inner} columns of M and tiles of {tile} the count rounded down is 0: "
            "make M at least {tile} wide.",
            inner=sizes.inner,
            tile=sizes.tile,
        )
    return matmul_parameters.problem(values)


def plan(values: Values) -> tuple[Plan, ...]:
    """The kernel that rounds down, the mended one, and the naive one for what a block needs."""
    tiled, naive = launches(values, ("tiled", "naive"))
    down = replace(tiled, role=_DOWN, defines=(*tiled.defines, ("ROUND_DOWN", "1")))
    return down, replace(tiled, role=_UP), naive


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The wrong kernel to its end, then what the mended one does more."""
    sizes = sizes_of(values)
    down, up = (_about(values, runs, role) for role in (_DOWN, _UP))
    results = tuple(
        outcome(names, about.product, about.m.value, about.n.value)
        for names, about in (
            ((tr("rounded down"), tr("down")), down),
            ((tr("rounded up"), tr("up")), up),
        )
    )
    scenes = _scenes(down, up)
    words = tuple(_sentence(scene, results, sizes) for scene in scenes)
    title = _title(results[0])
    pair = runs[_DOWN], runs[_UP]
    made = tuple(_step(scene, results) for scene in scenes)
    return Story(
        title,
        words[0],
        made,
        _picture(scenes, results, pair, title, words),
        _expected(sizes, results),
    )


def _about(values: Values, runs: Mapping[str, Run], role: str) -> Multiplication:
    """One of the two kernels, with what the naive one reads."""
    pair = {"tiled": runs[role], "naive": runs["naive"]}
    arch = architecture(runs[role].arch)
    return multiplication(sizes_of(values), block_of(values), thread_of(values), pair, arch)


def _scenes(down: Multiplication, up: Multiplication) -> tuple[Scene, ...]:
    """All moments of the first, and of the second those after the phases both make."""
    more = [m for m in up.line if m.phase >= down.phases or m.part in ("store", "result")]
    both = [(down, m, _DOWN) for m in down.line]
    if up.phases > down.phases:
        both += [(up, m, _UP) for m in more]
    total = sum(m.end - m.start for _, m, _ in both)
    pace, t, made = min(1.0, _LONGEST / total), 0.0, list[Scene]()
    for about, moment, role in both:
        end = t + (moment.end - moment.start) * pace
        over = moment.part == "result"
        known = (role == _UP or over, over and (role == _UP or up.phases == down.phases))
        made.append(Scene(about, replace(moment, start=t, end=end), role, known))
        t = end
    return tuple(made)


def _title(wrong: Outcome) -> str:
    """What rounding down does."""
    if not wrong.count:
        return tr("The tiles fit without a rest: rounding down drops nothing")
    return tr("Rounded down, the last tile is dropped: {said}", said=wrong.said)


def _sentence(scene: Scene, results: Sequence[Outcome], sizes: Sizes) -> str:
    """What happens now, with what it means for the result."""
    part, about = scene.moment.part, scene.about
    if part == "result":
        return _verdict(scene, results)
    if part == "store" and about.phases < sizes.phases:
        return tr(
            "{inner} / {tile} = {n}: the sums are stored after {n} of {all} phases.",
            inner=sizes.inner,
            tile=sizes.tile,
            n=about.phases,
            all=sizes.phases,
        )
    return sentence(about, scene.moment)


def _verdict(scene: Scene, results: Sequence[Outcome]) -> str:
    """How far the result is from the reference."""
    down, up = results
    if scene.role == _UP:
        return tr(
            "({inner} + {more}) / {tile} = {n} phases: guard lanes fill the last tile with "
            "zeros; {said}.",
            inner=scene.about.sizes.inner,
            more=scene.about.sizes.tile - 1,
            tile=scene.about.sizes.tile,
            n=scene.about.phases,
            said=up.said,
        )
    if not down.count:
        return tr(
            "Both ways of rounding give {n} phases, and the same product.", n=scene.about.phases
        )
    row, column = (int(i) for i in np.argwhere(down.wrong)[0])
    return tr(
        "P[{row}][{column}] = {value} instead of {right}: what was never loaded is missing.",
        row=row,
        column=column,
        value=number(float(down.value[row, column])),
        right=number(float(down.reference[row, column])),
    )


def _step(scene: Scene, results: Sequence[Outcome]) -> Step:
    """A moment on the time line."""
    made = step(scene.about, scene.moment, scene.role)
    if made.kind != "result":
        return made
    result = results[scene.role == _UP]
    return replace(made, label=tr("compare"), detail=f"{result.name}: {result.said}")


def _expected(sizes: Sizes, results: Sequence[Outcome]) -> str:
    """The phases either way, and the document's product."""
    said = tr(
        "closed form: phase count {down} rounded down, {up} rounded up",
        down=sizes.inner // sizes.tile,
        up=sizes.phases,
    )
    if (sizes.rows, sizes.inner, sizes.columns) == (10, 3, 5) and (results[1].reference == 6).all():
        return tr(
            "{said}; published (GPGPU programming, university course): every element is 6",
            said=said,
        )
    return said


def _picture(
    scenes: tuple[Scene, ...],
    results: Sequence[Outcome],
    runs: Sequence[Run],
    title: str,
    words: tuple[str, ...],
) -> Callable[[float, Stage], Frame]:
    """The pure function from time to picture."""
    longest = tuple(sorted(dict.fromkeys(words), key=lambda said: text_width(said, 16))[-3:])
    line = tuple(scene.moment for scene in scenes)
    made = scenes[0].about.phases, scenes[-1].about.phases

    def frame(t: float, given: Stage) -> Frame:
        stage, now = given.roomy(), at(line, t)
        head, body = steady_heading(stage, title, words[now], longest)
        share, least = line[now].share(t), given.text(14)
        picture = draw(stage, body, scenes[now], results, runs, made, share, least)
        return stage.frame(*head, *picture)

    return frame


LESSON = Lesson(
    "matmul-boundary",
    "Matmul: boundaries",
    "Putting it together",
    "What guard lanes put into partial tiles, and which elements are wrong when a tile is dropped.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    problem,
    words=("guard", "active-lane", "tile", "phase", "maximum-difference"),
)
