"""What products of matrices took on a GPU, turn by turn with cuBLAS in the same run: a file.

benchmarks/ladder.py takes them anew. Times of kernels whose text has changed since are left out.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from gpuviz.base import records, resources
from gpuviz.base.errors import FormatError
from gpuviz.files import bounded, checksums
from gpuviz.files import writing as files
from gpuviz.files.checksums import source_hash

FILE = "recordings/ladder.json"
_FORMAT, _VERSION = "gpuviz-ladder", 1


@dataclass(frozen=True)
class LadderTime:
    """A kernel of a file, multiplying matrices of `size` rows and columns: the median of
    `repeats` launches, and that of cuBLAS for the same types, in microseconds. Those of one `run`
    were launched turn by turn; cuBLAS may be another in another one.
    """

    kernel: str
    entry: str
    size: int
    microseconds: float
    cublas: float
    repeats: int
    run: int = 1

    @property
    def share(self) -> float:
        """Of the speed of cuBLAS."""
        return self.cublas / self.microseconds

    @property
    def teraflops(self) -> float:
        """10^12 operations a second, a product and a sum being two."""
        return self.library * self.share

    @property
    def library(self) -> float:
        """10^12 operations a second of cuBLAS."""
        return 2 * self.size**3 / self.cublas / 1e6


@dataclass(frozen=True)
class LadderTimes:
    """All of one GPU and day; `sources` are the hashes of the kernels' files, `mma` the 10^12
    operations a second that mma.sync reached on halves in registers, 0 where nobody looked.
    """

    device: str
    date: str
    sources: Mapping[str, str]
    times: tuple[LadderTime, ...]
    mma: float = 0.0

    def of(self, kernel: str, entry: str, size: int) -> LadderTime | None:
        """That of a kernel at a size; None where it was not timed, or its text was another."""
        if self.sources.get(kernel) != source_of(kernel):
            return None
        wanted = kernel, entry, size
        return next((t for t in self.times if (t.kernel, t.entry, t.size) == wanted), None)


@dataclass(frozen=True)
class _Head:
    format: str
    version: int


def source_of(kernel: str) -> str:
    """The hash of a kernel's file as it is now."""
    return source_hash(bounded.text(resources.path(f"kernels/{kernel}")))


def write(path: Path, times: LadderTimes) -> None:
    """Keep times as JSON; InputError when the file cannot be written."""
    plain = {"format": _FORMAT, "version": _VERSION, **asdict(times)}
    files.write(path, json.dumps(plain, indent=1) + "\n")


def read(path: Path) -> LadderTimes:
    """Times from their file.

    Raises
    ------
    InputError : the file cannot be read
    FormatError : it is damaged, or something else
    """
    name = f"{path} is damaged, or no record of products beside cuBLAS"
    plain = records.parsed(bounded.text(path), name)
    head = records.record(plain, _Head, name)
    if (head.format, head.version) != (_FORMAT, _VERSION):
        raise FormatError(f"{path} is no record of products that this gpuviz reads")
    return records.record(plain, LadderTimes, name)


@cache
def shipped() -> LadderTimes | None:
    """The times that came with gpuviz; None when there are none."""
    return checksums.shipped(FILE, read)
