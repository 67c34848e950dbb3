"""Raw pages of Nsight Compute, which `gpuviz report` and the window read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from tests.hostile.kind import Kind
from tests.hostile.mutation import changed_bytes, changed_text, encoded

_PAGE = """==PROF== Connected to process 7
"ID","Kernel Name","Block Size","Grid Size","CC","gpu__time_duration.sum","smsp__inst_executed.sum"
"","","","","","us","inst"
"0","void n::f<(int)8>(float *)","(64, 1, 1)","(2, 1, 1)","9.0","1,002.5","32,768"
"1","strided","(64, 1, 1)","(2, 1, 1)","9.0","inf","nan"
"""
_WORDS = (
    *("9" * 5000, "1e400", "(0, 1, 1)", "(99999999999, 1, 1)", "sm_90", "99.9", "-1.0", '""'),
    *("<" * 3000, "n<>::" * 60 + "!", "\x1b[2J", '"' * 7, "x" * 140_000, "../../mine.cu"),
)


def make(random: Random) -> bytes:
    """A page of two launches, changed."""
    made = encoded(changed_text(random, _PAGE, _WORDS))
    return changed_bytes(random, made) if random.random() < 0.2 else made


def report(file: Path) -> Sequence[str]:
    """As a table."""
    return "report", str(file)


def beside(file: Path) -> Sequence[str]:
    """Beside the prediction, of the kernels that there are."""
    return "report", str(file), "--source", str(file.parent / "mine.ptx"), "--level", "ptx"


def dropped(file: Path) -> None:
    """As the window opens it."""
    from gpuviz.export.reading import read_any

    read_any(file)


KIND = Kind("profile", 120, ".csv", make, (report, beside), (dropped,))
