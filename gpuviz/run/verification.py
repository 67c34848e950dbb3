"""Measured launches and patterns, and how the predictions compare with them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.arguments import parse, renamed
from gpuviz.base.arrays import U64, Bool
from gpuviz.base.errors import FormatError, InputError
from gpuviz.compile import compile_arch, entry_name, load_program
from gpuviz.files.allowed_paths import local
from gpuviz.launch import settings
from gpuviz.launch.job import Job, triple
from gpuviz.memory.atomics import turns
from gpuviz.memory.banks import wavefronts
from gpuviz.memory.counts import Count, find
from gpuviz.memory.metrics import RAW
from gpuviz.ptx.options import Options
from gpuviz.recordings import measured_file
from gpuviz.recordings.measured_file import LANES, MeasuredLaunch, MeasuredPattern
from gpuviz.run import emulated
from gpuviz.run.run import Level, Run
from gpuviz.traces.trace import Op

_ARBITRATION = "arbitration between warps is counted too"


@dataclass(frozen=True)
class Comparison:
    """One quantity of one launch (or pattern): what was predicted, what was measured."""

    launch: str
    quantity: str
    predicted: int
    measured: float
    note: str = ""
    sampled: bool = False

    @property
    def difference(self) -> float:
        """Measured minus predicted."""
        return self.measured - self.predicted

    @property
    def equal(self) -> bool:
        """Exactly equal; counters known to be noisy never count as a difference. An estimate from a
        sample is never called equal.
        """
        return not self.sampled and (self.difference == 0 or bool(self.note))


@dataclass(frozen=True, eq=False)
class Measurements:
    """A file of measurements: its name, the device, its architecture, and the launches or cases."""

    device: str
    arch: Architecture
    launches: tuple[MeasuredLaunch, ...]
    cases: tuple[MeasuredPattern, ...]
    folder: Path
    name: str = ""


def load(path: Path) -> Measurements:
    """Read a file of measurements.

    Raises
    ------
    InputError, FormatError : it cannot be read, or is not of this format
    """
    found = measured_file.read(path)
    arch = architecture(found.compute_capability)
    return Measurements(found.device, arch, found.launches, found.cases, path.parent, path.name)


def compare(
    measured: Measurements,
    level: Level = "sass",
    progress: Callable[[str], None] = lambda name: None,
    options: Options | None = None,
) -> list[Comparison]:
    """Predict every launch and case of a file, and put the numbers side by side."""
    found: list[Comparison] = []
    for launch in measured.launches:
        progress(launch.name)
        found += _launch(measured, launch, level, options or Options(record=()))
    return found + [_case(measured.arch, case, n) for n, case in enumerate(measured.cases)]


def job_of(measured: Measurements, launch: MeasuredLaunch) -> Job:
    """The launch a record describes."""
    source = _find(measured.folder, launch.source)
    program = load_program(
        source,
        arch=compile_arch(measured.arch.sm),
        defines={name: str(value) for name, value in launch.defines.items()},
        include=settings.load(source).include,
    )

    def placed(name: str) -> str:
        return str(measured.folder / local(name, measured.folder))

    return Job(
        program,
        entry_name(program.kernels, launch.entry),
        triple(launch.grid, "grid"),
        triple(launch.block, "block"),
        tuple(renamed(parse(text), placed) for text in launch.args),
        launch.dynamic_shared,
        file=measured.name,
    )


def _find(folder: Path, source: str) -> Path:
    """A source beside the file of measurements, or in `kernels` beside it."""
    source = local(source, folder)
    for place in (folder / source, folder / "kernels" / source):
        if place.is_file():
            return place
    raise InputError(f"{source} is neither in {folder} nor in {folder / 'kernels'}")


def _launch(
    measured: Measurements, launch: MeasuredLaunch, level: Level, options: Options
) -> list[Comparison]:
    run = emulated.run(job_of(measured, launch), measured.arch, level=level, options=options)
    return compare_run(launch.name or launch.source, run, launch.measured)


def compare_run(name: str, run: Run, measured: Mapping[str, float | None]) -> list[Comparison]:
    """Every measured quantity that is also predicted.

    Constant replays only of programs with loads of their own from there: the jump tables that the
    assembler makes of a switch are in constant memory, too, and are not modelled.
    """
    totals, found = run.counts.totals, []
    loads = totals[Count.CONSTANT_LOAD_REQUESTS] > 0
    for key, value in measured.items():
        count = find(key.removesuffix(RAW))
        if count is Count.CONSTANT_LOAD_REPLAYS and not loads:
            continue
        if count is not None and value is not None:
            note = _ARBITRATION if key.endswith(RAW) and _noise(totals[count], value) else ""
            note = "sampled" if run.sampled else note
            found.append(Comparison(name, key, totals[count], value, note, run.sampled))
    return found


def unpredicted(measured: Measurements) -> tuple[str, ...]:
    """What a file has measured of launches and nobody predicts, in order."""
    found = {key for launch in measured.launches for key in launch.measured}
    return tuple(sorted(key for key in found if find(key.removesuffix(RAW)) is None))


def _noise(predicted: int, measured: float) -> bool:
    """Whether a surplus is small enough for arbitration.

    15.5 % is the most seen, on an H200: stores of tiles by a product of 1024 in blocks of 32 x 32,
    all of whose loads compete with them.
    """
    return predicted < measured <= 1.17 * predicted


def _case(arch: Architecture, case: MeasuredPattern, number: int) -> Comparison:
    index = np.array(case.index, np.int64).reshape(1, LANES)
    width, op = case.width_bytes, case.op
    address = np.where(index < 0, 0, index * width).astype(np.uint64)
    return Comparison(
        case.pattern or str(number),
        f"{op} {8 * width}-bit wavefronts",
        _pattern_wavefronts(arch, op, address, index >= 0, width),
        case.wavefronts,
    )


def _pattern_wavefronts(arch: Architecture, op: str, address: U64, active: Bool, width: int) -> int:
    """`op` is load, store, atomic (an increment) or atomic_<operation>_<type>."""
    if not op.startswith("atomic"):
        return int(wavefronts(arch, address, active, width, _op(op)).count[0])
    form = ".".join(op.split("_")[1:3]) or "increment.s32"
    return int(turns(arch, form, address, active, width).wavefronts[0])


def _op(name: str) -> Op:
    if name not in ("load", "store"):
        raise FormatError(f"a pattern's op is load, store or atomic..., not {name!r}")
    return "load" if name == "load" else "store"
