"""Sweeps as they are done: by processes that may be lost, into a file that survives."""

import gzip
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from gpuviz.arch import architecture
from gpuviz.base.errors import Cancelled, FormatError, InputError
from gpuviz.cli import main
from gpuviz.course import lesson
from gpuviz.memory.counts import Count
from gpuviz.ptx.emulator import Options
from gpuviz.recordings.measurement import DeviceFacts
from gpuviz.run import emulated
from gpuviz.story.lesson_sweeps import tables
from gpuviz.story.perform import job_of
from gpuviz.story.swept import of_lesson
from gpuviz.sweeps import quantity, table, workers
from gpuviz.sweeps.axis import Axis, Cell, parse
from gpuviz.sweeps.cell import Found, Outcome, Task, outcome
from gpuviz.sweeps.record import kept, key, read
from gpuviz.sweeps.subject import FileLaunch, of_file
from gpuviz.sweeps.sweep import Sweep, run
from gpuviz.sweeps.table import Table
from gpuviz.sweeps.workers import LocalWorkers, cluster
from tests.sweeps.here import Here

STRIDED = """
extern "C" __global__ void copy(const float* a, float* b, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * STRIDE;
    if (i < n) b[i] = a[i];
}
"""


def banks(*axes: str) -> Sweep:
    parsed = tuple(map(parse, axes))
    return Sweep(of_lesson(lesson("banks"), {}, "sm_90", parsed), parsed)


@pytest.fixture
def strided(tmp_path: Path) -> Callable[..., Sweep]:
    file = tmp_path / "copy.cu"
    file.write_text(STRIDED)

    def made(*axes: str, grid: str = "4", block: str = "128") -> Sweep:
        parsed = tuple(map(parse, axes))
        given = ("f32[4096]=rand", "f32[4096]=zeros", "i32=4096")
        launch = FileLaunch(file, "copy", grid, block, arguments=given)
        return Sweep(of_file(launch, "sm_90", parsed), parsed)

    return made


def test_a_cell_is_the_lesson_with_its_values(tmp_path: Path) -> None:
    sweep = banks("stride=1,32")
    with kept(tmp_path / "s.jsonl", sweep.head()) as record:
        run(sweep, record, Here(), 1)
    chosen = lesson("banks")
    plan = chosen.plan(chosen.defaults() | {"stride": 32})[0]
    counts = emulated.run(job_of(plan, "sm_90"), architecture("sm_90")).counts.totals
    found = record.outcomes[key({"stride": "32"})]
    wanted = counts[Count.SHARED_LOAD_WAVEFRONTS]
    assert quantity.value(found, "shared_load_wavefronts") == wanted > 0
    assert quantity.value(found, "local_load_sectors") == 0.0
    assert quantity.value(found, "time") is None


@pytest.mark.slow
def test_macros_sizes_and_expressions(strided: Callable[..., Sweep], tmp_path: Path) -> None:
    sweep = strided("STRIDE=1,8", "block.x=32,64", grid="{ceil(100/32)}")
    with kept(tmp_path / "s.jsonl", sweep.head()) as record:
        run(sweep, record, Here(), 2)
    sectors = {
        (c["STRIDE"], c["block.x"]): quantity.value(record.outcomes[key(c)], "global_load_sectors")
        for c in sweep.cells
    }
    assert sectors == {("1", "32"): 16, ("8", "32"): 128, ("1", "64"): 32, ("8", "64"): 256}


def test_what_is_wrong_with_a_cell_is_that_cells(
    strided: Callable[..., Sweep], tmp_path: Path
) -> None:
    sweep = strided("block.x=64,4096", "STRIDE=1,nonsense")
    with kept(tmp_path / "s.jsonl", sweep.head()) as record:
        run(sweep, record, Here(), 2)
    errors = [record.outcomes[key(cell)].error for cell in sweep.cells]
    assert not errors[0]
    assert "allows at most 1\u202f024" in errors[1]
    assert "nonsense" in errors[2]


@pytest.mark.slow
def test_a_sweep_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    file, first = tmp_path / "s.jsonl", Here()
    sweep = banks("stride=1..8")
    with kept(file, sweep.head()) as record, pytest.raises(Cancelled):
        run(sweep, record, first, 1, cancel=lambda: first.done >= 3)
    have = len(record.outcomes)
    assert 0 < have < 8
    file.write_bytes(file.read_bytes() + b'{"cell": {"stride": "8"}, "fou')  # killed while writing
    longer, second = banks("stride=1..10"), Here()
    with kept(file, longer.head()) as record:
        run(longer, record, second, 1)
        assert len(record.outcomes) == 10
    assert second.done == 10 - have
    assert all(json.loads(line) for line in file.read_text().splitlines())


def test_the_file_of_another_sweep_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    with kept(file, banks("stride=1").head()):
        pass
    before = file.read_bytes()
    other = Axis("stride", ("1",))
    sweep = Sweep(of_lesson(lesson("banks"), {}, "sm_80", (other,)), (other,))
    with pytest.raises(FormatError, match="another sweep .arch: sm_90 there, sm_80 here"):
        kept(file, sweep.head()).__enter__()
    file.write_bytes(b"my thesis")
    with pytest.raises(FormatError, match="no sweep"):
        kept(file, sweep.head()).__enter__()
    assert file.read_bytes() == b"my thesis" != before


def test_what_cannot_be_varied_or_shown(strided: Callable[..., Sweep]) -> None:
    with pytest.raises(InputError, match="no parameter 'strid'"):
        banks("strid=1..2")
    with pytest.raises(InputError, match=r"block\.x"):
        strided("block.w=1..2")
    with pytest.raises(InputError, match="is it global_load_sectors"):
        quantity.checked("global_load_sector")


def test_whose_a_file_is_goes_with_each_cell(strided: Callable[..., Sweep], tmp_path: Path) -> None:
    sweep = strided("STRIDE=1")
    (launch,) = sweep.task({"STRIDE": "1"}).launches
    assert launch.whose == launch.job.whose == "stranger"
    (course,) = banks("stride=1").task({"stride": "1"}).launches[:1]
    assert course.whose == "course"


def test_what_is_computed_is_not_called_measured() -> None:
    assert quantity.measured("time", "gpu") and quantity.measured("global_load_sectors", "gpu")
    assert not quantity.measured("occupancy", "gpu")
    assert not quantity.measured("time/registers", "gpu")
    assert not quantity.measured("global_load_sectors", "emulator")


@pytest.mark.slow
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "s.jsonl")
    command = ["sweep", "--scene", "banks", "--vary", "stride=1,2,32", "-o", file]
    assert main([*command, "--workers", "1"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("banks  sm_90, sass level, predicted (model)  [")
    assert "global_load_sectors" in said
    assert main([*command, "--show", "shared_load_wavefronts/shared_load_requests"]) == 0
    assert capsys.readouterr().out.split()[-2:] == ["32", "32"]
    assert main([*command, "--json"]) == 0
    told = capsys.readouterr()
    assert "3 of 3 cells are done" in told.err
    assert [one["cell"]["stride"] for one in json.loads(told.out)] == ["1", "2", "32"]


@pytest.fixture
def two_workers() -> Iterator[LocalWorkers]:
    workers = LocalWorkers(2)
    yield workers
    workers.shutdown()


def test_ctrl_c_is_exit_status_130(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*given: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        raise Cancelled("stopped")

    monkeypatch.setattr("gpuviz.cli.sweep.work", stopped)
    command = ["sweep", "--scene", "banks", "--vary", "stride=1..4", "--workers", "1"]
    assert main([*command, "-o", str(tmp_path / "s.jsonl")]) == 130


@pytest.mark.slow
def test_a_process_that_is_lost_loses_nothing(two_workers: LocalWorkers, tmp_path: Path) -> None:
    sweep, killed = banks("stride=1..12"), []

    def tell(cell: Cell, made: Outcome) -> None:
        assert not made.error
        if len(killed) < 2 and (alive := two_workers.processes):
            os.kill(alive[0], signal.SIGKILL)
            killed.append(alive[0])

    with kept(tmp_path / "s.jsonl", sweep.head()) as record:
        run(sweep, record, two_workers, 2, tell)
    assert len(killed) == 2
    assert len(record.outcomes) == 12
    task = sweep.task({"stride": "7"})
    assert record.outcomes[key({"stride": "7"})] == outcome(task)


def test_a_cell_that_kills_is_given_up(
    two_workers: LocalWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "CHILD", "this")  # which says a poem, and ends
    future = two_workers.submit(outcome, Task((), "sm_90"))
    assert "3 processes were lost" in future.result(timeout=60).error


@pytest.mark.slow
def test_stopping_does_not_wait_for_the_work(tmp_path: Path) -> None:
    local, stop = LocalWorkers(1), threading.Event()
    parsed = (parse("N=1..3"),)
    file = tmp_path / "long.cu"
    file.write_text(
        'extern "C" __global__ void f(int* a) {'
        "  int i = blockIdx.x * blockDim.x + threadIdx.x, k = i;"
        "  for (int n = 0; n < 1000000; ++n) k = k * N + a[(k ^ i) & 16383];"
        "  a[i] = k; }"
    )
    launch = FileLaunch(file, "f", "64", "256", arguments=("i32[16384]=zeros",))
    sweep = Sweep(of_file(launch, "sm_90", parsed), parsed)
    threading.Timer(2.0, stop.set).start()
    began = time.monotonic()
    with kept(tmp_path / "s.jsonl", sweep.head()) as record, pytest.raises(Cancelled):
        run(sweep, record, local, 1, cancel=stop.is_set)
    local.shutdown()
    assert time.monotonic() - began < 30
    assert not record.outcomes


@pytest.mark.slow
def test_a_cluster_whose_worker_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    distributed = pytest.importorskip("distributed")
    file = tmp_path / "s.jsonl"
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as local:
        killed = threading.Timer(1.0, lambda: _kill_one(local, file))
        killed.start()
        command = ["sweep", "--scene", "banks", "--vary", "stride=1..64", "-o", str(file)]
        assert main([*command, "--cluster", local.scheduler_address, "--json"]) == 0
        killed.join()
    found = json.loads(capsys.readouterr().out)
    assert [one["error"] for one in found] == [""] * 64


def _kill_one(local: Any, file: Path) -> None:
    """When the first cells are done."""
    while not file.exists() or len(file.read_bytes().splitlines()) < 3:
        time.sleep(0.05)
    worker = next(iter(local.workers.values()))
    os.kill(worker.pid, signal.SIGKILL)


def test_a_cluster_that_does_not_answer() -> None:
    pytest.importorskip("distributed")
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        cluster("nonsense:::")


def test_a_table_has_rows_of_the_second_axis(tmp_path: Path) -> None:
    axes = (Axis("x", ("1", "2", "3")), Axis("y", ("4", "5")))
    outcomes = {
        key({"x": x, "y": y}): Outcome((Found("a", {"global_load_sectors": int(x) * 10 + int(y)}),))
        for x, y in (("1", "4"), ("3", "5"))
    }
    outcomes[key({"x": "2", "y": "4"})] = Outcome(error="none")
    table = Table(axes, outcomes)
    assert table.values("global_load_sectors").shape == (2, 3)
    assert table.values("global_load_sectors")[[0, 1], [0, 2]].tolist() == [14, 35]
    assert (table.done, table.whole) == (3, False)
    assert table.failed.tolist() == [[False, True, False], [False, False, False]]
    assert table.found({"x": "3", "y": "5"}) == Found("a", {"global_load_sectors": 35})
    assert table.found({"x": "3", "y": "4"}) is None


def test_sweeps_are_found_again_by_what_they_are_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    sweep = banks("stride=1,2")
    assert table.find(sweep.head(), sweep.axes) is None
    file = table.file_of(sweep.head(), sweep.axes)
    file.parent.mkdir(parents=True)
    with kept(file, sweep.head()) as record:
        run(sweep, record, Here(), 1)
    found = table.find(banks("stride=1,2").head(), sweep.axes)
    assert found is not None and found.whole
    assert found.head == sweep.head()
    assert found.values("shared_load_wavefronts").tolist() == [[64, 64 * 2]]
    packed = tmp_path / "s.jsonl.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert read(packed) == read(file) == (sweep.head(), dict(found.outcomes))
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(FormatError, match="damaged"):
        read(packed)


def test_how_it_was_measured_decides_nothing(tmp_path: Path) -> None:
    sweep, file = banks("stride=1"), tmp_path / "s.jsonl"
    gpu = DeviceFacts(0, "NVIDIA H200", "9.0", "580.1", "13.0", 132, 1, 1)
    measured = replace(sweep, on="gpu")
    head = measured.head(gpu)
    with kept(file, head):
        pass
    with kept(file, measured.head(replace(gpu, driver="581"))):
        pass
    assert head.made is not None and head.made.gpu.driver == "580.1"
    with pytest.raises(FormatError, match="device: NVIDIA H200 there, NVIDIA B200 here"):
        kept(file, measured.head(replace(gpu, name="NVIDIA B200"))).__enter__()


def test_what_ships_is_of_the_kernel_and_the_lesson_of_today() -> None:
    """Else the map is not found: `make sweeps` makes the predicted one again."""
    shapes = lesson("block-shape")
    found = tables(shapes, shapes.defaults(), "sm_90", "sass")
    assert {on: table.whole for on, table in found.items()} == {"emulator": True, "gpu": True}
    predicted = found["emulator"]
    per_request = predicted.values("global_load_sectors/global_load_requests")
    for x in (8, 16, 32):  # a sector for each row of M, one of N for every eight columns
        assert per_request[31, x - 1] == (32 / x + x / 8) / 2
    assert per_request[31, 0] == 16.5  # 32 rows of M, one word of N
    assert not predicted.failed.any()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_what_ships_is_what_a_sweep_finds_today(seed: int) -> None:
    """Of shapes chosen at random one is counted from classes of blocks, as the sweep does it, the
    other by running every block.
    """
    shapes, random = lesson("block-shape"), Random(seed)
    table = tables(shapes, shapes.defaults(), "sm_90", "sass")["emulator"]
    sweep = Sweep(of_lesson(shapes, {}, "sm_90", shapes.swept), shapes.swept)
    again, whole = random.sample(sweep.cells, 2)
    shipped = table.found(again)
    assert shipped is not None and shipped.modelled is not None
    untimed = replace(shipped, modelled=None)  # a sweep models times where it is asked to
    assert outcome(sweep.task(again)).found == (untimed,)
    (job,) = sweep.subject.launches(whole).values()
    counts = emulated.run(job, architecture("sm_90"), options=Options(record=())).counts.totals
    found = table.found(whole)
    assert found is not None
    assert found.counts == {str(name): value for name, value in counts.items() if value}


@pytest.mark.slow
@pytest.mark.machine_code
def test_times_are_modelled_where_they_are_asked_for() -> None:
    axis = Axis("stride", ("32",))
    subject = of_lesson(lesson("banks"), {}, "sm_90", (axis,))
    told = [
        outcome(Sweep(subject, (axis,), time=time).task({"stride": "32"})).found[0].modelled
        for time in (False, True)
    ]
    assert told[0] is None and told[1] is not None and told[1] > 2.2
