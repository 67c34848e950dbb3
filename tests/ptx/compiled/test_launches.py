"""Launches that an H200 has run: both engines count what it counted, and see the same else."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuviz.ptx.options import Engine, Options
from gpuviz.recordings.measured_file import MeasuredLaunch
from gpuviz.run import emulated, verification
from gpuviz.run.run import Run
from gpuviz.run.verification import Measurements
from tests.ptx.compiled.engines import alike_runs

DATA = Path(__file__).parents[2] / "data"
FILES = {
    name: verification.load(DATA / f"h200_{name}.json")
    for name in ("first_launches", "usual_sizes")
}
CASES = [
    pytest.param(file, launch, id=launch.name)
    for file in FILES.values()
    for launch in file.launches
]
# Instructions of warps that the NumPy engine does in seconds; a product of 1024 is held
# against the GPU alone.
MOST = 50_000_000


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("file, launch", CASES)
def test_both_engines_count_what_a_gpu_counted(file: Measurements, launch: MeasuredLaunch) -> None:
    compiled = run(file, launch, "compiled")
    found = verification.compare_run(launch.name, compiled, launch.measured)
    assert len(found) >= 9 and [one for one in found if not one.equal] == []
    if (launch.measured["instructions"] or 0) <= MOST:
        alike_runs(run(file, launch, "numpy"), compiled)


def run(file: Measurements, launch: MeasuredLaunch, engine: Engine) -> Run:
    options = Options(record=(), blocks="all", seconds=300.0, engine=engine)
    return emulated.run(verification.job_of(file, launch), file.arch, options=options)


def test_there_are_all() -> None:
    assert [len(file.launches) for file in FILES.values()] == [48, 79]
