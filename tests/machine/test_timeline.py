import numpy as np
import pytest

from gpuviz.machine import simulation as sim
from gpuviz.machine.native import native
from gpuviz.machine.timeline import Timeline
from gpuviz.machine.tracks import tracks
from gpuviz.machine.warp_states import State
from gpuviz.runners.stalls import agreement, stalls_of
from gpuviz.sass import tool
from tests.machine.launches import MEASURED, made

pytestmark = pytest.mark.skipif(tool.find() is None, reason="no nvdisasm")


def test_recording_changes_nothing_and_misses_no_instruction() -> None:
    prediction, timeline = made("copy1_2e18")
    assert native(sim.RECORDED) is not native(sim.simulate)
    assert timeline.cycles == prediction.outcome.cycles and timeline.whole
    often = np.bincount(timeline.events.instruction, minlength=len(timeline.code))
    assert often.tolist() == prediction.outcome.issued.tolist()
    assert timeline.events.missed.sum() == prediction.outcome.sums[sim.MISSES]


def test_a_place_does_one_thing_at_a_time_while_its_block_is_there() -> None:
    _, timeline = made("copy1_2e18")
    spans = timeline.spans
    resident = (np.ceil(timeline.ended) - np.ceil(timeline.begun)).sum() * timeline.warps
    assert spans.time_in(0, timeline.cycles).sum() == pytest.approx(resident, rel=0.01)
    same = spans.place[1:] == spans.place[:-1]
    assert (spans.start[1:][same] >= spans.end[:-1][same]).all()
    issued = spans.time_in(0, timeline.cycles)[State.ISSUE]
    assert issued == len(timeline.events)


def test_what_is_waited_for_is_what_limits() -> None:
    for name, state in (("copy1_2e18", State.MEMORY), ("shloop_32", State.QUEUE)):
        timeline = made(name)[1]
        taken = timeline.spans.time_in(0, timeline.cycles)
        assert taken.argmax() == state, name
        waited = np.flatnonzero(timeline.spans.state == State.MEMORY)
        causes = {timeline.code[i].name for i in _causes(timeline, waited)}
        assert all(one.startswith("LDG") for one in causes)


def _causes(timeline: Timeline, rows: np.ndarray) -> set[int]:
    return set(timeline.events.instruction[timeline.spans.cause[rows]].tolist())


def test_columns_hold_what_a_place_does_most() -> None:
    spans = made("copy1_2e18")[1].spans
    grid = spans.mostly(0, 2000, 500)
    for place, column in ((0, 200), (9, 100), (63, 400), (63, 0)):
        begin, end = column * 4.0, column * 4.0 + 4
        inside = [r for r in spans.within(begin, end) if spans.place[r] == place]
        taken = np.zeros(len(State))
        for r in inside:
            taken[spans.state[r]] += min(spans.end[r], end) - max(spans.start[r], begin)
        assert taken[grid[place, column]] == taken.max(), (place, column)


def test_tracks_add_up_to_what_was_worked() -> None:
    prediction, timeline = made("shloop_32")
    found = {t.resource: t for t in tracks(timeline, 0, timeline.cycles, 300)}
    sums, wide = prediction.outcome.sums, timeline.cycles / 300
    assert found["lsu"].used.sum() * wide == pytest.approx(sums[sim.LSU_CYCLES], rel=0.01)
    assert found["issue"].used.sum() * wide * sim.PARTS == pytest.approx(sums[sim.ISSUED])


def test_a_request_is_found_from_its_instruction() -> None:
    timeline = made("shloop_32")[1]
    own = np.flatnonzero(timeline.events.number == timeline.events.number[0])
    asking = [int(e) for e in own if timeline.events.request[e] >= 0]
    assert [timeline.turn(e) for e in asking[:4]] == [1, 2, 3, 4]  # all code is on one line
    assert timeline.turn(int(own[0])) == 0


def test_what_is_waited_for_stands_beside_stall_counters() -> None:
    counted = MEASURED["copy1_2e18"]["stalls"]["cold"]
    stalls = stalls_of(made("copy1_2e18")[1], counted)
    predicted, measured = stalls["memory"]
    assert predicted > 0.5 and measured == max(counted for _, counted in stalls.values())
    assert sum(p for p, _ in stalls.values()) == pytest.approx(1.0)
    assert agreement([stalls, {"memory": (0.6, 0.1), "queue": (0.4, 0.9)}]) == (1, 2, 2)
    assert stalls_of(made("copy1_2e18")[1], {}) == {}
