"""A lesson made of a user's own kernel: the requests of one of its warps, one after another."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.arrays import I64
from gpuviz.language import tr
from gpuviz.memory.bank_request import BankRequest
from gpuviz.memory.bank_request import one_request as one_bank_request
from gpuviz.memory.request import Request, one_request
from gpuviz.memory.transaction_names import counted
from gpuviz.panels.bank_board import with_board
from gpuviz.panels.bank_map import BankMap
from gpuviz.panels.figures import Sourced
from gpuviz.panels.layout import Node, rows
from gpuviz.panels.picture import Picture
from gpuviz.panels.script import Script
from gpuviz.runners.base import Run, not_checked
from gpuviz.scenes.base import Lesson, Parameter, Plan, Story, Values
from gpuviz.scenes.kernel_launch import KernelLaunch, record_of
from gpuviz.scenes.requests.acts import Pace, act_of
from gpuviz.scenes.requests.board import told
from gpuviz.scenes.requests.sentences import title, verdict
from gpuviz.scenes.values import number
from gpuviz.trace import Requests, Trace

CHAPTER = "Your kernels"
ROLE = "kernel"
_MOST = 24  # requests told of
_MOST_BLOCKS = 1 << 20
_SEND, _WAVE, _WAVES, _END = 0.8, 0.5, 4.0, 1.5  # seconds


def parameters_of(block: Parameter, warps: int) -> tuple[Parameter, ...]:
    """Which block, which warp, and the how-manieth request to show; what can be chosen of them."""
    warp = Parameter("warp", tr("warp shown"), 0, 0, warps - 1)
    hint = tr("In a loop: the request of this pass, or of the last.")
    turn = Parameter("turn", tr("pass of the loop"), 1, 1, 1000, hint=hint)
    every = block, warp, turn
    return tuple(one for one in every if len(one.choices) > 1 or one.maximum > one.minimum)


def lesson_of(launch: KernelLaunch) -> Lesson:
    """The launch as a lesson."""
    last = min(launch.blocks, _MOST_BLOCKS) - 1
    block = Parameter("block", tr("block shown"), 0, 0, last)
    plan = Plan(
        ROLE,
        str(launch.path.absolute()),
        launch.entry,
        launch.grid,
        launch.block,
        launch.arguments,
        launch.defines,
        launch.dynamic_shared,
        options=launch.options,
    )
    return Lesson(
        _id(launch),
        f"{launch.name} ({launch.path.name})",
        CHAPTER,
        tr("What the memory system makes of your own kernel, request by request."),
        parameters_of(block, launch.warps),
        (),
        lambda values: (replace(plan, record=(_chosen(values, "block"),)),),
        tell,
        launch=record_of(launch),
    )


def _id(launch: KernelLaunch) -> str:
    """Of the kernel, however it is launched."""
    told = repr((str(launch.path), launch.name))
    return "kernel-" + hashlib.sha256(told.encode()).hexdigest()[:12]


def _chosen(values: Values, name: str) -> int:
    """A parameter's value; those with one possible value are left out of the lesson."""
    return number(values, name) if name in values else 1 if name == "turn" else 0


@dataclass(frozen=True, eq=False)
class _Part:
    """One request of the story: when it ends, its words and its panels at a time."""

    end: float
    title: str
    sentence: str
    at: Callable[[float], Node]


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The requests of the chosen warp in the order it made them."""
    trace, arch, script = runs[ROLE].trace, architecture(runs[ROLE].arch), Script(ROLE)
    block, warp, turn = (_chosen(values, name) for name in ("block", "warp", "turn"))
    parts = _parts(script, trace, arch, trace.of(block=block, warp=warp), turn)
    doubt = _doubt(runs[ROLE].unchecked)
    if not parts:
        return _nothing(script, warp, block, doubt)

    def at(t: float) -> Picture:
        part = next((p for p in parts if t < p.end), parts[-1])
        return Picture(part.title, part.sentence, rows(part.at(t), *doubt))

    return Story.of(script, at)


def _parts(
    script: Script, trace: Trace, arch: Architecture, rows: Requests, turn: int
) -> tuple[_Part, ...]:
    """A part for each memory instruction that a warp executed, for its request of that turn."""
    made = (_part(script, trace, arch, rows, row) for row in _picked(rows, turn)[:_MOST].tolist())
    return tuple(part for part in made if part is not None)


def _picked(rows: Requests, turn: int) -> I64:
    """Of each instruction its request of that turn, or its last one; in the order issued."""
    found = [np.flatnonzero(rows.instruction == i) for i in np.unique(rows.instruction)]
    return np.sort(np.array([at[min(turn, len(at)) - 1] for at in found], np.int64))


def _part(
    script: Script, trace: Trace, arch: Architecture, rows: Requests, row: int
) -> _Part | None:
    """The part of one request; None where there is nothing to be seen of its memory."""
    space = trace.instructions[rows.instruction[row]].space
    if space == "shared":
        return _shared(script, one_bank_request(trace, arch, rows, row))
    request = one_request(trace, arch, rows, row) if space == "global" else None
    return None if request is None else _global(script, request)


def _global(script: Script, request: Request) -> _Part:
    act = act_of(script, request, Pace())
    return _Part(act.end, title(request), verdict(request), lambda t: told((act,), act, t))


def _shared(script: Script, request: BankRequest) -> _Part:
    """One step, in which the request goes out and is served."""
    served, did = min(request.count * _WAVE, _WAVES), request.instruction
    detail = f"{did.text} · {counted('wavefront', request.count)}"
    act = script.act(_SEND + served, "shared", tr("shared memory"), detail, did.line)
    send, serve = act.cut(_SEND)

    def at(t: float) -> Node:
        done = serve.counted(t, request.count)
        return with_board(BankMap(request, send.share(t), done), request, done)

    return _Part(act.end, _shared_title(request), _conflict(request), at)


def _shared_title(request: BankRequest) -> str:
    count = counted("wavefront", request.count)
    if request.is_store:
        return tr("One warp writes to shared memory in {count}", count=count)
    return tr("One warp reads shared memory in {count}", count=count)


def _conflict(request: BankRequest) -> str:
    if request.worst is None:
        return tr("No two lanes want different words of one bank.")
    return tr(
        "Lanes want different words of one bank: {ideal} would do without conflicts.",
        ideal=counted("wavefront", request.ideal),
    )


def _doubt(file: str) -> tuple[Sourced, ...]:
    """Below the picture of a program that a file brought: what it is worth."""
    return (Sourced((not_checked(file),), tr("not checked"), whole=True),) if file else ()


def _nothing(script: Script, warp: int, block: int, doubt: tuple[Sourced, ...]) -> Story:
    """A warp without requests to show is no error: it may be beyond the data."""
    words = tr(
        "Warp {warp} of block {block} asks nothing of global or shared memory",
        warp=warp,
        block=block,
    )
    said = tr("Choose another warp or block; the counts beside are of the whole launch.")
    script.act(_END, "result", tr("nothing"))
    return Story.of(script, lambda t: Picture(words, said, rows(*doubt)))
