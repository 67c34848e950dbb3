"""The naive matrix product: every thread loads its whole row and column from global memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from gpuviz.arch import architecture
from gpuviz.draw.heading import steady_heading
from gpuviz.draw.marks import Frame
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.runners.base import Run
from gpuviz.scenes.base import Choice, Lesson, Parameter, Plan, Story, Values
from gpuviz.scenes.matmul.naive_view import draw
from gpuviz.scenes.matmul.naive_words import sentence, steps, title
from gpuviz.scenes.matmul.parameters import (
    FILL,
    WATCHED,
    block_of,
    extents,
    launches,
    preset,
    problem,
    sizes_of,
    thread_of,
    width,
)
from gpuviz.scenes.matmul.ratio import CARDS, Ratios, ratios
from gpuviz.scenes.matmul.reads import Sizes, costs, costs_by_step
from gpuviz.scenes.matmul.scene import Multiplication, multiplication
from gpuviz.scenes.matmul.time import at, naive_moments

_ROLES = ("naive", "tiled")

PARAMETERS = (
    *extents(4, 4, 4),
    width((2, 4, 8, 16, 32), "width and height of a block", "block"),
    *WATCHED,
    FILL,
    Parameter(
        "card",
        "memory of the card",
        "1000",
        hint="the document's examples",
        choices=(Choice("1000", "1 TB/s, 12 TFLOP/s"), Choice("150", "150 GB/s")),
    ),
)

PRESETS = (
    preset("4 × 4, blocks of 2 × 2", 4, 4, 4, 2, (1, 0), card="1000"),
    preset("8 × 8, blocks of 4 × 4", 8, 8, 8, 4, (2, 1), card="1000"),
    preset("10 × 3 times 3 × 5", 10, 3, 5, 4, (2, 1), "twos", card="1000"),
    preset("32 × 32, blocks of 16 × 16, 150 GB/s", 32, 32, 32, 16, (2, 1), card="150"),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """The naive kernel, and the tiled one to compare its ratio with."""
    return launches(values, _ROLES)


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The story of one block."""
    sizes, arch = sizes_of(values), architecture(runs["naive"].arch)
    x, y = block_of(values)
    about = _unpadded(multiplication(sizes, (x, y), thread_of(values), runs, arch))
    number = y * sizes.grid[0] + x
    about = replace(about, costs=costs(runs["naive"].trace, arch, number))
    rates = ratios(about, runs, CARDS[str(values["card"])])
    words = tuple(sentence(about, moment) for moment in about.line)
    made = steps(about, costs_by_step(about.costs, number, sizes.inner))
    return Story(title(about), words[0], made, _picture(about, rates, words), _expected(sizes))


def _unpadded(about: Multiplication) -> Multiplication:
    """The naive kernel's own time line; it knows no tiles along the rows of M."""
    sizes = about.sizes
    rows, columns = sizes.padded("P")
    return replace(
        about,
        line=naive_moments(sizes),
        m=replace(about.m, padded=(rows, sizes.inner)),
        n=replace(about.n, padded=(sizes.inner, columns)),
    )


def expected_loads(sizes: Sizes) -> int:
    """Elements that all threads load: two for each product."""
    return 2 * sizes.rows * sizes.inner * sizes.columns


def _expected(sizes: Sizes) -> str:
    return tr(
        "closed form: {n} elements loaded, two for each multiplication and addition: ratio 1",
        n=f"{expected_loads(sizes):,}",
    )


def _picture(
    about: Multiplication, rates: Ratios, words: tuple[str, ...]
) -> Callable[[float, Stage], Frame]:
    """The pure function from time to picture."""
    longest = tuple(sorted(dict.fromkeys(words), key=lambda said: text_width(said, 16))[-3:])
    head = title(about)

    def frame(t: float, given: Stage) -> Frame:
        stage, now = given.roomy(), at(about.line, t)
        moment = about.line[now]
        marks, body = steady_heading(stage, head, words[now], longest)
        least = given.text(14)
        return stage.frame(*marks, *draw(stage, body, about, rates, moment, moment.share(t), least))

    return frame


LESSON = Lesson(
    "matmul-naive",
    "Matmul: naive",
    "Putting it together",
    "How often the threads of a block load the same elements, and how fast memory lets them work.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    problem,
    words=("request", "sector", "intensity", "roofline", "row-major"),
)
