"""Barriers of a tiled product: there, missing, or inside the inner loop, and what warps can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpuviz.draw.heading import steady_heading
from gpuviz.draw.marks import Frame
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.runners.base import Run
from gpuviz.scenes.base import Choice, Lesson, Parameter, Plan, Preset, Story, Values
from gpuviz.scenes.matmul.barrier_scene import Course, kernel, misreads, timed
from gpuviz.scenes.matmul.barrier_view import draw
from gpuviz.scenes.matmul.barrier_words import sentence, steps, title
from gpuviz.scenes.values import number
from gpuviz.trace import LANES

_KERNEL = "matmul_barrier.cu"
_SOUND = "both"
_MOST_TURNS = 256
# Which of AFTER_LOAD, AFTER_MULTIPLY and INSIDE a variant is compiled with.
_MACROS = {
    "both": (1, 1, 0),
    "no first": (0, 1, 0),
    "no second": (1, 0, 0),
    "none": (0, 0, 0),
    "inside": (1, 0, 1),
}

PARAMETERS = (
    Parameter(
        "barriers",
        "barriers",
        "no first",
        compiled=True,
        choices=(
            Choice("both", "both there"),
            Choice("no first", "first one missing"),
            Choice("no second", "second one missing"),
            Choice("none", "both missing"),
            Choice("inside", "second one in the inner loop"),
        ),
    ),
    Parameter(
        "tile",
        "tile width",
        8,
        compiled=True,
        hint="width of a block and of its tiles",
        choices=tuple(Choice(n, f"{n} × {n}") for n in (4, 8, 16)),
    ),
    Parameter("phases", "phases", 2, 1, 4, hint="tiles along a row of M"),
    Parameter(
        "ahead",
        "first to run",
        "first",
        hint="the warp whose turn comes first",
        choices=(Choice("first", "warp 0"), Choice("last", "the last warp")),
    ),
    Parameter(
        "fill",
        "elements",
        "arange",
        choices=(Choice("arange", "0, 1, 2, …"), Choice("rand", "random")),
    ),
)


def _preset(name: str, barriers: str, tile: int = 8) -> Preset:
    return Preset(
        name, {"barriers": barriers, "tile": tile, "phases": 2, "ahead": "first", "fill": "arange"}
    )


PRESETS = (
    _preset("First barrier missing", "no first"),
    _preset("Second barrier missing", "no second"),
    _preset("Both missing", "none"),
    _preset("Published listing: barrier in the inner loop", "inside"),
    _preset("Both there", "both"),
    _preset("First missing, one warp", "no first", 4),
)


def problem(values: Values) -> str:
    """Why these values make no sense together, or ""."""
    tile, phases = number(values, "tile"), number(values, "phases")
    turns = tile * phases * max(tile * tile // LANES, 1)
    if values["barriers"] == "inside" and turns > _MOST_TURNS:
        return tr(
            "With a barrier in the inner loop, {phases} phases of {tile} × {tile} are {n} "
            "turns of the warps, too many to follow: take fewer phases.",
            phases=phases,
            tile=tile,
            n=turns,
        )
    return ""


def plan(values: Values) -> tuple[Plan, ...]:
    """The kernel asked for, and the sound one."""
    variants = dict.fromkeys((str(values["barriers"]), _SOUND))
    return tuple(_plan(values, variant) for variant in variants)


def _plan(values: Values, variant: str) -> Plan:
    """One launch; a block computes one tile of P."""
    tile, phases = number(values, "tile"), number(values, "phases")
    side = tile * phases
    fill = values["fill"]
    names = ("AFTER_LOAD", "AFTER_MULTIPLY", "INSIDE")
    macros = zip(names, map(str, _MACROS[variant]), strict=True)
    return Plan(
        variant,
        _KERNEL,
        "product",
        (phases, phases, 1),
        (tile, tile, 1),
        (
            f"f32[{side**2}]={fill}",
            f"f32[{side**2}]={fill}",
            f"f32[{side**2}]=zeros",
            f"i32={side}",
        ),
        (("TILE", str(tile)), *macros),
    )


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The warps of block 0 take turns."""
    variant, tile = str(values["barriers"]), number(values, "tile")
    last_first = values["ahead"] == "last"
    names = (_called(variant), tr("this kernel")), (tr("both barriers"), tr("both"))
    right = kernel(runs[_SOUND], tile, names[1], last_first)
    shown = right if variant == _SOUND else kernel(runs[variant], tile, names[0], last_first)
    line, end = timed(shown.replay.turns)
    course = Course(tile, number(values, "phases"), shown, right, line, end, misreads(shown.replay))
    words = tuple(sentence(course, i) for i in range(len(line) + 1))
    head = title(course, variant)
    return Story(
        head,
        words[0],
        steps(course, variant),
        _picture(course, head, words),
        _expected(course, variant),
    )


def _called(variant: str) -> str:
    """The kernel in a few words."""
    return {
        "both": tr("both barriers"),
        "no first": tr("first missing"),
        "no second": tr("second missing"),
        "none": tr("both missing"),
        "inside": tr("in the inner loop"),
    }[variant]


def expected(variant: str, tile: int, phases: int) -> tuple[int, int]:
    """Barriers that a block passes, and its stores to P."""
    after_load, after_multiply, inside = _MACROS[variant]
    stores = tile**2 * (tile * phases if inside else 1)
    return phases * (after_load + after_multiply + tile * inside), stores


def _expected(course: Course, variant: str) -> str:
    barriers, stores = expected(variant, course.tile, course.phases)
    said = tr(
        "closed form: {n} barriers and {stores} stores to P in a block", n=barriers, stores=stores
    )
    if variant == "inside":
        return tr(
            "{said}; the listing is that of the tutorial CUDA memory considerations", said=said
        )
    return said


def _picture(course: Course, head: str, words: tuple[str, ...]) -> Callable[[float, Stage], Frame]:
    """The pure function from time to picture."""
    longest = tuple(sorted(dict.fromkeys(words), key=lambda said: text_width(said, 16))[-3:])

    def frame(t: float, given: Stage) -> Frame:
        stage = given.roomy()
        marks, body = steady_heading(stage, head, words[course.at(t)], longest)
        return stage.frame(*marks, *draw(stage, body, course, t, given.text(14)))

    return frame


LESSON = Lesson(
    "matmul-barrier",
    "Matmul: barriers",
    "Putting it together",
    "What a warp finds in shared memory when nothing makes it wait for the others.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    problem,
    words=("barrier", "race", "phase", "finding", "tile"),
)
