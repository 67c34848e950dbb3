"""What CUDA's runtime returned for launches and copies, call by call, on a GPU: a file that ships.

`benchmarks/launch_calls.py` makes it on a machine with a GPU: it launches fma4.cu within and beyond
limits, and copies __device__ arrays by their names in several ways.
"""

import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from gpuviz.base import records, resources
from gpuviz.base.errors import FormatError
from gpuviz.files import bounded, checksums
from gpuviz.files import writing as files
from gpuviz.files.checksums import source_hash
from gpuviz.traces.geometry import Triple

KERNEL, FILE = "fma4.cu", "recordings/launch_calls.json"
_FORMAT, _VERSION = "gpuviz-launch-calls", 1

Way = Literal["symbol", "default", "directed"]
"""cudaMemcpyFromSymbol; cudaMemcpy of the symbol, its direction left open, or named."""


@dataclass(frozen=True)
class LaunchCall:
    """A launch: what it returned, what waiting for it did, and whether its kernel stored."""

    grid: Triple
    block: Triple
    dynamic_shared: int
    elements: int
    result: str
    synchronize: str
    stored: bool


@dataclass(frozen=True)
class CopyCall:
    """Four arrays copied to the host, filled by kernels before if those `ran`.

    `value` is the first element of each afterwards (-1 before), `wrong` how many of `elements` do
    not pass the check d = a * b + c, `kinds` what a profiler calls the copies; none where it saw
    none.
    """

    way: Way
    ran: bool
    result: str
    value: tuple[float, float, float, float]
    wrong: int
    elements: int
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class LaunchCalls:
    """All calls of one machine."""

    device: str
    capability: str
    cuda: str
    date: str
    launches: tuple[LaunchCall, ...]
    copies: tuple[CopyCall, ...]

    @property
    def source(self) -> str:
        """Whose word it is."""
        return f"{self.device}, CUDA {self.cuda}"

    def launch(self, grid: Triple, block: Triple, shared: int) -> LaunchCall | None:
        """What was returned for this very launch; None when it was not tried."""
        wanted = grid, block, shared
        return next(
            (c for c in self.launches if (c.grid, c.block, c.dynamic_shared) == wanted), None
        )

    def copy(self, way: str, ran: bool) -> CopyCall | None:
        """What became of this way to copy; None when it was not tried."""
        return next((c for c in self.copies if (c.way, c.ran) == (way, ran)), None)


@dataclass(frozen=True)
class _Head:
    format: str
    version: int
    source_hash: str


def write(path: Path, calls: LaunchCalls) -> None:
    """Keep calls as JSON, one a line; InputError when the file cannot be written."""
    head = {"format": _FORMAT, "version": _VERSION, "kernel": KERNEL, "source_hash": _source()}
    lines = [
        f" {json.dumps(key)}: {_text(value)}" for key, value in {**head, **asdict(calls)}.items()
    ]
    files.write(path, "{\n" + ",\n".join(lines) + "\n}\n")
    checksums.seal_again(path)


def _text(value: object) -> str:
    if not isinstance(value, list | tuple):
        return json.dumps(value)
    return "[\n" + ",\n".join("  " + json.dumps(row) for row in value) + "\n ]"


def _source() -> str:
    return source_hash(bounded.text(resources.path(f"kernels/{KERNEL}")))


def read(path: Path) -> LaunchCalls:
    """Calls from their file.

    Raises
    ------
    InputError : the file cannot be read
    FormatError : it is damaged, something else, or of another kernel than the one that is there now
    """
    name = f"{path} is damaged, or no record of launches and copies"
    plain = records.parsed(bounded.text(path), name)
    head = records.record(plain, _Head, name)
    if (head.format, head.version) != (_FORMAT, _VERSION):
        raise FormatError(f"{path} is no record of launches and copies that this gpuviz reads")
    if head.source_hash != _source():
        raise FormatError(f"{path} is of an older {KERNEL}: run benchmarks/launch_calls.py again")
    return records.record(plain, LaunchCalls, name)


@cache
def shipped() -> LaunchCalls | None:
    """The calls that came with gpuviz; None when there are none, or of an older kernel."""
    return checksums.shipped(FILE, read)
