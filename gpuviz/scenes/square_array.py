"""The square array: stride, offset and group size, and what they cost on a card of 2007 and now."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpuviz.arch import Architecture, architecture
from gpuviz.draw.figures import Figure, figures, line_height
from gpuviz.draw.heading import heading, steady_heading
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Frame, Mark
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.panels.script import Step
from gpuviz.runners.base import Run
from gpuviz.scenes.base import Choice, Lesson, Parameter, Plan, Preset, Story, Values
from gpuviz.scenes.global_memory import square_trials
from gpuviz.scenes.global_memory.square_trials import PUBLISHED, Trial, Triple, alike, trial_of
from gpuviz.scenes.global_memory.square_walk import Walk, picture, walk_of
from gpuviz.scenes.request.shape import verdict
from gpuviz.scenes.request.view import draw, lay_out
from gpuviz.scenes.request.words import counted
from gpuviz.scenes.values import number

_KERNEL, _ENTRY, _SMALL = "square_array.cu", "square_array", "small"
_ELEMENTS, _THREADS = 512, 8  # of the document's small example
_BLOCK, _EACH = 512, 8  # of the trials
_SLOW, _FAST, _END = 1.2, 5.0, 2.5  # seconds: an iteration, the many in between, the result
_TRIAL, _SEND = 2.2, 0.5  # seconds of a trial, and of its request going out
_FIRST, _LAST = 4, 2  # iterations told one by one

PARAMETERS = (
    Parameter(
        "show",
        "show",
        "small",
        choices=(
            Choice("small", "512 elements, 8 threads"),
            Choice("trials", "the published trials"),
        ),
        hint="the document's small example, or its seven trials",
    ),
    Parameter(
        "stride",
        "STRIDE",
        4,
        hint="threads that walk side by side",
        choices=tuple(Choice(n, str(n)) for n in (1, 2, 4, 8, 16, 32)),
    ),
    Parameter("offset", "OFFSET", 0, 0, 31, hint="element of the row its first thread starts with"),
    Parameter(
        "group",
        "GROUP_SIZE",
        512,
        hint="threads that take the same branch",
        choices=tuple(Choice(n, str(n)) for n in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)),
    ),
    Parameter(
        "elements",
        "elements in a trial",
        4096,
        choices=(
            *(Choice(4096 << n, f"{4096 << n}") for n in (0, 4, 8, 10)),
            Choice(1 << 25, "33554432, as published"),
        ),
        hint="the document has 2^25, which takes many seconds; every 32 cost the same",
    ),
)

PRESETS = (
    Preset("Stride 4, offset 0", {"show": "small", "stride": 4, "offset": 0, "group": 512}),
    Preset("Stride 4, offset 1", {"show": "small", "stride": 4, "offset": 1, "group": 512}),
    Preset("The seven trials", {"show": "trials", "stride": 32, "offset": 0, "group": 512}),
)


def problem(values: Values) -> str:
    """Why these values make no sense together, or ""."""
    stride = number(values, "stride")
    if values["show"] == "small" and stride > _THREADS:
        return tr(
            "The small example has {threads} threads: rows of {stride} need more of them.",
            threads=_THREADS,
            stride=stride,
        )
    return ""


def _triple(values: Values) -> Triple:
    """The trial of one's own."""
    return number(values, "stride"), number(values, "offset"), number(values, "group")


def _trials(values: Values) -> tuple[Triple, ...]:
    """The published trials, and one's own when it is not among them."""
    return tuple(dict.fromkeys((*PUBLISHED, _triple(values))))


def _role(triple: Triple) -> str:
    """The name of a trial's run."""
    return "({}, {}, {})".format(*triple)


def plan(values: Values) -> tuple[Plan, ...]:
    """The small example, or every trial on a smaller array than the document's."""
    if values["show"] == "small":
        return (_plan(_SMALL, _ELEMENTS, _THREADS, _ELEMENTS // _THREADS, _triple(values)),)
    size = number(values, "elements")
    return tuple(_plan(_role(t), size, _BLOCK, _EACH, t) for t in _trials(values))


def _plan(role: str, elements: int, threads: int, each: int, triple: Triple) -> Plan:
    """One launch."""
    scalars = (f"i32={n}" for n in (each, *triple))
    blocks = elements // (threads * each)
    return Plan(
        role, _KERNEL, _ENTRY, (blocks, 1, 1), (threads, 1, 1), (f"f32[{elements}]=rand", *scalars)
    )


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The walk of eight threads, or the trials one after another."""
    if values["show"] == "small":
        return _tell_walk(values, runs[_SMALL])
    trials = tuple(trial_of(t, runs[_role(t)]) for t in _trials(values))
    mine = _triple(values)
    arch = architecture(runs[_role(mine)].arch)
    return _tell_trials(trials, arch, number(values, "elements"))


def _tell_walk(values: Values, run: Run) -> Story:
    """Iterations one by one, the many in between fast."""
    arch = architecture(run.arch)
    walk = walk_of(run.trace, arch)
    stride, offset, _ = _triple(values)
    title = tr("Rows of {stride} threads walk through the array side by side", stride=stride)
    if stride == 1:
        title = tr("Every thread walks through a part of the array of its own")
    times = _times(walk.iterations)
    steps = (
        *_walk_steps(walk, times),
        Step(times[-1], times[-1] + _END, "result", tr("result"), _request(walk), role=_SMALL),
    )
    first = " ".join(str(n) for n in expected_row(_THREADS, walk.iterations, stride, offset))
    expected = tr("closed form: iteration 0 works on elements {row}", row=first)
    return Story(
        title,
        _walk_sentence(walk, stride, offset),
        steps,
        _walk_picture(walk, title, _walk_sentence(walk, stride, offset), times),
        expected,
    )


def expected_row(threads: int, each: int, stride: int, offset: int) -> tuple[int, ...]:
    """Elements of a block's first iteration: rows of threads, turned around by the offset."""
    return tuple(t // stride * stride * each + (t + offset) % stride for t in range(threads))


def _times(count: int) -> tuple[float, ...]:
    """When each iteration starts, and when the last one ends."""
    middle = max(count - _FIRST - _LAST, 1)
    pace = [_SLOW] * _FIRST + [_FAST / middle] * middle + [_SLOW] * _LAST
    times = [0.0]
    for seconds in pace[:count]:
        times.append(times[-1] + seconds)
    return tuple(times)


def _walk_steps(walk: Walk, times: tuple[float, ...]) -> list[Step]:
    """The first iterations, the many in between as one step, the last ones."""
    line, last = walk.request.instruction.line, walk.iterations - _LAST
    cuts = [*range(_FIRST), _FIRST, *range(last, walk.iterations + 1)]
    steps = []
    for a, b in zip(cuts, cuts[1:], strict=False):
        name = (
            tr("iteration {n}", n=a) if b == a + 1 else (tr("iterations {a} to {b}", a=a, b=b - 1))
        )
        steps.append(Step(times[a], times[b], "load", name, _request(walk), line, _SMALL))
    return steps


def _request(walk: Walk) -> str:
    """What one iteration's load costs."""
    request = walk.request
    return f"{request.instruction.text} · {request.counted(request.count)}"


def _walk_sentence(walk: Walk, stride: int, offset: int) -> str:
    """How the threads are spread over the array."""
    each = walk.iterations
    text = tr(
        "Each row of {n} threads takes {n} neighbours, then the next {n}: {each} times.",
        n=stride,
        each=each,
    )
    if stride == 1:
        text = tr("Each thread takes one element after the other, {each} of them.", each=each)
    if offset % stride:
        return (
            text
            + " "
            + tr(
                "OFFSET {offset}: its threads start {offset} further on, and wrap.",
                offset=offset % stride,
            )
        )
    return text


def _at(t: float, times: tuple[float, ...]) -> float:
    """Iterations that are over at a time, the fraction being the one under way."""
    index = next((i for i, end in enumerate(times[1:]) if t < end), len(times) - 1)
    if index == len(times) - 1:
        return float(index)
    return index + (t - times[index]) / (times[index + 1] - times[index])


def _walk_picture(
    walk: Walk, title: str, sentence: str, times: tuple[float, ...]
) -> Callable[[float, Stage], Frame]:
    """The pure function from time to picture of the small example."""

    def frame(t: float, given: Stage) -> Frame:
        stage = given.roomy()
        head, area = heading(stage, title, sentence)
        now = _at(t, times)
        low = line_height(stage)
        main = area.above(area.height - low - stage.text(14) * 0.3)[0]
        foot = Rect(area.x, area.bottom - low, area.width, low)
        return stage.frame(*head, *picture(stage, main, walk, now), *_foot(stage, foot, walk, now))

    return frame


def _foot(stage: Stage, area: Rect, walk: Walk, now: float) -> tuple[Mark, ...]:
    """The iteration, and what a load costs."""
    palette, request = stage.palette, walk.request
    count, last = min(int(now), walk.iterations - 1), walk.iterations - 1
    loads = len(set(walk.path.tolist()))
    pieces: tuple[Figure, ...] = (
        (tr("iteration {n}, of 0 to {last}", n=count, last=last), palette.ink, False),
        (tr("{count} for a load", count=request.counted(request.count)), palette.accent, True),
        (tr("ideal {n}", n=request.ideal), palette.muted, False),
    )
    if loads > 1:
        pieces = (*pieces, (tr("{n} loads: the warp diverges", n=loads), palette.warn, False))
    return figures(stage, area, pieces, tr("model"), palette.accent)


def _tell_trials(trials: tuple[Trial, ...], arch: Architecture, elements: int) -> Story:
    """One trial after another, then what is left of their differences."""
    title = tr("Trials on a GeForce 8600 GTS: time follows the segments moved")
    steps = []
    for place, trial in enumerate(trials):
        detail = tr("{then} segments for 32 elements under CC 1.1", then=f"{trial.then:g}")
        start = place * _TRIAL
        steps.append(
            Step(
                start,
                start + _TRIAL,
                "load",
                _role(trial.triple),
                detail,
                trial.first.instruction.line,
                _role(trial.triple),
            )
        )
    end = len(trials) * _TRIAL
    steps.append(
        Step(
            end,
            end + _END + 1,
            "result",
            tr("result"),
            _today(trials, arch),
            role=_role(trials[0].triple),
        )
    )
    frame = _trials_picture(trials, arch, title, elements)
    expected = tr(
        "published (\u201cThreads and blocks in detail\u201d, GeForce 8600 GTS, 2^25 "
        "elements, mean of 1000): {times} ms",
        times=", ".join(f"{_role(t)} {ms}" for t, ms in PUBLISHED.items()),
    )
    return Story(title, _today(trials, arch), tuple(steps), frame, expected)


def _today(trials: tuple[Trial, ...], arch: Architecture) -> str:
    """What the architecture chosen makes of the trials."""
    if arch.needs_order:
        return tr("Half warps in order take a segment each; all others one a lane.")
    if alike(trials):
        return tr(
            "Under {arch} all trials load the same {count} for 32 elements: order and start "
            "no longer matter.",
            arch=str(arch),
            count=counted(trials[0].noun, round(trials[0].now)),
        )
    return tr("Under {arch} the trials differ less.", arch=str(arch))


def _trials_picture(
    trials: tuple[Trial, ...], arch: Architecture, title: str, elements: int
) -> Callable[[float, Stage], Frame]:
    """The pure function from time to picture of the trials."""
    said = (*(verdict(t.first) for t in trials), _today(trials, arch))

    def frame(t: float, given: Stage) -> Frame:
        stage = given.roomy()
        index = min(int(t / _TRIAL), len(trials) - 1)
        over = t >= len(trials) * _TRIAL
        trial = trials[index]
        head, area = steady_heading(stage, title, said[-1 if over else index], said)
        foot = line_height(stage)
        high = square_trials.height_of(stage, trials)
        marks: tuple[Mark, ...] = ()
        if area.height - high - foot > stage.text(14) * 11:
            top = area.above(area.height - high - foot - stage.text(14) * 0.5)[0]
            marks = _served(stage, top, trial, t - index * _TRIAL)
        high = min(high, area.height - foot)
        low = Rect(area.x, area.bottom - high - foot, area.width, high)
        rows = square_trials.draw(stage, low, trials, arch, index + 1, None if over else index)
        last = Rect(area.x, area.bottom - foot, area.width, foot)
        rows += square_trials.sources(stage, last, elements)
        return stage.frame(*head, *marks, *rows)

    return frame


def _served(stage: Stage, area: Rect, trial: Trial, since: float) -> tuple[Mark, ...]:
    """A trial's first load as the published card serves it, so many seconds after its start."""
    sent = min(since / _SEND, 1.0)
    served = min(max(since - _SEND, 0.0) / (_TRIAL - _SEND - 0.4), 1.0)
    view = lay_out(trial.first, stage, area)
    return draw(stage, view, sent, served * trial.first.count)


LESSON = Lesson(
    "square-array",
    "Strides, offsets, groups",
    "Global memory",
    "Which elements a half warp reads at once, and how the published times follow from it.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    problem,
    words=("stride", "offset", "half-warp", "transaction", "segment", "divergence"),
)
