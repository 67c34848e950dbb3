"""Banks: which words of shared memory one warp's load finds in the same bank, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.base.arrays import F64, I64
from gpuviz.base.errors import InputError
from gpuviz.course import named
from gpuviz.memory import strides
from gpuviz.memory.bank_request import BankRequest, bank_requests
from gpuviz.memory.banks import wavefronts
from gpuviz.memory.strides import formula
from gpuviz.memory.units import counted
from gpuviz.panels.bank_board import with_board
from gpuviz.panels.bank_map import BankMap
from gpuviz.panels.count_boxes import CountBoxes
from gpuviz.panels.figures import Figure, FigureRow, Provenance
from gpuviz.panels.layout import Line, rows
from gpuviz.panels.picture import Picture
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values, number
from gpuviz.story.measured import time_figures, time_of
from gpuviz.story.script import Act, Script
from gpuviz.traces.trace import LANES, Trace
from gpuviz.words.language import english, grouped, tr, trn

_ROLE, _SWEEP, _KERNEL = "warp", "every stride", "banks.cu"
_KINDS = {1: ("u8", 1), 2: ("u16", 1), 4: ("f32", 1), 8: ("f32", 2), 16: ("f32", 4)}
_NAMES = {1: "unsigned char", 2: "unsigned short", 4: "float", 8: "float2", 16: "float4"}
_FILL, _BARRIER, _SEND, _ONE, _ALL, _END = 2.2, 0.5, 1.6, 2.4, 6.4, 2.5  # seconds
_TABLE, _TABLE_END = 7.0, 2.0
_BLOCKS, _THREADS, _READS = 2048, 256, 256  # of the launch that is timed

LOOK_FOR = (
    "Into how many wavefronts a warp's load falls when lanes want different words of one bank."
)
WORDS = ("bank", "word", "wavefront", "conflict", "broadcast", "group", "half-warp")

PARAMETERS = (
    Parameter(
        "pattern",
        "pattern",
        "stride",
        offers={
            "stride": "stride",
            "permutation": "random permutation of each half warp",
            "broadcast": "broadcast",
            "column": "column of a tile",
        },
        hint="stride: words[lane * stride]; broadcast: words[lane / share * stride]; "
        "column: words[lane * (32 + padding) + column]",
    ),
    Parameter("stride", "stride", 8, 0, 64, hint="elements from one lane (or group) to the next"),
    Parameter(
        "share",
        "lanes per word",
        32,
        offers=(2, 4, 8, 16, 32),
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
        offers={
            n: english(f"{name}, {{n}} byte", f"{name}, {{n}} bytes", n)
            for n, name in _NAMES.items()
        },
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
    """The load of the pattern; the same with many reads; and, with a stride, one of all strides."""
    width, blocks = number(values, "bytes"), number(values, "blocks")
    entry, reach, scalars = _entry(values)
    extra = (*(f"i32={n}" for n in scalars), *(("i32[16]=shuffle",) * (entry == "permuted")))
    main = _launch(_ROLE, entry, blocks, LANES, width, reach, (*extra, "i32=1"))
    more = (*extra, f"i32={_READS}")
    large = _launch(_ROLE, entry, _BLOCKS, _THREADS, width, reach, more)
    beside = main.companion(large.size, large.grid, large.arguments, block=large.block)
    first, count = _swept(values)
    if not count:
        return main, beside
    reach = 31 * (first + count - 1) + 1
    every = _launch(_SWEEP, "strides", count, LANES, width, reach, (f"i32={first}",))
    return main, beside, every


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
    role: str, entry: str, blocks: int, threads: int, width: int, reach: int, extra: tuple[str, ...]
) -> Plan:
    kind, parts = _KINDS[width]
    buffers = (f"{kind}[{reach * parts}]=rand", f"{kind}[{threads * blocks * parts}]=zeros")
    record = tuple(range(blocks)) if role == _SWEEP else (0,)
    reads = extra[-1].removeprefix("i32=") if role == _ROLE else "1"
    each = trn("{n} load a lane", "{n} loads a lane", int(reads))
    warps = blocks * threads // LANES
    return Plan(
        role,
        _KERNEL,
        entry,
        (blocks, 1, 1),
        (threads, 1, 1),
        buffers + extra,
        (("BYTES", str(width)),),
        reach * width,
        record,
        size=f"{trn('{n} warp', '{n} warps', warps, n=grouped(warps))}, {each}",
    )


def narrate(values: Values, runs: Runs) -> Story:
    """Fill, barrier, load with its wavefronts, result; then the table of all strides."""
    run, (first, count) = runs[_ROLE], _swept(values)
    arch = architecture(run.arch)
    requests = bank_requests(run.trace, arch, 0, 0)
    stores = tuple(r for r in requests if r.is_store)
    load = next((r for r in reversed(requests) if not r.is_store), None)
    if load is None:
        raise InputError("the trace has no shared load of block 0; record block 0")
    table = strides_of(runs[_SWEEP].trace, arch, first) if count > 1 else None
    picked = number(values, "stride") if first == 1 else 32 + number(values, "padding")

    script, did = Script(_ROLE), load.instruction
    stored = counted("wavefront", sum(s.count for s in stores))
    detail = f"{stores[0].instruction.text} · {len(stores)} × · {stored}"
    fill = script.act(_FILL, "store", tr("fill"), detail, stores[0].instruction.line)
    script.act(_BARRIER, "barrier", tr("barrier"), "bar.sync")
    detail = f"{did.text} · {counted('wavefront', load.count)}"
    send = script.act(_SEND, "load", tr("request"), detail, did.line)
    length = min(load.count * _ONE, _ALL)
    serve = script.series(length, load.count, "load", _wave, detail, did.line)
    end = script.act(_END, "result", tr("result"), detail)
    sweep = _sweep_acts(script, table)

    title, verdict, time = _title(values, load), _verdict(load), time_figures(time_of(run))

    def at(t: float) -> Picture:
        if table is not None and t >= end.end:
            told, padded = sweep.counted(t, len(table.stride)), values["pattern"] == "column"
            return picture(table, told, picked, padded)
        done, served = fill.counted(t, len(stores)), serve.counted(t, load.count)
        filled = _filled(load, stores, done)
        if t >= fill.end:
            shown = BankMap(load, send.share(t), served, filled=filled)
            return Picture(title, verdict, with_board(shown, load, served, *time))
        now = min(int(done), len(stores) - 1)
        shown = BankMap(stores[now], 1.0, (done - now) * stores[now].count, load, filled)
        return Picture(title, _fill_sentence(stores), with_board(shown, load, served, *time))

    return Story.of(script, at, _closed_form(values, arch), verdict)


def _sweep_acts(script: Script, table: Strides | None) -> Act:
    """The table fills, and stays."""
    if table is None:
        return Act(script.end, script.end)
    what = tr("{count} strides", count=len(table.stride))
    sweep = script.act(_TABLE, "load", tr("every stride"), what, table.line, _SWEEP)
    script.act(_TABLE_END, "result", tr("the rule"), table.formula or what, role=_SWEEP)
    return sweep


def _wave(first: int, last: int) -> str:
    """The wavefronts of one act."""
    if first == last:
        return tr("wavefront {number}", number=first + 1)
    return tr("wavefronts {first} to {last}", first=first + 1, last=last + 1)


def _filled(load: BankRequest, stores: tuple[BankRequest, ...], done: float) -> F64:
    """(R * B,) which words of the load's rows have been written by so many stores."""
    written = {w: i for i, s in enumerate(stores) for w in s.words.tolist()}
    when = [written.get(w, len(stores)) for w in load.brought.shown.tolist()]
    return np.clip(done - np.array(when), 0.0, 1.0)


def _title(values: Values, load: BankRequest) -> str:
    """The pattern, and what it does to the banks."""
    subject = {
        "stride": tr("Stride {stride}", stride=values["stride"]),
        "permutation": tr("A random permutation of each half warp"),
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
        what = {"count": len(load.busy), "banks": load.brought.banks}
        return tr("all lanes meet in {count} of {banks} banks", **what)
    return tr("{ways} lanes meet in one bank", ways=load.worst.degree)


def _verdict(load: BankRequest) -> str:
    """What the conflict costs."""
    if load.count <= load.ideal:
        whole = tr("One wavefront serves the whole warp.")
        each = tr("One wavefront serves each of the {count} groups of lanes.", count=load.ideal)
        return whole if load.count == 1 else each
    what = {"count": counted("wavefront", load.count), "ideal": load.ideal}
    return tr("A bank delivers one word a wavefront: {count} where {ideal} would do.", **what)


def _fill_sentence(stores: tuple[BankRequest, ...]) -> str:
    """How the words come to shared memory."""
    each = counted("wavefront", max(s.count for s in stores))
    if len(stores) == 1:
        return tr("First the warp fills shared memory: one store, {each}.", each=each)
    what = {"count": len(stores), "each": each}
    return tr("First the warp fills shared memory: {count} stores of {each} each.", **what)


def _closed_form(values: Values, arch: Architecture) -> str:
    """What arithmetic alone says about the load."""
    pitch = {"stride": number(values, "stride"), "column": 32 + number(values, "padding")}
    stride, width = pitch.get(str(values["pattern"]), 0), number(values, "bytes")
    count = strides.expected(arch, stride, width)
    if count is None:
        return ""
    rule = strides.formula(arch, width).replace("s", str(stride))
    said = counted("wavefront", count)
    return tr(
        "by arithmetic: {count} a load request, {rule}", count=said, rule=rule or tr("the gcd rule")
    )


@dataclass(frozen=True, eq=False)
class Strides:
    """Wavefronts of the load with (S,) `stride`; `ideal` ones without conflicts; and its line.

    `formula` is what arithmetic says, with the stride as `s`, "" where no simple rule holds.
    """

    stride: I64
    count: I64
    ideal: I64
    formula: str
    line: int


def strides_of(trace: Trace, arch: Architecture, first: int) -> Strides:
    """What each block's load took; block b ran with stride `first` + b."""
    loads = trace.of(space="shared", op="load", warp=0)
    loads = loads.select(np.asarray(np.argsort(loads.block), np.int64))
    did = trace.instructions[loads.instruction[0]]
    active = np.ones_like(loads.address, dtype=bool)
    cost = wavefronts(arch, loads.address, active, did.width)
    return Strides(first + loads.block, cost.count, cost.ideal, formula(arch, did.width), did.line)


def picture(table: Strides, filled: float, picked: int, padded: bool) -> Picture:
    """The table with its first `filled` entries, the stride `picked` marked.

    `padded`: strides are rows of so many elements.
    """
    return Picture(_sweep_title(table), _sentence(table, padded), _body(table, filled, picked))


def _sweep_title(table: Strides) -> str:
    """The rule that the table shows."""
    if table.formula:
        return tr("The rule: stride s takes {formula} wavefronts", formula=table.formula)
    return tr("What every stride takes")


def _sentence(table: Strides, padded: bool) -> str:
    """What was run for the table."""
    first, last = int(table.stride[0]), int(table.stride[-1])
    if padded:
        return tr(
            "The same kernel with rows of {first} to {last} elements, one block for each: "
            "an odd pitch is free.",
            first=first,
            last=last,
        )
    free = bool((table.count <= table.ideal)[table.stride % 2 == 1].all())
    odd = tr("odd strides are free") if free else tr("see which strides are free")
    what = {"first": first, "last": last, "odd": odd}
    return tr("The same kernel with stride {first} to {last}, one block for each: {odd}.", **what)


def _body(table: Strides, filled: float, picked: int) -> Line:
    """What every stride takes, the one being filled as an equation, and what was published."""
    now = min(int(filled), len(table.stride) - 1)
    stride, count = int(table.stride[now]), counted("wavefront", int(table.count[now]))
    said = tr("stride {stride} takes {wavefronts}", stride=stride, wavefronts=count)
    rule = f"{said} = {table.formula.replace('s', str(stride))}" if table.formula else said
    ways = np.log2(np.maximum(table.count / np.maximum(table.ideal, 1), 1))
    names = table.stride.tolist()
    place = names.index(picked) if picked in names else -1
    published = tr(
        "{source}, 16 banks: stride 2 is 2-way, stride 8 is 8-way, odd strides are free",
        source=tr("lecture slides on memory sharing and banks, G80"),
    )
    key = tr("in each box: stride, wavefronts below")
    return rows(
        CountBoxes(tuple(map(str, names)), table.count, ways / 5, filled, place),
        FigureRow(
            (
                Figure(rule, bold=True, shorter=(said,)),
                Figure(key, "muted", shorter=(tr("stride, wavefronts"),)),
            )
        ),
        Provenance((published,), whole=True),
    )


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, words=WORDS)
