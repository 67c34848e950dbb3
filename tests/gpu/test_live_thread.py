"""The thread that measures: in which order, what of it, and never what nobody agreed to run."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpuviz.base.errors import KernelFault
from gpuviz.compile import Program, Resources
from gpuviz.gpu.client import GpuLaunch
from gpuviz.gpu.consent import ConsentList
from gpuviz.gpu.live_thread import (
    ConsentRequest,
    Continuously,
    Engine,
    Idle,
    Look,
    MeasurementReport,
    Once,
    PlacementReport,
    Report,
    Target,
    TimingReport,
    Trouble,
    Wish,
)
from gpuviz.launch.job import Job
from gpuviz.recordings.measurement import DeviceFacts, Peaks, Placement, Telemetry, Timing

FACTS = DeviceFacts(0, "NVIDIA Test", "9.0", "1", "13.0", 1, 1, 1, counters="denied")


class CountingGpu:
    """Remembers the code it was given, and what for."""

    def __init__(self) -> None:
        self.ran: list[bytes] = []
        self.asked: list[str] = []
        self.faulty: set[str] = set()  # what of it raises an error

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
        self._note(f"time {count}", launch)
        return Timing(np.ones(count))

    def place(self, launch: GpuLaunch, cancel: object) -> None:
        self._note("place", launch)

    def _note(self, what: str, launch: GpuLaunch) -> None:
        self.ran.append(launch.code)
        self.asked.append(f"{what} {launch.code.decode()}")
        if self.asked[-1] in self.faulty:
            raise KernelFault("an illegal address")

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
        self.gpu, self.agreed = CountingGpu(), ConsentList()
        self.reports: queue.Queue[Report] = queue.Queue()
        self.engine = Engine(lambda device: self.gpu, self._take, self.agreed)  # type: ignore[arg-type,return-value]
        self.done(Look())

    def _take(self, wish: Wish, report: Report) -> None:
        self.reports.put(report)

    def done(self, wish: Wish) -> list[Report]:
        self.engine.ask(wish)
        found: list[Report] = []
        while not isinstance(report := self.reports.get(timeout=10), Idle):
            found.append(report)
        return found


@pytest.fixture
def thread() -> Iterator[Thread]:
    made = Thread()
    yield made
    made.engine.close()


def test_one_that_is_not_agreed_to_does_not_keep_others_from_running(thread: Thread) -> None:
    found = thread.done(Once(TARGETS))
    (asked,) = (report for report in found if isinstance(report, ConsentRequest))
    assert {key: code.file for key, code in asked.codes.items()} == {"theirs": "theirs.cu"}
    assert [report.key for report in found if isinstance(report, MeasurementReport)] == ["ours"]
    assert set(thread.gpu.ran) == {b"ours"}
    thread.agreed.add(asked.codes.values())
    found = thread.done(Once(TARGETS))
    assert [report.key for report in found if isinstance(report, MeasurementReport)] == [
        "ours",
        "theirs",
    ]
    assert set(thread.gpu.ran) == {b"ours", b"theirs"}


def test_running_on_and_on_rests_where_nothing_may_run(thread: Thread) -> None:
    (asked,) = thread.done(Continuously(TARGETS[1:]))
    assert isinstance(asked, ConsentRequest) and thread.gpu.ran == []


def test_running_on_and_on_goes_on_with_what_may_run(thread: Thread) -> None:
    thread.engine.ask(Continuously(TARGETS))
    timed: set[str] = set()
    while not timed:
        report = thread.reports.get(timeout=10)
        timed |= {report.key} if isinstance(report, TimingReport) else set()
    thread.engine.rest()
    assert timed == {"ours"} and set(thread.gpu.ran) == {b"ours"}


OURS = target("one", "course"), target("two", "course")


def until_timed(thread: Thread, keys: set[str]) -> list[Report]:
    """What is reported until each of these was timed in a round."""
    found: list[Report] = []
    while keys - {report.key for report in found if isinstance(report, TimingReport)}:
        found.append(thread.reports.get(timeout=10))
    return found


def test_the_numbers_of_all_come_before_what_takes_longer(thread: Thread) -> None:
    thread.done(Once(OURS))
    assert thread.gpu.asked == ["time 200 one", "time 200 two", "place one", "place two"]


def test_what_is_known_already_is_not_measured_again_before_what_is_new(thread: Thread) -> None:
    (known,) = (
        r.measurement for r in thread.done(Once(OURS[:1])) if isinstance(r, PlacementReport)
    )
    placed = replace(known, placement=Placement(*np.zeros((4, 1), np.int64)))
    thread.gpu.asked.clear()
    thread.engine.ask(Continuously((replace(OURS[0], known=placed), OURS[1])))
    until_timed(thread, {"one", "two"})
    thread.engine.rest()
    assert thread.gpu.asked[:4] == ["time 25 two", "place two", "time 25 one", "time 25 two"]


def test_one_that_fails_keeps_none_of_the_others(thread: Thread) -> None:
    thread.gpu.faulty = {"time 25 one"}
    thread.engine.ask(Continuously(OURS, use=1.0))
    found = until_timed(thread, {"two"})
    thread.engine.rest()
    assert [report.key for report in found if isinstance(report, Trouble)] == ["one"]
    assert "two" in {report.key for report in found if isinstance(report, MeasurementReport)}


def test_one_that_fails_in_a_round_keeps_none_of_the_others(thread: Thread) -> None:
    thread.engine.ask(Continuously(OURS, use=1.0))
    until_timed(thread, {"one", "two"})
    thread.gpu.faulty = {"time 25 one"}
    while not isinstance(report := thread.reports.get(timeout=10), Trouble):
        pass
    assert report.key == "one"
    until_timed(thread, {"two"})
    thread.engine.rest()
