"""The square array: stride, offset and group size, and what they cost on a card of 2007 and now."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.base.arrays import I64
from gpuviz.course import named
from gpuviz.course.global_memory.square_array.trials import (
    PUBLISHED,
    Triple,
    role_of,
    tell_trials,
    trial_of,
)
from gpuviz.memory.request import Request, requests_of
from gpuviz.panels.cell_map import CellMap, Outline
from gpuviz.panels.figures import Figure, FigureRow
from gpuviz.panels.layout import rows
from gpuviz.panels.picture import Picture
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values, number
from gpuviz.story.measured import time_figures, time_of
from gpuviz.story.requests.fate import fate_of
from gpuviz.story.script import Script
from gpuviz.traces.trace import LANES, Trace
from gpuviz.words.language import grouped, tr

_KERNEL, _ENTRY, _SMALL = "square_array.cu", "square_array", "small"
_ELEMENTS, _THREADS = 512, 8  # of the document's small example
_BLOCK, _EACH = 512, 8  # of the trials
_ASPECT = 2.4  # of the array as it is drawn
_SLOW, _FAST, _END = 1.2, 5.0, 2.5  # seconds: an iteration, the many in between, the result
_FIRST, _LAST = 4, 2  # iterations told one by one
_LINE = 32  # floats in a line of 128 bytes
_GAP = 0.3  # letters

LOOK_FOR = "Which elements a half warp reads at once, and how the published times follow from it."
WORDS = ("stride", "offset", "half-warp", "transaction", "segment", "divergence")

PARAMETERS = (
    Parameter(
        "show",
        "show",
        "small",
        offers={"small": "512 elements, 8 threads", "trials": "the published trials"},
        hint="the document's small example, or its seven trials",
    ),
    Parameter(
        "stride", "STRIDE", 4, hint="threads that walk side by side", offers=(1, 2, 4, 8, 16, 32)
    ),
    Parameter("offset", "OFFSET", 0, 0, 31, hint="element of the row its first thread starts with"),
    Parameter(
        "group",
        "GROUP_SIZE",
        512,
        hint="threads that take the same branch",
        offers=(1, 2, 4, 8, 16, 32, 64, 128, 256, 512),
    ),
    Parameter(
        "elements",
        "elements timed",
        1 << 25,
        offers={
            **{4096 << n: grouped(4096 << n) for n in (0, 4, 8, 10)},
            1 << 25: f"{grouped(1 << 25)}, as published",
        },
        small=4096,
        hint="of a trial; and of the launch that is timed beside the small example",
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


def plan(values: Values) -> tuple[Plan, ...]:
    """The small example and its kernel on a large array, or every trial."""
    size = number(values, "elements")
    if values["show"] == "trials":
        return tuple(_plan(role_of(t), size, _BLOCK, _EACH, t) for t in _trials(values))
    triple = _triple(values)
    small = _plan(_SMALL, _ELEMENTS, _THREADS, _ELEMENTS // _THREADS, triple)
    large = _plan(_SMALL, size, _BLOCK, _EACH, triple)
    return small, small.companion(large.size, large.grid, large.arguments, block=large.block)


def _plan(role: str, elements: int, threads: int, each: int, triple: Triple) -> Plan:
    """One launch."""
    blocks = elements // (threads * each)
    shape = (blocks, 1, 1), (threads, 1, 1)
    arguments = (f"f32[{elements}]=rand", *(f"i32={n}" for n in (each, *triple)))
    size = tr("{n} elements, {each} a thread", n=grouped(elements), each=each)
    return Plan(role, _KERNEL, _ENTRY, *shape, arguments, size=size, outputs=False)


@dataclass(frozen=True, eq=False)
class Walk:
    """One block's walk through the array, from its trace."""

    element: I64  # (I, T) element that each thread loads in each iteration
    path: I64  # (T,) number of the branch that each thread takes
    size: int  # elements of the array
    request: Request  # the first load of warp 0

    @property
    def threads(self) -> int:
        """Threads of the block."""
        return int(self.element.shape[1])

    @property
    def iterations(self) -> int:
        """Elements of each thread."""
        return len(self.element)

    @cached_property
    def owner(self) -> I64:
        """(size,) thread that works on each element, -1 for none."""
        found = np.full(self.size, -1, np.int64)
        found[self.element] = np.arange(self.threads)
        return found

    @cached_property
    def turn(self) -> I64:
        """(size,) iteration in which each element's turn comes; of no meaning without an owner."""
        found = np.zeros(self.size, np.int64)
        found[self.element] = np.arange(self.iterations)[:, None]
        return found


def walk_of(trace: Trace, arch: Architecture) -> Walk:
    """The walk of block 0, which is one warp or less."""
    loads = trace.of(block=0, warp=0, space="global", op="load")
    buffer = trace.launch.buffers[0]
    lines = np.array([trace.instructions[i].line for i in loads.instruction])
    active = np.stack([loads.lanes(row) for row in range(len(loads))])
    index = (loads.address.astype(np.int64) - buffer.address) // 4
    threads = trace.launch.threads_per_block
    element = np.stack([index[active[:, t], t] for t in range(threads)], axis=1)
    path = np.unique([lines[active[:, t]][0] for t in range(threads)], return_inverse=True)[1]
    request = requests_of(trace, arch, 0, 0)[0]
    return Walk(element, path, buffer.count, request)


def narrate(values: Values, runs: Runs) -> Story:
    """The walk of eight threads, or the trials one after another."""
    if values["show"] == "small":
        return _tell_walk(values, runs[_SMALL])
    trials = tuple(trial_of(t, runs[role_of(t)]) for t in _trials(values))
    arch = architecture(runs[role_of(_triple(values))].arch)
    return tell_trials(trials, arch)


def _tell_walk(values: Values, run: Run) -> Story:
    """Iterations one by one, the many in between fast."""
    arch = architecture(run.arch)
    walk = walk_of(run.trace, arch)
    stride, offset, _ = _triple(values)
    title = tr("Rows of {stride} threads walk through the array side by side", stride=stride)
    if stride == 1:
        title = tr("Every thread walks through a part of the array of its own")
    fate = fate_of(run.trace, arch, walk.request)
    sentence = _walk_sentence(walk, stride, offset)
    sentence = " ".join(filter(None, (sentence, fate.said() if fate else "")))
    cuts = [*range(_FIRST + 1), *range(walk.iterations - _LAST, walk.iterations + 1)]
    script, launch = _walk_script(walk, cuts), time_figures(time_of(run))

    def at(t: float) -> Picture:
        now = float(np.interp(script.done(t), range(len(cuts)), cuts))
        body = rows(_array(walk, now), _counted(walk, now, launch), gap=_GAP)
        return Picture(title, sentence, body)

    first = " ".join(str(n) for n in expected_row(_THREADS, walk.iterations, stride, offset))
    expected = tr("by arithmetic: iteration 0 works on elements {row}", row=first)
    return Story.of(script, at, expected)


def expected_row(threads: int, each: int, stride: int, offset: int) -> tuple[int, ...]:
    """Elements of a block's first iteration: rows of threads, turned around by the offset."""
    return tuple(t // stride * stride * each + (t + offset) % stride for t in range(threads))


def _walk_script(walk: Walk, cuts: list[int]) -> Script:
    """An act between each cut and the next, several iterations together being told fast."""
    script, request = Script(_SMALL), walk.request
    detail = f"{request.instruction.text} · {request.counted(request.count)}"
    for a, b in zip(cuts, cuts[1:], strict=False):
        one = b == a + 1
        name = tr("iteration {n}", n=a) if one else tr("iterations {a} to {b}", a=a, b=b - 1)
        script.act(_SLOW if one else _FAST, "load", name, detail, request.instruction.line)
    script.act(_END, "result", tr("result"), detail)
    return script


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


def _lanes(threads: int) -> I64:
    """(T,) lanes whose colours the threads have: spread over all, so that few stay apart."""
    count = max(threads, 4)
    quarter, place = np.divmod(np.arange(threads) * 4, count)
    within = np.rint(place / 4 / max(count / 4 - 1, 1) * (LANES / 4 - 1)).astype(np.int64)
    return quarter * (LANES // 4) + within


def _array(walk: Walk, now: float) -> CellMap:
    """The array, a line of 128 bytes a row, in the colour of the thread that works on it."""
    mine = walk.owner >= 0
    row, column = np.divmod(np.sort(walk.element[min(int(now), walk.iterations - 1)]), _LINE)
    going = np.stack([row, column, np.ones_like(row)], axis=1) if now < walk.iterations else None
    names = (
        tr("a[0] to a[{last}], a line of 128 bytes in each row", last=walk.size - 1),
        tr("the array, 128 bytes a row"),
        tr("the array"),
    )
    return CellMap(
        names,
        -(-walk.size // _LINE),
        _LINE,
        np.where(mine, _lanes(walk.threads)[walk.owner], -1),
        np.clip(now - walk.turn, 0.0, 1.0),
        True,
        lambda element: _element_tip(walk, element),
        aspect=_ASPECT,
        outlines=() if going is None else (Outline(going, "outline", bold=True),),
    )


def _element_tip(walk: Walk, element: int) -> str:
    """What hovering an element says."""
    if walk.owner[element] < 0:
        return tr("a[{n}] · no thread works on it", n=element)
    what = {"n": element, "thread": walk.owner[element], "turn": walk.turn[element]}
    does = tr("doubles its elements") if walk.path[what["thread"]] else tr("squares its elements")
    return tr("a[{n}] · thread {thread} in iteration {turn}", **what) + f" · {does}"


def _counted(walk: Walk, now: float, launch: tuple[Figure, ...]) -> FigureRow:
    """The iteration, what a load costs, and how long the large launch takes."""
    request, last = walk.request, walk.iterations - 1
    loads = len(set(walk.path.tolist()))
    count = request.counted(request.count)
    figures = (
        Figure(tr("iteration {n}, of 0 to {last}", n=min(int(now), last), last=last)),
        Figure(tr("{count} for a load", count=count), "accent", True),
        Figure(tr("ideal {n}", n=request.ideal), "muted"),
    )
    apart = Figure(tr("{n} loads: the warp diverges", n=loads), "warn")
    return FigureRow((*figures, *((apart,) * (loads > 1)), *launch))


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, problem, WORDS)
