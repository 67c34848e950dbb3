"""`gpuviz sweep`: one or two things varied, everything counted or measured of each launch."""

import argparse
import json
import signal
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from types import FrameType

from gpuviz.base.errors import Cancelled, InputError
from gpuviz.cli.launch import pairs
from gpuviz.cli.no_kernel import refuse
from gpuviz.cli.options import at_least_one, declare
from gpuviz.gpu.client import Gpu
from gpuviz.launch.settings import load
from gpuviz.recordings.measurement import DeviceFacts
from gpuviz.results.table import text as table
from gpuviz.sweeps import axis, quantity, workers
from gpuviz.sweeps.axis import Axis, Cell
from gpuviz.sweeps.cell import Outcome
from gpuviz.sweeps.record import Record, kept, key
from gpuviz.sweeps.subject import FileLaunch, Subject, of_file
from gpuviz.sweeps.sweep import Sweep
from gpuviz.sweeps.sweep import run as work
from gpuviz.words.language import english
from gpuviz.words.terminal import err, out, passed, passing

_WIDE = 17  # columns of a map that is printed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="a .cu or .ptx file")
    declare(
        parser,
        "sweep",
        vary={"required": True, "type": axis.parse, "default": None},
        entry={"default": ""},
        arch={"default": "sm_90"},
        on={"choices": ("emulator", "gpu"), "default": "emulator"},
        repeat={"type": at_least_one, "default": 20},
        workers={"type": at_least_one},
        role={"default": ""},
        output={"type": Path, "required": True},
    )


def run(arguments: argparse.Namespace) -> int:
    """Sweep, print; 0, or 1 when nothing came of any cell."""
    shown = [quantity.checked(name) for name in arguments.show]
    axes: tuple[Axis, ...] = tuple(arguments.vary)
    how = arguments.on, arguments.level, arguments.repeat, arguments.time
    sweep = Sweep(_subject(arguments, axes), axes, *how)
    gpu, devices = _devices() if arguments.on == "gpu" and not arguments.cluster else (None, 0)
    cells = sweep.cells
    with kept(arguments.output, sweep.head(gpu)) as record:
        left = sum(key(cell) not in record.outcomes for cell in cells)
        if left < len(cells):
            err(f"{len(cells) - left:,} of {len(cells):,} cells are done")
        if left:
            _work(sweep, record, arguments, devices)
        outcomes = {key(cell): record.outcomes[key(cell)] for cell in cells}
    if arguments.json:
        out(json.dumps([_plain(cell, outcomes[key(cell)]) for cell in cells], indent=1))
    else:
        done = list(outcomes.values())
        device = gpu.name if gpu else arguments.cluster or ""
        out(_origin(sweep, done, device, arguments.role))
        out(as_text(axes, cells, done, shown, arguments.role))
    return 0 if any(one.found for one in outcomes.values()) else 1


def _origin(sweep: Sweep, outcomes: Sequence[Outcome], device: str, role: str) -> str:
    """Of which launch the numbers are, and where they come from."""
    found = next((one.found[0].role for one in outcomes if one.found), "")
    says, shown = sweep.subject.says, role or found
    name = says.get("lesson") or " ".join((says["file"], says["entry"])).rstrip()
    source = (
        f"{sweep.subject.arch}, {sweep.level} level, predicted (model)"
        if sweep.on == "emulator"
        else f"time and counts measured on {device}; occupancy and registers as compiled"
    )
    return f"{name}  {source}" + (f"  [{shown}]" if shown else "") + "\n"


def _subject(arguments: argparse.Namespace, axes: tuple[Axis, ...]) -> Subject:
    if arguments.scene:
        if arguments.file:
            raise InputError("give either a FILE or --scene, not both")
        from gpuviz.course import lesson
        from gpuviz.story.swept import of_lesson

        given = dict(pairs(arguments.set, "--set"))
        return of_lesson(lesson(arguments.scene), given, arguments.arch, axes)
    if not arguments.file:
        raise InputError("nothing to launch: give a FILE with --grid and --block, or --scene ID")
    refuse(arguments.file)
    settings = load(arguments.file)
    launch = FileLaunch(
        arguments.file,
        arguments.entry,
        arguments.grid or "",
        arguments.block or "",
        arguments.dynamic_shared or "",
        pairs(arguments.define, "--define"),
        tuple(arguments.arg),
        (*settings.options, *(f"-I{folder}" for folder in settings.include)),
        settings,
    )
    return of_file(launch, arguments.arch, axes, "named")


def _devices() -> tuple[DeviceFacts, int]:
    """This machine's GPU, and how many there are; as `Gpu.devices` raises."""
    with Gpu() as gpu:
        return gpu.facts(), len(gpu.devices())


def _workers(arguments: argparse.Namespace, devices: int) -> tuple[Executor, int]:
    if arguments.cluster:
        return workers.cluster(arguments.cluster)
    local = workers.LocalWorkers(arguments.workers or devices or None, max(devices, 1))
    return local, local.count


def _work(sweep: Sweep, record: Record, arguments: argparse.Namespace, devices: int) -> None:
    """Do what is left; Ctrl-C ends it between two cells."""
    asked = [False]

    def stop(number: int, frame: FrameType | None) -> None:
        asked[0] = True

    def tell(cell: Cell, outcome: Outcome) -> None:
        passing(f"{len(record.outcomes):,} of {len(sweep.cells):,} cells")

    executor, slots = _workers(arguments, devices)
    before = signal.signal(signal.SIGINT, stop)
    try:
        work(sweep, record, executor, slots, tell, lambda: asked[0])
    except Cancelled:
        raise Cancelled(
            f"stopped: {len(record.outcomes):,} of {len(sweep.cells):,} cells are in "
            f"{arguments.output}; the same command goes on"
        ) from None
    finally:
        executor.shutdown(wait=True, cancel_futures=True)
        signal.signal(signal.SIGINT, before)
        passed()


def _plain(cell: Cell, outcome: Outcome) -> Mapping[str, object]:
    found = [vars(one) for one in outcome.found]
    return {"cell": dict(cell), "found": found, "error": outcome.error}


def as_text(
    axes: Sequence[Axis],
    cells: Sequence[Cell],
    outcomes: Sequence[Outcome],
    shown: Sequence[str],
    role: str = "",
) -> str:
    """A column a quantity for one axis, a map a quantity for two; then what went wrong."""
    told = shown or [quantity.telling(outcomes, role)]
    numbers = {name: [quantity.value(o, name, role) for o in outcomes] for name in told}
    parts = (
        [_list(axes[0], numbers)]
        if len(axes) == 1
        else [_map(axes, name, values) for name, values in numbers.items()]
    )
    errors: dict[str, Cell] = {}
    for cell, outcome in zip(cells, outcomes, strict=True):
        if outcome.error:
            errors.setdefault(outcome.error, cell)
    failed = sum(bool(outcome.error) for outcome in outcomes)
    if failed:
        head = english("{n} cell without a result:", "{n} cells without a result:", failed)
        lines = [f"  {_said(cell)}: {error}" for error, cell in list(errors.items())[:5]]
        parts.append("\n".join((head, *lines)))
    return "\n\n".join(parts)


def _said(cell: Cell) -> str:
    return ", ".join(f"{name} {value}" for name, value in cell.items())


def _list(one: Axis, numbers: Mapping[str, Sequence[quantity.Number]]) -> str:
    columns = list(numbers.values())
    rows = [
        (value, *(_short(column[at]) for column in columns)) for at, value in enumerate(one.values)
    ]
    right = " ".join(f">{n}" for n in range(len(columns) + 1))
    return table((one.name, *numbers), rows, right)


def _map(axes: Sequence[Axis], name: str, numbers: Sequence[quantity.Number]) -> str:
    """Rows are values of the second axis; a map too wide for lines is told by its ends."""
    x, y = axes
    known = [(value, at) for at, value in enumerate(numbers) if value is not None]
    head = f"{name}, {x.name} across, {y.name} down"
    if not known:
        return f"{head}: nothing is known"
    wide = len(x.values)
    if wide < _WIDE:
        rows = [
            (value, *map(_short, numbers[at * wide : (at + 1) * wide]))
            for at, value in enumerate(y.values)
        ]
        right = " ".join(f">{n}" for n in range(wide + 1))
        return f"{head}\n{table(('', *x.values), rows, right)}"
    ranked = sorted(known)
    ends = [*ranked[:5], *ranked[5:][-5:]]
    rows = [(x.values[at % wide], y.values[at // wide], _short(value)) for value, at in ends]
    lines = table((x.name, y.name, name), rows, ">0 >1 >2").splitlines()
    lines.insert(7, "...") if len(ranked) > 10 else None
    return f"{name}, the five smallest and the five largest\n" + "\n".join(lines)


def _short(value: quantity.Number) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"
