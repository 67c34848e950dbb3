"""The GPU's worker process, with a made-up GPU at its end: faults, hangs, losses, cancelling."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

import numpy as np
import pytest

from gpuviz.arguments import BufferSpec, materialise
from gpuviz.arguments.specs import ArrayArgument
from gpuviz.base.errors import Cancelled, KernelFault
from gpuviz.base.waiting import stopped_by
from gpuviz.gpu import client, protocol
from gpuviz.gpu.client import Gpu, GpuLaunch
from gpuviz.gpu.consent import own_permit
from gpuviz.gpu.faults import CountersUnavailable, NoDevice, TimeLimit, WorkerLost
from gpuviz.gpu.wire_arguments import wire_arguments

ROOT = Path(__file__).parent.parent.parent
FAKE = (sys.executable, str(Path(__file__).with_name("fake_worker.py")))


def launch(entry: str = "plain", number: int = 0, size: int = 5) -> GpuLaunch:
    given = np.arange(size, dtype=np.float32) + number, np.asarray(np.int32(7))
    arguments = wire_arguments([ArrayArgument(one) for one in given])
    return GpuLaunch(
        "cubin",
        b"code",
        "",
        entry,
        (1, 1, 1),
        (32, 1, 1),
        0,
        arguments,
        own_permit(b"code", "", entry),
    )


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Gpu]:
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    with Gpu(arguments=FAKE, limit=10) as one:
        yield one


def works(gpu: Gpu) -> bool:
    (found,) = gpu.run(launch())
    return found.tolist() == [1, 2, 3, 4, 5]


def test_buffers_come_back(gpu: Gpu) -> None:
    assert works(gpu)
    assert gpu.facts().name == "Made-up GPU" and gpu.facts().sm == "sm_90"
    assert gpu.telemetry().throttle == ("power limit",)


def test_a_fault_is_told_and_a_fresh_worker_starts(gpu: Gpu) -> None:
    with pytest.raises(KernelFault, match="illegal address"):
        gpu.run(launch("faults"))
    assert not gpu.alive
    assert works(gpu)


def test_a_hang_ends_with_the_limit(gpu: Gpu) -> None:
    assert works(gpu)
    gpu._limit = 0.3
    with pytest.raises(TimeLimit, match=r"0\.3 s \(run\)"):
        gpu.run(launch("hangs"))
    gpu._limit = 10
    assert works(gpu)


def test_a_lost_worker_is_told_with_its_last_words(gpu: Gpu) -> None:
    with pytest.raises(WorkerLost, match="exit status 7: last words"):
        gpu.run(launch("dies"))
    assert works(gpu)


def test_a_worker_lost_between_loading_and_running_is_told(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = gpu._keep

    def kept_and_lost(request: protocol.Load, size: int, cancel: Callable[[], bool]) -> str:
        key = keep(request, size, cancel)
        os.kill(gpu._process.pid, signal.SIGKILL)
        gpu._process._worker.process.wait()
        return key

    with monkeypatch.context() as patch:
        patch.setattr(gpu, "_keep", kept_and_lost)
        with pytest.raises(WorkerLost, match="was lost \\(it ended by SIGKILL\\)"):
            gpu.run(launch())
    assert works(gpu)


def test_what_is_no_message_counts_as_a_lost_worker(gpu: Gpu) -> None:
    with pytest.raises(WorkerLost):
        gpu.run(launch("babbles"))
    assert works(gpu)


@pytest.mark.slow
def test_cancelling_a_hang_kills_the_worker_soon(gpu: Gpu) -> None:
    assert works(gpu)
    start = time.monotonic()
    with pytest.raises(Cancelled):
        gpu.run(launch("hangs"), cancel=after(0.1))
    assert time.monotonic() - start < 8 and not gpu.alive
    assert works(gpu)


def after(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


@pytest.mark.slow
def test_what_surely_ends_is_waited_for_and_kept(gpu: Gpu, tmp_path: Path) -> None:
    """A worker that is killed takes seconds to come back: a slow load is no reason."""
    assert works(gpu) and gpu._process is not None
    before = gpu._process.pid
    with pytest.raises(Cancelled):
        gpu.run(launch("slow"), cancel=after(0.1))
    assert gpu.alive and gpu._process.pid == before
    assert gpu.run(launch("slow"))[0].tolist() == [1, 2, 3, 4, 5]
    assert (tmp_path / "log").read_text() == "load plain\nload slow\n"


def test_a_launch_that_has_ended_before_does_not_lose_the_worker(gpu: Gpu) -> None:
    gpu.time(launch(), 1)
    assert gpu._process is not None
    before = gpu._process.pid
    with pytest.raises(Cancelled):
        gpu.time(launch(), 4 * client.BATCH * 25, cancel=after(0.1))
    assert works(gpu) and gpu._process.pid == before


def test_large_buffers_do_not_travel(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 2^25 elements a text is sent, and digests of what came out: nothing of their size."""
    travelled: list[int] = []

    def count(stream: IO[bytes], message: protocol.Message) -> None:
        travelled.append(sum(array.nbytes for array in getattr(message, "arrays", ())))
        send(stream, message)

    send = protocol.send
    monkeypatch.setattr(protocol, "send", count)
    specs = (BufferSpec("f32", 1 << 20, "rand"), BufferSpec("i32", 1 << 20, "zeros"))
    one = GpuLaunch(
        "cubin",
        b"code",
        "",
        "plain",
        (1, 1, 1),
        (32, 1, 1),
        0,
        wire_arguments(specs),
        own_permit(b"code", "", "plain"),
    )
    left = {str(n): np.asarray(materialise(spec, n)) + 1 for n, spec in enumerate(specs)}
    assert gpu.differences(one, {k: v.astype(v.dtype) for k, v in left.items()}) == {
        "0": 0.0,
        "1": 0.0,
    }
    assert gpu.differences(one, {"0": left["0"], "1": left["1"] - 3})["1"] == 3.0
    assert max(travelled) == len(b"code") and one.arguments.size == 8 << 20


def test_cancelling_between_batches_keeps_the_worker(gpu: Gpu) -> None:
    asked = 0

    def after_three() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    with pytest.raises(Cancelled):
        gpu.time(launch(), 5000, cancel=after_three)
    assert gpu.alive


def test_timings_of_all_batches_are_put_together(gpu: Gpu) -> None:
    heard: list[float] = []
    timing = gpu.time(launch(), 60, progress=heard.append)
    assert timing.microseconds.tolist() == [2.5] * 60
    assert heard[-1] == 1.0 and len(heard) == len(timing.clocks) == 3


def test_denied_counters_name_the_remedy_and_leave_the_worker_alive(gpu: Gpu) -> None:
    with pytest.raises(CountersUnavailable, match="may not read") as caught:
        gpu.count(launch("denied"))
    assert caught.value.reason == "denied"
    assert gpu.alive and works(gpu)


def test_counters_that_are_missing_are_unavailable_not_zero(gpu: Gpu) -> None:
    found = gpu.count(launch())
    assert found["global_load_requests"].value == 8 and found["global_load_lines"].value is None
    assert found["global_load_lines"].status == "unavailable" and found["global_load_lines"].why


def test_the_drivers_answer_is_kept_with_a_launch(gpu: Gpu, tmp_path: Path) -> None:
    assert [gpu.resident_blocks(launch("fits")) for _ in range(2)] == [2, 2]
    assert gpu.registers(launch("fits")) == 16
    assert gpu.resident_blocks(launch()) is gpu.registers(launch()) is None
    assert (tmp_path / "log").read_text() == "load fits\nload plain\n"


def test_a_launch_is_loaded_once_and_few_are_kept(
    gpu: Gpu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_KEPT", 8)
    for number in (0, 0, *range(9), 0):
        gpu.run(launch("plain", number))
    log = (tmp_path / "log").read_text().split("\n")
    assert log.count("load plain") == 10 and log.count("drop plain") == 2


@pytest.mark.slow
def test_launches_on_the_device_leave_room_for_others(gpu: Gpu, tmp_path: Path) -> None:
    assert gpu.facts().memory == 1 << 30  # of which a quarter is for what is kept
    for number in (0, 1, 2):
        gpu.run(launch("plain", number, 24 << 20))
    log = (tmp_path / "log").read_text().split("\n")
    assert log.count("load plain") == 3 and log.count("drop plain") == 1


def test_output_of_kernels_does_not_disturb_the_protocol(gpu: Gpu) -> None:
    gpu.run(launch("talks"))
    assert works(gpu)
    end = time.monotonic() + 5
    while "lane 3" not in gpu.printed and time.monotonic() < end:
        time.sleep(0.01)
    assert gpu.printed == "lane 3 says hello"


def test_closing_twice_and_starting_again(gpu: Gpu) -> None:
    assert works(gpu)
    gpu.close()
    gpu.close()
    assert works(gpu)


def test_the_real_worker_says_what_this_machine_lacks() -> None:
    with Gpu() as gpu:
        try:
            assert gpu.facts().name
        except NoDevice as error:
            assert "driver" in str(error) or "CuPy" in str(error) or "GPU" in str(error)


LARGE = 1 << 20  # more than a pipe takes that nobody reads from
linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are stopped and looked up")


@pytest.mark.slow
@linux
@pytest.mark.parametrize("how", ["late", "cancelled"])
def test_a_worker_that_takes_nothing_in_is_given_up(gpu: Gpu, how: str) -> None:
    assert works(gpu) and gpu._process is not None
    os.kill(gpu._process.pid, signal.SIGSTOP)
    gpu._limit = 0.3 if how == "late" else 60.0
    begun = time.monotonic()
    with pytest.raises(TimeLimit if how == "late" else Cancelled):
        gpu.run(launch(size=LARGE), cancel=after(0.1 if how == "cancelled" else 60))
    assert time.monotonic() - begun < 5
    gpu._limit = 10
    assert works(gpu)


def test_a_worker_that_does_not_come_up_can_be_cancelled() -> None:
    stuck = [sys.executable, "-c", "import time; time.sleep(60)"]
    begun = time.monotonic()
    with Gpu(arguments=stuck) as gpu, stopped_by(lambda: True), pytest.raises(Cancelled):
        gpu.facts()
    assert time.monotonic() - begun < 5


def test_nothing_is_begun_that_is_not_wanted(gpu: Gpu, tmp_path: Path) -> None:
    assert works(gpu)
    with pytest.raises(Cancelled):
        gpu.run(launch("heavy"), cancel=lambda: True)
    assert works(gpu)
    assert (tmp_path / "log").read_text() == "load plain\n"


def test_what_kernels_print_without_an_end_takes_no_memory(gpu: Gpu) -> None:
    gpu.run(launch("shouts"))
    end = time.monotonic() + 5
    while not gpu.printed and time.monotonic() < end:
        time.sleep(0.01)
    assert gpu.printed and max(map(len, gpu.printed.split("\n"))) <= 2000


@pytest.mark.slow
@linux
def test_the_worker_ends_with_gpuviz_even_in_a_kernel_that_never_does() -> None:
    code = (
        "from tests.gpu.test_client import FAKE, Gpu, launch\n"
        "gpu = Gpu(arguments=FAKE)\n"
        "gpu.facts()\n"
        "print(gpu._process.pid, flush=True)\n"
        "gpu.run(launch('hangs'))\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        worker = Path("/proc", parent.stdout.readline().decode().strip(), "stat")
        time.sleep(0.5)
        assert parent.poll() is None and worker.exists()
        parent.kill()
    end = time.monotonic() + 10
    with suppress(OSError):
        while worker.read_text().split()[2] != "Z":
            assert time.monotonic() < end, "the worker outlives gpuviz"
            time.sleep(0.05)


def held() -> tuple[int, int]:
    return len(os.listdir("/proc/self/fd")), threading.active_count()


@pytest.mark.slow
@linux
def test_nothing_of_a_worker_that_was_lost_stays(gpu: Gpu) -> None:
    assert works(gpu)
    before = held()
    for _ in range(3):
        for entry in ("faults", "dies", "babbles"):
            with pytest.raises((KernelFault, WorkerLost)):
                gpu.run(launch(entry))
    assert works(gpu)
    end = time.monotonic() + 5  # what reads of a worker ends with it, a moment later
    while held() != before and time.monotonic() < end:
        time.sleep(0.02)
    assert held() == before
