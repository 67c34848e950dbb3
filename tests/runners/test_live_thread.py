"""The thread that measures leaves out what nobody agreed to run."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gpuviz.compile import Program, Resources
from gpuviz.runners.agreed import Agreed
from gpuviz.runners.gpu.client import GpuLaunch
from gpuviz.runners.job import Job
from gpuviz.runners.live_thread import (
    Continuously,
    Engine,
    Gauged,
    Look,
    Once,
    Report,
    Rested,
    Target,
    Timed,
    Unagreed,
    Wish,
)
from gpuviz.runners.measurement import DeviceFacts, Peaks, Telemetry, Timing

FACTS = DeviceFacts(0, "NVIDIA Test", "9.0", "1", "13.0", 1, 1, 1, counters="denied")


class CountingGpu:
    """Remembers the code it was given."""

    def __init__(self) -> None:
        self.ran: list[bytes] = []

    def devices(self) -> tuple[DeviceFacts, ...]:
        return (FACTS,)

    def facts(self) -> DeviceFacts:
        return FACTS

    def telemetry(self) -> Telemetry:
        return Telemetry()

    def peaks(self, cancel: object) -> Peaks:
        return Peaks(1.0, 1.0)

    def run(self, launch: GpuLaunch, cancel: object) -> tuple[Any, ...]:
        self.ran.append(launch.code)
        return ()

    def time(self, launch: GpuLaunch, count: int, **given: object) -> Timing:
        self.ran.append(launch.code)
        return Timing(np.ones(count))

    def place(self, launch: GpuLaunch, cancel: object) -> None:
        self.ran.append(launch.code)

    def resident_blocks(self, launch: GpuLaunch, cancel: object) -> None:
        self.ran.append(launch.code)

    def registers(self, launch: GpuLaunch, cancel: object) -> None:
        self.ran.append(launch.code)

    def close(self) -> None:
        pass


def target(key: str, whose: str) -> Target:
    program = Program(
        ".entry k", key.encode(), "", {"k": Resources()}, (), "", f"{key}.cu", "sm_90", "none"
    )
    job = Job(program, "k", (1, 1, 1), (1, 1, 1), (), whose=whose)  # type: ignore[arg-type]
    return Target(key, lambda sm: job)


TARGETS = target("ours", "course"), target("theirs", "stranger")


class Thread:
    def __init__(self) -> None:
        self.gpu, self.agreed = CountingGpu(), Agreed()
        self.reports: queue.Queue[Report] = queue.Queue()
        self.engine = Engine(lambda device: self.gpu, self._take, self.agreed)  # type: ignore[arg-type,return-value]
        self.done(Look())

    def _take(self, wish: Wish, report: Report) -> None:
        self.reports.put(report)

    def done(self, wish: Wish) -> list[Report]:
        self.engine.ask(wish)
        found: list[Report] = []
        while not isinstance(report := self.reports.get(timeout=10), Rested):
            found.append(report)
        return found


@pytest.fixture
def thread() -> Iterator[Thread]:
    made = Thread()
    yield made
    made.engine.close()


def test_one_that_is_not_agreed_to_does_not_keep_others_from_running(thread: Thread) -> None:
    found = thread.done(Once(TARGETS))
    (asked,) = (report for report in found if isinstance(report, Unagreed))
    assert {key: code.file for key, code in asked.codes.items()} == {"theirs": "theirs.cu"}
    assert [report.key for report in found if isinstance(report, Gauged)] == ["ours"]
    assert set(thread.gpu.ran) == {b"ours"}
    thread.agreed.add(asked.codes.values())
    found = thread.done(Once(TARGETS))
    assert [report.key for report in found if isinstance(report, Gauged)] == ["ours", "theirs"]
    assert set(thread.gpu.ran) == {b"ours", b"theirs"}


def test_running_on_and_on_rests_where_nothing_may_run(thread: Thread) -> None:
    (asked,) = thread.done(Continuously(TARGETS[1:]))
    assert isinstance(asked, Unagreed) and thread.gpu.ran == []


def test_running_on_and_on_goes_on_with_what_may_run(thread: Thread) -> None:
    thread.engine.ask(Continuously(TARGETS))
    timed: set[str] = set()
    while not timed:
        report = thread.reports.get(timeout=10)
        timed |= {report.key} if isinstance(report, Timed) else set()
    thread.engine.rest()
    assert timed == {"ours"} and set(thread.gpu.ran) == {b"ours"}
