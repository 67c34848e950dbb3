"""Functions called in a process of their own: values, errors, progress, bounds, lost processes."""

import mmap
import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from gpuviz.base.errors import Cancelled, InputError, KernelFault, UnavailableError
from gpuviz.processes import calls

SOON = 60.0  # seconds, on a machine that others use


@pytest.fixture(autouse=True, scope="module")
def none_left():
    yield
    calls.close()


def double(values, *, progress, cancel):
    progress(0.25)
    progress(0.254)  # the same percent
    progress(0.75)
    return values * 2, values[::2], os.getpid()


def fail(kind, *, progress, cancel):
    if kind == "fault":
        error = KernelFault("it hurts", finding=("a", 1))
        error.others = (3,)
        raise error
    if kind == "mistake":
        raise ZeroDivisionError("of somebody")
    return lambda: None  # which cannot be sent


def wait(*, progress, cancel):
    progress(0.5)
    while not cancel():
        time.sleep(0.01)
    raise Cancelled("stopped")


def stay(*, progress, cancel):
    progress(0.5)
    time.sleep(600)


def take(size, *, progress, cancel):
    return np.ones(size, np.uint8).nbytes


def test_values_come_back_from_another_process():
    told = []
    values = np.arange(1 << 20, dtype="f8")
    doubled, every_second, process = calls.call(double, values, progress=told.append)
    assert process != os.getpid() and told == [0.25, 0.75]
    assert (doubled == values * 2).all() and (every_second == values[::2]).all()
    assert calls.call(double, values)[2] == process  # which was kept
    assert calls.here(double, values)[2] == os.getpid()


def test_errors_come_back_as_they_are():
    with pytest.raises(KernelFault, match="it hurts") as caught:
        calls.call(fail, "fault")
    assert (caught.value.finding, caught.value.others) == (("a", 1), (3,))
    with pytest.raises(ZeroDivisionError) as found:
        calls.call(fail, "mistake")
    assert "in fail" in found.value.__notes__[0]  # where it was
    with pytest.raises(UnavailableError, match="cannot be sent"):
        calls.call(fail, "")


def test_who_is_not_wanted_stops_and_is_used_again():
    _, _, process = calls.call(double, np.ones(2))
    begun = threading.Event()
    with pytest.raises(Cancelled):
        calls.call(wait, progress=lambda share: begun.set(), cancel=begun.is_set)
    assert calls.call(double, np.ones(2))[2] == process


def test_who_does_not_stop_is_killed(monkeypatch):
    monkeypatch.setattr(calls, "_GRACE", 0.1)
    begun = threading.Event()
    with pytest.raises(Cancelled):
        calls.call(stay, progress=lambda share: begun.set(), cancel=begun.is_set)
    assert calls.call(double, np.ones(2))


def test_a_process_that_is_killed_is_told_and_replaced():
    process = calls.call(double, np.ones(2))[2]

    def kill(share):
        os.kill(process, signal.SIGKILL)

    with pytest.raises(UnavailableError, match=r"was lost: it ended by SIGKILL. Try again"):
        calls.call(stay, progress=kill)
    assert calls.call(double, np.ones(2))[2] != process
    os.kill(calls.call(double, np.ones(2))[2], signal.SIGKILL)  # while it waits
    end = time.monotonic() + SOON
    while calls._idle[-1].alive and time.monotonic() < end:
        time.sleep(0.01)
    assert calls.call(double, np.ones(2))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems bound no memory")
def test_memory_is_bounded_for_one_call():
    with pytest.raises(InputError, match="more than 64 MiB of memory"):
        calls.call(take, 1 << 28, memory=64 << 20)
    assert calls.call(take, 1 << 28) == 1 << 28


def held(size, *, progress, cancel):
    """Fails, having much in its hands; tells how much is in memory."""
    found = np.ones(size, np.uint8)
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
    raise KernelFault("it hurts", finding=(resident, len(found)))


@pytest.mark.skipif(sys.platform != "linux", reason="where it is told")
def test_nothing_of_a_call_is_kept():
    sizes = []
    for size in (1 << 28, 1):
        with pytest.raises(KernelFault) as caught:
            calls.call(held, size)
        sizes.append(caught.value.finding[0])
    assert sizes[0] - sizes[1] > 200 << 20


def test_calls_at_the_same_time_have_processes_of_their_own():
    found, hands = [], []
    gate = threading.Barrier(3)

    def work():
        gate.wait()
        found.append(calls.call(double, np.ones(4))[2])

    hands = [threading.Thread(target=work) for _ in range(3)]
    for hand in hands:
        hand.start()
    for hand in hands:
        hand.join(SOON)
    assert len(found) == 3 and len(calls._idle) <= 2
