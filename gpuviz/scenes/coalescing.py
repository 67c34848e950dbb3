"""Coalescing: `out[i] = in[i * stride + offset]`, from lanes to bytes, sectors and lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.draw.heading import badge, heading, label
from gpuviz.draw.layout import Rect, first_fitting
from gpuviz.draw.marks import Boxes, Frame, Mark, Rgba
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.errors import InputError
from gpuviz.runners.base import Run
from gpuviz.scenes.base import (
    Choice,
    Lesson,
    Parameter,
    Plan,
    Preset,
    Step,
    StepKind,
    Story,
    Value,
    Values,
)
from gpuviz.scenes.request import Request, requests_of, shape
from gpuviz.scenes.request_view import draw, lay_out

_ROLE, _KERNEL = "copy", "coalescing.cu"
_KINDS = {1: ("u8", 1), 2: ("u16", 1), 4: ("f32", 1), 8: ("f32", 2), 16: ("f32", 4)}
_NAMES = {1: "unsigned char", 2: "unsigned short", 4: "float", 8: "float2", 16: "float4"}
_MOST_STEPS = 8  # of one request; more transactions than that are delivered several to a step
_SEND, _ONE, _ALL, _END = 1.0, 0.6, 4.8, 1.5  # seconds: request, a transaction, all, result

PARAMETERS = (
    Parameter("pattern", "pattern", "strided",
              choices=(Choice("strided", "strided"), Choice("random", "random permutation")),
              hint="strided: in[i * stride + offset]; random: in[index[i]]"),
    Parameter("stride", "stride", 2, 1, 32, hint="elements from one lane's element to the next"),
    Parameter("offset", "offset", 0, 0, 31, hint="elements skipped before the first"),
    Parameter("bytes", "element", 4, compiled=True, hint="what one thread copies",
              choices=tuple(Choice(n, f"{name}, {n} byte{'s' * (n > 1)}")
                            for n, name in _NAMES.items())),
    Parameter("threads", "threads per block", 256,
              choices=tuple(Choice(n, str(n)) for n in (32, 64, 128, 256, 512, 1024))),
    Parameter("blocks", "blocks", 64, 1, 1024),
    Parameter("warp", "warp shown", 0, 0, 31, hint="of block 0"),
)  # fmt: skip

PRESETS = (
    Preset("Stride 1", {"pattern": "strided", "stride": 1, "offset": 0, "bytes": 4}),
    Preset("Stride 2", {"pattern": "strided", "stride": 2, "offset": 0, "bytes": 4}),
    Preset("Stride 32", {"pattern": "strided", "stride": 32, "offset": 0, "bytes": 4}),
    Preset("Offset 1", {"pattern": "strided", "stride": 1, "offset": 1, "bytes": 4}),
    Preset("Random", {"pattern": "random", "stride": 1, "offset": 0, "bytes": 4}),
)


def _number(values: Values, name: str) -> int:
    """A whole-number parameter."""
    value: Value = values[name]
    if isinstance(value, str):
        raise InputError(f"{name} is {value!r}; it has to be a whole number")
    return int(value)


def problem(values: Values) -> str:
    """Why these values make no sense together, or ""."""
    warp, threads = _number(values, "warp"), _number(values, "threads")
    if warp * 32 >= threads:
        last = threads // 32 - 1
        return f"A block of {threads} threads has no warp {warp}: its last one is warp {last}."
    return ""


def plan(values: Values) -> tuple[Plan, ...]:
    """One launch of the copy kernel."""
    width, threads = _number(values, "bytes"), _number(values, "threads")
    count = threads * _number(values, "blocks")
    kind, parts = _KINDS[width]
    rest: tuple[str, ...]
    if values["pattern"] == "random":
        entry, reach, rest = "permuted", count, (f"i32[{count}]=shuffle",)
    else:
        stride, offset = _number(values, "stride"), _number(values, "offset")
        entry, reach = "strided", (count - 1) * stride + offset + 1
        rest = (f"i32={stride}", f"i32={offset}")
    buffers = (f"{kind}[{reach * parts}]=rand", f"{kind}[{count * parts}]=zeros")
    grid, block = (_number(values, "blocks"), 1, 1), (threads, 1, 1)
    defines = (("BYTES", str(width)),)
    return (Plan(_ROLE, _KERNEL, entry, grid, block, buffers + rest, defines),)


@dataclass(frozen=True, eq=False)
class _Act:
    """A request in the story: it goes out from `start` on, and is served from `served` to `end`."""

    request: Request
    start: float
    served: float
    end: float

    def sent_at(self, t: float) -> float:
        """How far the request has gone out, 0 to 1."""
        return min(max((t - self.start) / (self.served - self.start), 0.0), 1.0)

    def served_at(self, t: float) -> float:
        """Transactions delivered, the fraction being the one under way."""
        share = (t - self.served) / (self.end - self.served)
        return min(max(share, 0.0), 1.0) * self.request.count


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The story of one warp's requests."""
    run = runs[_ROLE]
    arch, warp = architecture(run.arch), _number(values, "warp")
    acts = _acts(requests_of(run.trace, arch, 0, warp))
    if not acts:
        raise InputError(f"the trace has no request of warp {warp} of block 0; record block 0")
    main = _main(acts).request
    title = f"One warp {'writes' if main.is_store else 'reads'} {shape(main)}"
    end = Step(acts[-1].end, acts[-1].end + _END, "result", "result", _total(acts), role=_ROLE)
    steps = (*(s for act in acts for s in _steps(act)), end)
    expected = _closed_form(values, arch)
    return Story(title, _verdict(main), steps, _picture(acts, title), expected)


def _acts(requests: tuple[Request, ...]) -> tuple[_Act, ...]:
    """The requests one after another."""
    acts, t = [], 0.0
    for request in requests:
        served = t + _SEND
        end = served + min(request.count * _ONE, _ALL)
        acts.append(_Act(request, t, served, end))
        t = end
    return tuple(acts)


def _main(acts: tuple[_Act, ...]) -> _Act:
    """The request the lesson is about: the last load, that of the elements themselves."""
    loads = [act for act in acts if not act.request.is_store]
    return loads[-1] if loads else acts[-1]


def _steps(act: _Act) -> list[Step]:
    """The request, then its transactions, at most eight steps of them."""
    request, did = act.request, act.request.instruction
    kind: StepKind = "store" if request.is_store else "load"
    detail = f"{did.text} · {request.counted(request.count)}"
    edges = np.linspace(0, request.count, min(request.count, _MOST_STEPS) + 1).round().astype(int)
    times = act.served + (act.end - act.served) * edges / request.count
    steps = [Step(act.start, act.served, kind, "request", detail, did.line, _ROLE)]
    for first, last, start, end in zip(edges, edges[1:], times, times[1:], strict=False):
        name = f"{request.noun} {first}" if last == first + 1 else (
            f"{request.noun}s {first} to {last - 1}")  # fmt: skip
        steps.append(Step(float(start), float(end), kind, name, detail, did.line, _ROLE))
    return steps


def _total(acts: tuple[_Act, ...]) -> str:
    """What all requests cost, in a few words."""
    parts = (f"{'store' if a.request.is_store else 'load'} {a.request.counted(a.request.count)}"
             for a in acts)  # fmt: skip
    return " · ".join(parts)


def _verdict(request: Request) -> str:
    """What becomes of the bytes that are moved."""
    moved, used, count = request.moved, request.used, request.counted(request.count)
    if used == moved:
        return f"Every byte of its {count} is {'written' if request.is_store else 'needed'}."
    if request.count - request.ideal == 1 and used == request.ideal * int(request.strip.size[0]):
        return f"It touches {count} where {request.ideal} would do: the ends are only partly used."
    verb = "touches" if request.is_store else "fetches"
    if used * 2 == moved and len(np.unique(request.strip.used)) == 1:
        return f"Half of each {request.noun} it {verb} is never used."
    share = f"one in {moved // used}" if moved % used == 0 else f"{100 * used / moved:.0f} %"
    return f"It {verb} {_bytes(moved)} and uses {used} of them: {share}."


def _bytes(count: int) -> str:
    """`1 024 bytes`, thousands apart by a thin space."""
    return f"{count:,} byte{'s' * (count != 1)}".replace(",", "\u2009")


def _closed_form(values: Values, arch: Architecture) -> str:
    """What arithmetic alone says about the strided load, for architectures with sectors."""
    if values["pattern"] == "random" or not arch.has_sectors:
        return ""
    names = ("stride", "offset", "bytes", "warp")
    count = expected_sectors(*(_number(values, name) for name in names))
    return f"closed form: {count} sectors a load request of this warp"


def expected_sectors(stride: int, offset: int, width: int, warp: int) -> int:
    """Sectors of one warp's strided load when `in` starts on a sector.

    Steps of a sector or less leave none out between the first and the last; longer ones take one a
    lane.
    """
    if stride * width > 32:
        return 32
    first = (warp * 32 * stride + offset) * width
    return (first + 31 * stride * width) // 32 - first // 32 + 1


def _picture(acts: tuple[_Act, ...], title: str) -> Callable[[float, Stage], Frame]:
    """The pure function from time to picture."""

    def frame(t: float, given: Stage) -> Frame:
        stage = given.roomy()
        index = next((i for i, act in enumerate(acts) if t < act.end), acts.index(_main(acts)))
        act = acts[index]
        head, area = heading(stage, title, _sentence(acts, act))
        board_height = stage.text(16) * 1.9 + len(acts) * stage.text(14) * 1.75
        top = Rect(area.x, area.y, area.width, area.height - board_height)
        board = Rect(area.x, top.bottom, area.width, board_height)
        picture = draw(stage, lay_out(act.request, stage, top), act.sent_at(t), act.served_at(t))
        return stage.frame(*head, *picture, *_board(stage, board, acts, index, t))

    return frame


def _sentence(acts: tuple[_Act, ...], act: _Act) -> str:
    """What the request under way does to its bytes; the title has named the main one."""
    main, request = _main(acts), act.request
    if act is main:
        return _verdict(request)
    when = "First it" if act.start < main.start else "Then it"
    verb = "writes" if request.is_store else "reads"
    return f"{when} {verb} {shape(request)}. {_verdict(request)}"


def _board(
    stage: Stage, area: Rect, acts: tuple[_Act, ...], index: int, t: float
) -> tuple[Mark, ...]:
    """The counters of the request under way, and a bar of bytes for each request."""
    counters, rest = area.above(stage.text(16) * 1.9)
    size = stage.text(14)
    names = [f"{'store' if a.request.is_store else 'load'} {a.request.name}" for a in acts]
    room = max(text_width(n, size) for n in names) + size
    most = max(a.request.moved for a in acts)
    marks = [*_counters(stage, counters, acts[index], t)]
    for act, name, row in zip(acts, names, rest.rows(len(acts), size * 0.35), strict=True):
        color = stage.palette.ink if act is acts[index] else stage.palette.muted
        marks.append(label(row.x, row.center[1], name, color, size))
        bar = row.beside(room)[1]
        length = bar.width * act.request.moved / most
        marks += _bar(stage, Rect(bar.x, bar.y, length, bar.height), act, t)
    return tuple(marks)


def _counters(stage: Stage, area: Rect, act: _Act, t: float) -> tuple[Mark, ...]:
    """Requests, transactions, lines: ticking; and that they come from the model."""
    request, palette, size = act.request, stage.palette, stage.text(16)
    done = int(act.served_at(t) + 1e-6)
    lines = len(np.unique(request.line[request.turn < done]))
    every = int(request.line.max()) + 1
    whole = f"{done} of {request.counted(request.count)} {_DONE[request.is_store]}"
    pieces = (
        ("1 request", palette.ink, False),
        (whole, palette.accent, True),
        (f"{lines} of {every} line{'s' * (every != 1)}", palette.ink, False),
        (f"ideal {request.ideal}", palette.muted, False),
    )
    pill = text_width("model", stage.text(13)) + stage.text(13) * 1.2
    marks: list[Mark] = [*badge(stage, area.right - pill, area.center[1], "model", palette.accent)]
    x = area.x
    for text, color, bold in _that_fit(pieces, area.width - pill, size):
        marks.append(label(x, area.center[1], text, color, size, bold))
        x += text_width(text, size, bold) + size * 1.5
    return tuple(marks)


def _that_fit(pieces: tuple[_Piece, ...], width: float, size: float) -> tuple[_Piece, ...]:
    """All pieces, or fewer, down to the second one alone, that fit side by side."""
    choices = (pieces, pieces[:3], pieces[:2], pieces[1:2])
    spaces = (sum(text_width(t, size, b) + size * 1.5 for t, _, b in few) for few in choices)
    return next((few for few, w in zip(choices, spaces, strict=True) if w <= width), pieces[1:2])


_Piece = tuple[str, Rgba, bool]
_DONE = {True: "written", False: "delivered"}


def _bar(stage: Stage, bar: Rect, act: _Act, t: float) -> list[Mark]:
    """Bytes used, solid, then bytes moved for nothing, hatched; grown as far as delivered."""
    palette, request = stage.palette, act.request
    done = request.turn < int(act.served_at(t) + 1e-6)
    scale = bar.width / request.moved
    used, wasted = request.used * scale, (request.moved - request.used) * scale
    now = float(request.strip.used[done].sum()) * scale
    lost = float((request.strip.size - request.strip.used)[done].sum()) * scale
    color = palette.store if request.is_store else palette.accent
    split = bar.x + used
    marks: list[Mark] = [
        Boxes(Rect(bar.x, bar.y, used, bar.height).array(), palette.todo(color)),
        Boxes(Rect(split, bar.y, wasted, bar.height).array(), palette.todo(palette.waste_ground),
              hatch=palette.todo(palette.waste)),
        Boxes(Rect(bar.x, bar.y, now, bar.height).array(), color),
        Boxes(Rect(split, bar.y, lost, bar.height).array(), palette.waste_ground,
              hatch=palette.waste),
    ]  # fmt: skip
    return marks + _bar_words(stage, bar, split, request, palette.todo(color))


def _bar_words(
    stage: Stage, bar: Rect, split: float, request: Request, plate: Rgba
) -> list[Mark]:
    """What the two parts of a bar stand for, in as many words as there is room for."""
    size, palette = stage.text(14), stage.palette
    wasted = request.moved - request.used
    word, verb = ("written", "touched") if request.is_store else ("used", "fetched")
    used = f"{_bytes(request.used)} {word}"
    inside = text_width(used, size, True) + size <= split - bar.x
    marks: list[Mark] = []
    if inside or not wasted:
        x, color = (bar.x, palette.ink) if inside else (bar.right, palette.muted)
        marks += _plate(stage, bar, x + size * 0.3, used, color, plate if inside else None)
    lost = f"{_bytes(wasted)} {verb} for nothing"
    forms = (lost if inside else f"{used}, {lost}", lost, _bytes(wasted), f"{wasted}")
    room = bar.right - split - size * 1.8
    text = first_fitting(forms, room, size, bold=True) if wasted else ""
    if text:
        x = bar.right - text_width(text, size, True) - size * 0.9
        marks += _plate(stage, bar, x, text, palette.warn, palette.waste_ground)
    return marks


def _plate(
    stage: Stage, bar: Rect, x: float, text: str, color: Rgba, fill: Rgba | None
) -> list[Mark]:
    """Words on a plate of their own, to be read whatever the bar behind them does."""
    size = stage.text(14)
    width = text_width(text, size, True) + size * 0.6
    plate = Boxes(Rect(x, bar.y + 2, width, bar.height - 4).array(), fill)
    return [plate, label(x + size * 0.3, bar.center[1], text, color, size, bold=True)]


LESSON = Lesson(
    "coalescing",
    "Coalescing",
    "Global memory",
    "How many 32-byte sectors one warp's request needs, and how many of their bytes it uses.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    problem,
)
