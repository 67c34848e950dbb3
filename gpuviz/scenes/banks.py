"""Banks: which words of shared memory one warp's load finds in the same bank, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.arrays import F64
from gpuviz.draw.banks import Moment, picture, place
from gpuviz.draw.heading import heading
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Frame, Mark
from gpuviz.draw.stage import Stage
from gpuviz.errors import InputError
from gpuviz.language import tr
from gpuviz.memory import strides
from gpuviz.panels.script import Step
from gpuviz.runners.base import Run
from gpuviz.scenes.base import Choice, Lesson, Parameter, Plan, Preset, Story, Values
from gpuviz.scenes.measured import Timed, time_of
from gpuviz.scenes.shared_memory import stride_table
from gpuviz.scenes.shared_memory.bank_request import BankRequest, bank_requests
from gpuviz.scenes.shared_memory.bank_view import (
    board,
    board_height,
    lane_tip,
    wavefronts,
    word_tip,
)
from gpuviz.scenes.shared_memory.stride_table import Table, table_of
from gpuviz.scenes.values import number

_ROLE, _SWEEP, _KERNEL = "warp", "every stride", "banks.cu"
_KINDS = {1: ("u8", 1), 2: ("u16", 1), 4: ("f32", 1), 8: ("f32", 2), 16: ("f32", 4)}
_NAMES = {1: "unsigned char", 2: "unsigned short", 4: "float", 8: "float2", 16: "float4"}
_MOST_STEPS = 8
_FILL, _BARRIER, _SEND, _ONE, _ALL, _END = 2.2, 0.5, 1.6, 2.4, 6.4, 2.5  # seconds
_TABLE, _TABLE_END = 7.0, 2.0

PARAMETERS = (
    Parameter(
        "pattern",
        "pattern",
        "stride",
        choices=(
            Choice("stride", "stride"),
            Choice("permutation", "random permutation"),
            Choice("broadcast", "broadcast"),
            Choice("column", "column of a tile"),
        ),
        hint="stride: words[lane * stride]; broadcast: words[lane / share * stride]; "
        "column: words[lane * (32 + padding) + column]",
    ),
    Parameter("stride", "stride", 8, 0, 64, hint="elements from one lane (or group) to the next"),
    Parameter(
        "share",
        "lanes per word",
        32,
        choices=tuple(Choice(n, str(n)) for n in (2, 4, 8, 16, 32)),
        hint="broadcast: lanes that read the same element",
    ),
    Parameter("padding", "padding", 0, 0, 15, hint="column: unused elements at the end of a row"),
    Parameter("column", "column", 0, 0, 31, hint="column: which one is read"),
    Parameter(
        "bytes",
        "element",
        4,
        compiled=True,
        hint="what one lane reads",
        choices=tuple(Choice(n, f"{name}, {n} byte{'s' * (n > 1)}") for n, name in _NAMES.items()),
    ),
    Parameter("blocks", "blocks", 64, 1, 1024, hint="of one warp each; block 0 is shown"),
)

PRESETS = (
    Preset("Stride 8", {"pattern": "stride", "stride": 8, "bytes": 4}),
    Preset("Stride 1", {"pattern": "stride", "stride": 1, "bytes": 4}),
    Preset("Stride 7", {"pattern": "stride", "stride": 7, "bytes": 4}),
    Preset("Permutation", {"pattern": "permutation", "bytes": 4}),
    Preset("Broadcast", {"pattern": "broadcast", "stride": 8, "share": 8, "bytes": 4}),
    Preset("Tile column", {"pattern": "column", "padding": 0, "column": 0, "bytes": 4}),
    Preset("Padded tile", {"pattern": "column", "padding": 1, "column": 0, "bytes": 4}),
    Preset("float4", {"pattern": "stride", "stride": 1, "bytes": 16}),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """The load of the pattern; and, where there is a stride, one launch of all strides."""
    width, blocks = number(values, "bytes"), number(values, "blocks")
    entry, reach, scalars = _entry(values)
    extra = (*(f"i32={n}" for n in scalars), *(("i32[32]=shuffle",) * (entry == "permuted")))
    main = _launch(_ROLE, entry, blocks, width, reach, extra)
    first, count = _swept(values)
    if not count:
        return (main,)
    reach = 31 * (first + count - 1) + 1
    return main, _launch(_SWEEP, "strides", count, width, reach, (f"i32={first}",))


def _entry(values: Values) -> tuple[str, int, tuple[int, ...]]:
    """Kernel, elements of shared memory it fills, and its numbers."""
    stride, share = number(values, "stride"), number(values, "share")
    padding = number(values, "padding")
    if values["pattern"] == "stride":
        return "strided", 31 * stride + 1, (stride,)
    if values["pattern"] == "broadcast":
        return "broadcast", 31 // share * stride + 1, (stride, share)
    if values["pattern"] == "column":
        return "column", 32 * (32 + padding), (padding, number(values, "column"))
    return "permuted", 32, ()


def _swept(values: Values) -> tuple[int, int]:
    """First stride of the table and how many there are; 16-byte elements leave room for half."""
    half = number(values, "bytes") == 16
    if values["pattern"] == "stride":
        return 1, 32 if half else 64
    return (32, 1 if half else 16) if values["pattern"] == "column" else (0, 0)


def _launch(
    role: str, entry: str, blocks: int, width: int, reach: int, extra: tuple[str, ...]
) -> Plan:
    kind, parts = _KINDS[width]
    buffers = (f"{kind}[{reach * parts}]=rand", f"{kind}[{32 * blocks * parts}]=zeros")
    record = tuple(range(blocks)) if role == _SWEEP else (0,)
    return Plan(
        role,
        _KERNEL,
        entry,
        (blocks, 1, 1),
        (32, 1, 1),
        buffers + extra,
        (("BYTES", str(width)),),
        reach * width,
        record,
    )


@dataclass(frozen=True, eq=False)
class _Scene:
    """All that the pictures select from.

    `written` gives, for every word, the number of the store that fills it; `titles` and
    `sentences` are those of the load and of the table.
    """

    load: BankRequest
    stores: tuple[BankRequest, ...]
    written: dict[int, int]
    table: Table | None
    picked: int
    served: float  # when the load has gone out
    done: float  # when the load's last wavefront is over
    turn: float  # when the table takes over
    titles: tuple[str, str]
    sentences: tuple[str, str]
    time: Timed | None

    def served_at(self, t: float) -> float:
        """Wavefronts of the load that are over, the fraction being the one under way."""
        share = (t - self.served) / (self.done - self.served)
        return min(max(share, 0.0), 1.0) * self.load.count


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """Fill, barrier, load with its wavefronts, result; then the table of all strides."""
    run = runs[_ROLE]
    arch = architecture(run.arch)
    requests = bank_requests(run.trace, arch, 0, 0)
    loads = [r for r in requests if not r.is_store]
    if not loads:
        raise InputError("the trace has no shared load of block 0; record block 0")
    scene = _scene(values, loads[-1], tuple(r for r in requests if r.is_store), runs, arch)
    return Story(
        scene.titles[0],
        scene.sentences[0],
        _steps(scene),
        lambda t, given: _frame(scene, t, given.roomy()),
        _closed_form(values, arch),
    )


def _scene(
    values: Values,
    load: BankRequest,
    stores: tuple[BankRequest, ...],
    runs: Mapping[str, Run],
    arch: Architecture,
) -> _Scene:
    first = _swept(values)[0]
    table = table_of(runs[_SWEEP].trace, arch, first) if _SWEEP in runs else None
    if table is not None and len(table.stride) < 2:
        table = None
    written = {w: i for i, s in enumerate(stores) for w in s.words.tolist()}
    served = _FILL + _BARRIER + _SEND
    done = served + min(load.count * _ONE, _ALL)
    picked = number(values, "stride") if first == 1 else 32 + number(values, "padding")
    return _Scene(
        load,
        stores,
        written,
        table,
        picked,
        served,
        done,
        done + _END,
        (_title(values, load), _table_title(table)),
        (_verdict(load), _table_sentence(values, table)),
        time_of(runs[_ROLE]),
    )


def _title(values: Values, load: BankRequest) -> str:
    """The pattern, and what it does to the banks."""
    subject = {
        "stride": tr("Stride {stride}", stride=values["stride"]),
        "permutation": tr("A random permutation"),
        "broadcast": tr("Broadcast"),
        "column": tr("Column of a 32 × {width} tile", width=32 + number(values, "padding")),
    }[str(values["pattern"])]
    return f"{subject}: {_effect(load)}"


def _effect(load: BankRequest) -> str:
    """What the lanes find, in a few words."""
    if load.worst is None:
        if len(load.words) == 1:
            return tr("one word for all lanes")
        if load.brought.shared.any():
            return tr("lanes share words, no bank is asked twice")
        if len(load.groups) > 1:
            return tr("each group finds every word in another bank")
        return tr("every lane in a bank of its own")
    if len(load.busy) == 1:
        return tr("every lane in one bank")
    if load.instruction.width < 8 and len(load.groups) == 1:
        return tr(
            "all lanes meet in {count} of {banks} banks",
            count=len(load.busy),
            banks=load.brought.banks,
        )
    return tr("{ways} lanes meet in one bank", ways=load.worst.degree)


def _verdict(load: BankRequest) -> str:
    """What the conflict costs."""
    if load.count <= load.ideal:
        whole = tr("One wavefront serves the whole warp.")
        each = tr("One wavefront serves each of the {count} groups of lanes.", count=load.ideal)
        return whole if load.count == 1 else each
    return tr(
        "A bank delivers one word a wavefront: {count} where {ideal} would do.",
        count=wavefronts(load.count),
        ideal=load.ideal,
    )


def _table_title(table: Table | None) -> str:
    """The rule that the table shows."""
    if table is None:
        return ""
    if table.formula:
        return tr("The rule: stride s takes {formula} wavefronts", formula=table.formula)
    return tr("What every stride takes")


def _table_sentence(values: Values, table: Table | None) -> str:
    """What was run for the table."""
    if table is None:
        return ""
    first, last = int(table.stride[0]), int(table.stride[-1])
    if values["pattern"] == "column":
        return tr(
            "The same kernel with rows of {first} to {last} elements, one block for each: "
            "an odd pitch is free.",
            first=first,
            last=last,
        )
    free = bool((table.count <= table.ideal)[table.stride % 2 == 1].all())
    odd = tr("odd strides are free") if free else tr("see which strides are free")
    return tr(
        "The same kernel with stride {first} to {last}, one block for each: {odd}.",
        first=first,
        last=last,
        odd=odd,
    )


def _closed_form(values: Values, arch: Architecture) -> str:
    """What arithmetic alone says about the load."""
    pitch = {"stride": number(values, "stride"), "column": 32 + number(values, "padding")}
    stride, width = pitch.get(str(values["pattern"]), 0), number(values, "bytes")
    count = strides.expected(arch, stride, width)
    if count is None:
        return ""
    rule = strides.formula(arch, width).replace("s", str(stride))
    by = rule or tr("the gcd rule")
    return tr("closed form: {count} a load request, {rule}", count=wavefronts(count), rule=by)


def _steps(scene: _Scene) -> tuple[Step, ...]:
    """Fill, barrier, request, wavefronts, result, table."""
    load, fill = scene.load, scene.stores[0].instruction
    stored = sum(s.count for s in scene.stores)
    detail = f"{load.instruction.text} · {wavefronts(load.count)}"
    line, t = load.instruction.line, _FILL + _BARRIER
    steps = [
        Step(
            0.0,
            _FILL,
            "store",
            tr("fill"),
            f"{fill.text} · {len(scene.stores)} × · {wavefronts(stored)}",
            fill.line,
            _ROLE,
        ),
        Step(_FILL, t, "barrier", tr("barrier"), "bar.sync", 0, _ROLE),
        Step(t, scene.served, "load", tr("request"), detail, line, _ROLE),
    ]
    edges = np.linspace(0, load.count, min(load.count, _MOST_STEPS) + 1).round().astype(int)
    times = scene.served + (scene.done - scene.served) * edges / load.count
    for a, b, start, end in zip(edges, edges[1:], times, times[1:], strict=False):
        name = (
            tr("wavefront {number}", number=b)
            if b == a + 1
            else tr("wavefronts {first} to {last}", first=a + 1, last=b)
        )
        steps.append(Step(float(start), float(end), "load", name, detail, line, _ROLE))
    steps.append(Step(scene.done, scene.turn, "result", tr("result"), detail, 0, _ROLE))
    return (*steps, *_table_steps(scene))


def _table_steps(scene: _Scene) -> tuple[Step, ...]:
    """The table fills, and stays."""
    if scene.table is None:
        return ()
    table, end = scene.table, scene.turn + _TABLE
    what = tr("{count} strides", count=len(table.stride))
    return (
        Step(scene.turn, end, "load", tr("every stride"), what, table.line, _SWEEP),
        Step(end, end + _TABLE_END, "result", tr("the rule"), table.formula or what, 0, _SWEEP),
    )


def _frame(scene: _Scene, t: float, stage: Stage) -> Frame:
    """The pure function from time to picture."""
    if scene.table is not None and t >= scene.turn:
        head, area = heading(stage, scene.titles[1], scene.sentences[1])
        filled = (t - scene.turn) / _TABLE * len(scene.table.stride)
        table = stride_table.draw(stage, area, scene.table, filled, scene.picked)
        return stage.frame(*head, *table)
    sentence = scene.sentences[0] if t >= _FILL else _fill_sentence(scene)
    head, area = heading(stage, scene.titles[0], sentence)
    tall = board_height(stage)
    top = Rect(area.x, area.y, area.width, area.height - tall)
    low = Rect(area.x, top.bottom, area.width, tall)
    marks = _fill(scene, t, stage, top) if t < _FILL else _load(scene, t, stage, top)
    served = scene.served_at(t)
    return stage.frame(*head, *marks, *board(stage, low, scene.load, served, scene.time))


def _fill_sentence(scene: _Scene) -> str:
    """How the words come to shared memory."""
    stores = scene.stores
    each = wavefronts(max(s.count for s in stores))
    if len(stores) == 1:
        return tr("First the warp fills shared memory: one store, {each}.", each=each)
    return tr(
        "First the warp fills shared memory: {count} stores of {each} each.",
        count=len(stores),
        each=each,
    )


def _load(scene: _Scene, t: float, stage: Stage, area: Rect) -> tuple[Mark, ...]:
    """The load: asked for, then served wavefront by wavefront."""
    load = scene.load
    sent = min(max((t - _FILL - _BARRIER) / _SEND, 0.0), 1.0)
    now = Moment(sent, scene.served_at(t), _filled(scene, float(len(scene.stores))))
    worst = load.worst.bank if load.worst and sent > 0 else -1
    return picture(
        stage,
        place(load.brought, stage, area),
        load.active,
        load.groups,
        now,
        worst,
        lane_tip(load),
        word_tip(load),
    )


def _fill(scene: _Scene, t: float, stage: Stage, area: Rect) -> tuple[Mark, ...]:
    """The stores that fill the words, one after another."""
    stored = t / _FILL * len(scene.stores)
    number = min(int(stored), len(scene.stores) - 1)
    store = scene.stores[number]
    served = (stored - number) * store.count
    now = Moment(1.0, served, _filled(scene, stored), store=True)
    placed = place(store.brought, stage, area, scene.load.brought.rows)
    return picture(
        stage, placed, store.active, store.groups, now, -1, lane_tip(store), word_tip(scene.load)
    )


def _filled(scene: _Scene, stored: float) -> F64:
    """(R * B,) which words of the rows shown have been written by so many stores."""
    rows, banks = scene.load.brought.rows, scene.load.brought.banks
    words = (rows[:, None] * banks + np.arange(banks)).ravel()
    when = np.array([scene.written.get(w, len(scene.stores)) for w in words.tolist()])
    return np.clip(stored - when, 0.0, 1.0)


LESSON = Lesson(
    "banks",
    "Shared memory banks",
    "Shared memory",
    "Into how many wavefronts a warp's load falls when lanes want different words of one bank.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    words=("bank", "word", "wavefront", "conflict", "broadcast", "group", "half-warp"),
)
