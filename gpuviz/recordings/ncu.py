"""Nsight Compute's raw page as CSV (`ncu --page raw --csv`): read, and written of our own runs.

The first line names columns, the second their units, then comes a line for each launch. What ncu
and the program itself print on the same stream stands around them, and is passed over.
"""

import csv
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import StringIO
from math import isfinite
from pathlib import Path
from subprocess import TimeoutExpired

from gpuviz.base.errors import FormatError, UnavailableError
from gpuviz.files import bounded
from gpuviz.files.folders import REPORT
from gpuviz.memory.counts import NAMES, Count
from gpuviz.memory.metrics import RAW, named
from gpuviz.processes import programs
from gpuviz.recordings.stall_reasons import METRICS
from gpuviz.traces.geometry import Geometry, Triple

LARGEST = 1 << 28  # bytes of a report
_LONGEST = 60.0  # seconds that ncu may take to write one as CSV
_NAME, _BLOCK, _GRID, _CC = "Kernel Name", "Block Size", "Grid Size", "CC"
_HEAD = ("ID", "Process Name", _NAME, _BLOCK, _GRID, "Device", _CC)
_DEVICE = "device__attribute_display_name"
_NANOSECONDS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}
_NANOSECONDS |= {"second": 1e9, "msecond": 1e6, "usecond": 1e3, "nsecond": 1.0}


@dataclass(frozen=True)
class ProfiledLaunch(Geometry):
    """A launch that was profiled: its kernel as ncu writes it, sizes, the device (or who counted),
    its compute capability, and what was counted by our keys.
    """

    name: str
    grid: Triple
    block: Triple
    device: str
    capability: str
    counters: Mapping[str, float]

    @property
    def kernel(self) -> str:
        """Its name alone: `f` of `void n::f<(int)8>(float *)`."""
        depth, plain = 0, []
        for sign in self.name.replace("(anonymous namespace)::", ""):
            depth += (sign == "<") - (sign == ">")
            plain += [sign] if depth == 0 and sign != ">" else []
        words = "".join(plain).partition("(")[0].rpartition("::")[2].split()
        return words[-1] if words else self.name


@cache
def keys() -> Mapping[str, str]:
    """Our keys by the metrics that count the same."""
    found = {one.metric: one.key for one in NAMES if one.metric}
    for count in Count:
        if (counter := count.on_gpu) is None or counter.lost_past_l1:
            continue
        for form, ending in ((counter.metric, ""), (counter.live, ""), (counter.noisy, RAW)):
            if form:
                found.setdefault(f"{named(form, *count.kind)}.sum", count.value + ending)
    return found | {metric: key for key, metric in METRICS.items()}


def read(path: Path) -> tuple[ProfiledLaunch, ...]:
    """The launches in a raw page, or in a report (`.ncu-rep`), which the ncu of this machine turns
    into one.

    Raises
    ------
    InputError : it cannot be read
    FormatError : there is no such page in it, or a line of it is damaged
    UnavailableError : it is a report, and there is no ncu, or it does not read it
    """
    text = _exported(path) if path.suffix == REPORT else bounded.text(path, LARGEST)
    lines = text.splitlines()
    begin = next((n for n, line in enumerate(lines) if _is_head(line)), len(lines))
    try:
        table = [*csv.reader(line for line in lines[begin:] if line.startswith('"'))]
    except csv.Error as error:
        raise FormatError(f"{path}: {error}") from None
    if len(table) < 2:
        raise FormatError(
            f"{path} is no raw page of Nsight Compute: write one with "
            "ncu --page raw --csv PROGRAM > FILE.csv"
        )
    head, units, *rows = table
    return tuple(_launch(path, head, units, row) for row in rows)


def _is_head(line: str) -> bool:
    named = all(f'"{name}"' in line for name in (_NAME, _BLOCK, _GRID, _CC))
    return line.startswith('"ID",') and named and '"Metric Value"' not in line  # page "details"


def _exported(path: Path) -> str:
    """The raw page of a report. NVIDIA's package `ncu-report`, whose licence is its own and allows
    no passing on, is not needed for that.
    """
    bounded.read(path, LARGEST)  # is it there, and a file
    command = shutil.which("ncu")
    manual = f"ncu --import {path.name} --page raw --csv > {path.stem}.csv"
    if command is None:
        raise UnavailableError(
            f"{path.name} is read by Nsight Compute itself, and there is no ncu on the PATH: where "
            f"there is one, write {manual}, and open that file"
        )
    line = [command, "--import", str(path.absolute()), "--page", "raw", "--csv"]
    try:
        done = programs.run(line, path.absolute().parent, _LONGEST)
    except (OSError, TimeoutExpired) as error:
        raise UnavailableError(f"ncu does not read {path.name}: {error}") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-300:] or programs.ended(done.returncode)
        raise UnavailableError(f"ncu does not read {path.name}: {said}")
    return done.stdout


def _launch(
    path: Path, head: Sequence[str], units: Sequence[str], row: Sequence[str]
) -> ProfiledLaunch:
    if len(row) != len(head):
        raise FormatError(f"{path}: a launch has {len(row)} columns, and {len(head)} are named")
    said, unit = dict(zip(head, row, strict=True)), dict(zip(head, units, strict=False))
    metrics = {name: n for name, text in said.items() if (n := _number(text)) is not None}
    counters: dict[str, float] = {}
    for name, key in keys().items():
        if name in metrics:  # of two that tell the same the first
            counters.setdefault(key, metrics[name] * _NANOSECONDS.get(unit.get(name, ""), 1.0))
    for count in Count:  # instructions that its metric does not count
        if (counter := count.on_gpu) and count in counters:
            counters[count] += metrics.get(f"{counter.besides}.sum", 0.0)
            counters[count] -= metrics.get(f"{counter.less}.sum", 0.0)
    device = said.get(_DEVICE) or f"GPU of compute capability {said[_CC]}"
    sizes = _sizes(path, said[_GRID]), _sizes(path, said[_BLOCK])
    return ProfiledLaunch(said[_NAME], *sizes, device, said[_CC], counters)


def _number(text: str) -> float | None:
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return value if isfinite(value) else None


def _sizes(path: Path, text: str) -> Triple:
    """The sizes of `(16, 16, 1)`."""
    found = [int(one) for one in re.findall(r"\d{1,18}", text)]
    if len(found) != 3 or min(found) < 1:
        raise FormatError(f"{path}: {text!r} is no size of a grid or block")
    return found[0], found[1], found[2]


def text(launches: Sequence[ProfiledLaunch]) -> str:
    """Launches as ncu writes its raw page, with who counted as the process; what one of them has
    not is empty there.
    """
    metrics = {key: metric for metric, key in reversed([*keys().items()])}
    every = (item for one in launches for item in one.counters.items())
    shown = dict.fromkeys(key for key, value in every if value and key in metrics)
    made = StringIO()
    rows = csv.writer(made, quoting=csv.QUOTE_ALL, lineterminator="\n")
    rows.writerow((*_HEAD, *(metrics[key] for key in shown)))
    rows.writerow((*("" for _ in _HEAD), *map(_unit, shown)))
    for number, one in enumerate(launches):
        sizes = str(one.block), str(one.grid)
        told = (number, one.device, one.name, *sizes, 0, one.capability)
        rows.writerow((*told, *_cells(one, shown)))
    return made.getvalue()


def _cells(one: ProfiledLaunch, shown: Mapping[str, None]) -> Iterator[str]:
    for key in shown:
        value = one.counters.get(key)
        yield "" if value is None else f"{value:,.0f}" if value == int(value) else f"{value:,.6f}"


def _unit(key: str) -> str:
    if key == "duration_ns":
        return "nsecond"
    if key in METRICS:
        return "inst"
    return "%" if key == "achieved_occupancy" else key.rpartition("_")[2].removesuffix("s")
