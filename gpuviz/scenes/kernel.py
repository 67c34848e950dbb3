"""A lesson made of a user's own kernel: the requests of one of its warps, one after another."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.arrays import I64
from gpuviz.draw.heading import heading
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Frame, Mark
from gpuviz.draw.stage import Stage
from gpuviz.errors import InputError
from gpuviz.language import tr
from gpuviz.memory.bank_request import BankRequest, bank_requests
from gpuviz.memory.transaction_names import counted
from gpuviz.panels.bank_board import with_board
from gpuviz.panels.bank_map import BankMap
from gpuviz.panels.layout import place
from gpuviz.panels.script import Act, Step
from gpuviz.runners.base import Run
from gpuviz.scenes.base import Lesson, Parameter, Plan, Story, Value, Values
from gpuviz.scenes.request.board import board, board_height
from gpuviz.scenes.request.requests import Request, requests_of
from gpuviz.scenes.request.shape import title, verdict
from gpuviz.scenes.request.story import Pace, acts_of, steps_of
from gpuviz.scenes.request.view import draw, lay_out
from gpuviz.scenes.values import number
from gpuviz.trace import Requests, Trace

CHAPTER = "Your kernels"
ROLE = "kernel"
_MOST = 24  # requests told of
_MOST_BLOCKS = 1 << 20
_SEND, _WAVE, _WAVES, _END = 0.8, 0.5, 4.0, 1.5  # seconds
Triple = tuple[int, int, int]


@dataclass(frozen=True)
class KernelLaunch:
    """A launch of a kernel in a file, as `gpuviz count` takes it. `arguments` are SPECs."""

    path: Path
    entry: str
    name: str
    grid: Triple
    block: Triple
    arguments: tuple[str, ...]
    dynamic_shared: int = 0

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def warps(self) -> int:
        """Warps of a block."""
        return -(-self.block[0] * self.block[1] * self.block[2] // 32)


def record_of(launch: KernelLaunch) -> dict[str, Value]:
    """The launch as plain values, to be stored with a view; the home folder is written `~`."""
    return {
        "file": homely(launch.path),
        "entry": launch.entry,
        "name": launch.name,
        "grid": _sizes(launch.grid),
        "block": _sizes(launch.block),
        "arguments": shlex.join(_placed(spec, _homely) for spec in launch.arguments),
        "shared": launch.dynamic_shared,
    }


def homely(path: Path) -> str:
    """A path that says nothing of whose home it lies in."""
    try:
        return "~/" + path.relative_to(Path.home()).as_posix()
    except ValueError:
        return path.as_posix()


def _placed(spec: str, place: Callable[[str], str]) -> str:
    """An argument with the file that it is read from, if it is, named in another way."""
    head, sign, file = spec.partition("=@")
    return f"{head}{sign}{place(file)}" if sign else spec


def _homely(file: str) -> str:
    return homely(Path(file)) if Path(file).is_relative_to(Path.home()) else file


def _at_home(file: str) -> str:
    return str(Path(file).expanduser()) if file.startswith("~/") else file


def launch_of(record: Mapping[str, Value]) -> KernelLaunch:
    """The launch that `record_of` stored; InputError when something of it is missing or no size."""
    try:
        return KernelLaunch(
            Path(str(record["file"])).expanduser(),
            str(record["entry"]),
            str(record.get("name", record["entry"])),
            _triple(record["grid"]),
            _triple(record["block"]),
            tuple(
                _placed(spec, _at_home) for spec in shlex.split(str(record.get("arguments", "")))
            ),
            int(record.get("shared", 0)),
        )
    except KeyError as error:
        raise InputError(f"a launch without {error}: it needs file, entry, grid, block") from None
    except (ValueError, RuntimeError) as error:  # no size, no user's home folder
        raise InputError(f"a launch that cannot be read: {error}") from None


def _sizes(sizes: Triple) -> str:
    return ",".join(map(str, sizes))


def _triple(given: Value) -> Triple:
    """`64,1,1` as three sizes; those left out are 1."""
    x, y, z = (*map(int, str(given).split(",")), 1, 1)[:3]
    return x, y, z


def lesson_of(launch: KernelLaunch) -> Lesson:
    """The launch as a lesson: which block, which warp, and the how-manieth request to show."""
    parameters = (
        Parameter("block", tr("block shown"), 0, 0, min(launch.blocks, _MOST_BLOCKS) - 1),
        Parameter("warp", tr("warp shown"), 0, 0, launch.warps - 1),
        Parameter(
            "turn",
            tr("time around"),
            1,
            1,
            1000,
            hint=tr("In a loop: the request of this time around, or of the last."),
        ),
    )
    plan = Plan(
        ROLE,
        str(launch.path),
        launch.entry,
        launch.grid,
        launch.block,
        launch.arguments,
        (),
        launch.dynamic_shared,
    )
    return Lesson(
        _id(launch),
        f"{launch.name} ({launch.path.name})",
        CHAPTER,
        tr("What the memory system makes of your own kernel, request by request."),
        tuple(p for p in parameters if p.maximum > p.minimum),
        (),
        lambda values: (replace(plan, record=(_chosen(values, "block"),)),),
        tell,
        launch=record_of(launch),
    )


def _id(launch: KernelLaunch) -> str:
    return "kernel-" + hashlib.sha256(repr(launch).encode()).hexdigest()[:12]


def _chosen(values: Values, name: str) -> int:
    """A parameter's value; those with one possible value are left out of the lesson."""
    return number(values, name) if name in values else 1 if name == "turn" else 0


@dataclass(frozen=True, eq=False)
class _Part:
    """One request of the story: when it ends, its steps, its words and its picture."""

    end: float
    steps: tuple[Step, ...]
    title: str
    sentence: str
    draw: Callable[[float, Stage, Rect], tuple[Mark, ...]]


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """The requests of the chosen warp in the order it made them."""
    run = runs[ROLE]
    arch, warp, block = (architecture(run.arch), _chosen(values, "warp"), _chosen(values, "block"))
    parts = _parts(run.trace, arch, block, warp, _chosen(values, "turn"))
    if not parts:
        return _nothing(warp, block)
    steps = tuple(step for part in parts for step in part.steps)
    return Story(parts[0].title, parts[0].sentence, steps, lambda t, given: _frame(parts, t, given))


def _parts(trace: Trace, arch: Architecture, block: int, warp: int, turn: int) -> list[_Part]:
    """A part for each memory instruction that the warp executed, for its request of that turn."""
    parts: list[_Part] = []
    rows = trace.of(block=block, warp=warp)
    for row in _picked(rows, turn)[:_MOST]:
        one = replace(trace, requests=rows.select(slice(row, row + 1)))
        start = parts[-1].end if parts else 0.0
        parts += [_global(r, start) for r in requests_of(one, arch, block, warp)]
        parts += [_shared(r, start) for r in bank_requests(one, arch, block, warp)]
    return parts


def _picked(rows: Requests, turn: int) -> I64:
    """Of each instruction its request of that turn, or its last one; in the order issued."""
    found = [np.flatnonzero(rows.instruction == i) for i in np.unique(rows.instruction)]
    return np.sort(np.array([at[min(turn, len(at)) - 1] for at in found], np.int64))


def _global(request: Request, start: float) -> _Part:
    (act,) = acts_of((request,), Pace(), start)

    def marks(t: float, stage: Stage, area: Rect) -> tuple[Mark, ...]:
        high = board_height(stage, 1)
        top = Rect(area.x, area.y, area.width, area.height - high)
        low = Rect(area.x, top.bottom, area.width, high)
        return (
            *draw(stage, lay_out(request, stage, top), act.sent_at(t), act.served_at(t)),
            *board(stage, low, (act,), 0, t),
        )

    return _Part(act.end, tuple(steps_of(act, ROLE)), title(request), verdict(request), marks)


def _shared(request: BankRequest, start: float) -> _Part:
    send = Act(start, start + _SEND)
    serve = Act(send.end, send.end + min(request.count * _WAVE, _WAVES))

    def marks(t: float, stage: Stage, area: Rect) -> tuple[Mark, ...]:
        served = serve.counted(t, request.count)
        body = with_board(BankMap(request, send.share(t), served), request, served)
        return tuple(
            mark
            for panel, piece in place(body, stage, area)
            if not (panel.answers and stage.asks)
            for mark in panel.draw(stage, piece)
        )

    detail = f"{request.instruction.text} · {counted('wavefront', request.count)}"
    line = request.instruction.line
    step = Step(start, serve.end, "shared", tr("shared memory"), detail, line, ROLE)
    return _Part(serve.end, (step,), _shared_title(request), _conflict(request), marks)


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


def _nothing(warp: int, block: int) -> Story:
    """A warp without requests to show is no error: it may be beyond the data."""
    words = tr(
        "Warp {warp} of block {block} asks nothing of global or shared memory",
        warp=warp,
        block=block,
    )
    said = tr("Choose another warp or block; the counts beside are of the whole launch.")
    step = Step(0.0, _END, "result", tr("nothing"), "", 0, ROLE)
    return Story(words, said, (step,), lambda t, given: _words(given, words, said))


def _words(given: Stage, words: str, said: str) -> Frame:
    stage = given.roomy()
    head, _ = heading(stage, words, said)
    return stage.frame(*head)


def _frame(parts: list[_Part], t: float, given: Stage) -> Frame:
    """The pure function from time to picture."""
    stage = given.roomy()
    part = next((p for p in parts if t < p.end), parts[-1])
    head, area = heading(stage, part.title, part.sentence)
    return stage.frame(*head, *part.draw(t, stage, area))
