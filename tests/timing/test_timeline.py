import numpy as np
import pytest

from gpuviz.base.errors import InputError
from gpuviz.panels.limit_bars import timeline_picture
from gpuviz.panels.warp_timeline import WarpTimeline
from gpuviz.recordings.stall_reasons import ALL, KEYS, METRICS, PREFIX, waits
from gpuviz.run.stalls import agreement, errors, largest, predicted_waits, stalls_of
from gpuviz.timing import simulation
from gpuviz.timing.explanation import Explanation, limits
from gpuviz.timing.multiprocessor import PARTS, Sum
from gpuviz.timing.native import native
from gpuviz.timing.timeline import Timeline, timeline_of, tracks
from gpuviz.timing.warp_states import State
from tests.timing.launches import MEASURED, made

pytestmark = pytest.mark.machine_code


def test_recording_changes_nothing_and_misses_no_instruction() -> None:
    prediction, timeline = made("copy1_2e18")
    assert native(simulation.RECORDED) is not native(simulation.simulate)
    assert timeline.cycles == prediction.outcome.cycles and timeline.whole
    often = np.bincount(timeline.events.instruction, minlength=len(timeline.code))
    assert often.tolist() == prediction.outcome.issued.tolist()
    assert timeline.events.missed.sum() == prediction.outcome.sums[Sum.MISSES]


@pytest.mark.parametrize("name", ["copy1_2e18", "histg_4"])  # warps of one do not end with EXIT
def test_a_place_does_one_thing_at_a_time_while_its_block_is_there(name: str) -> None:
    _, timeline = made(name)
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


@pytest.mark.slow
def test_tracks_add_up_to_what_was_worked() -> None:
    prediction, timeline = made("shloop_32")
    found = {t.resource: t for t in tracks(timeline, 0, timeline.cycles, 300)}
    sums, wide = prediction.outcome.sums, timeline.cycles / 300
    assert found["lsu"].used.sum() * wide == pytest.approx(sums[Sum.LSU_CYCLES], rel=0.01)
    assert found["issue"].used.sum() * wide * PARTS == pytest.approx(sums[Sum.ISSUED])


def test_a_request_is_found_from_its_instruction() -> None:
    timeline = made("shloop_32")[1]
    own = np.flatnonzero(timeline.events.number == timeline.events.number[0])
    asking = [int(e) for e in own if timeline.events.request[e] >= 0]
    assert [timeline.turn(e) for e in asking[:4]] == [1, 2, 3, 4]  # all code is on one line
    assert timeline.turn(int(own[0])) == 0


# The kind most is counted of, and how far the prediction of it may be from what is counted.
WAITING = {
    "copy1_2e18": ("waits_memory", 0.15),
    "shloop_32": ("waits_shared", 0.1),  # 83 of its 86 cycles the model holds instructions back
    "histg_4": ("waits_memory", 0.1),
}


@pytest.mark.parametrize("name", WAITING)
def test_waits_are_of_the_quantity_that_counters_read(name: str) -> None:
    kind, most = WAITING[name]
    told = MEASURED[name]["stalls"]["cold"]
    counted = waits(dict.fromkeys(METRICS, 0.0) | {PREFIX + r: n for r, n in told.items()})
    waited = sum(n for reason, n in told.items() if reason != "selected")
    assert counted[ALL] == pytest.approx(waited + 1.0)  # the issue itself
    stalls = stalls_of(predicted_waits(made(name)[1]), counted)
    assert stalls.keys() == KEYS.keys() - {"waits_drain"}
    assert kind == max(stalls.keys() - {ALL}, key=lambda key: stalls[key][1])
    assert stalls[kind][0] == pytest.approx(stalls[kind][1], rel=most)
    assert stalls[ALL][0] == pytest.approx(sum(p for p, _ in stalls.values()) - stalls[ALL][0] + 1)


def test_how_often_the_largest_wait_is_the_one_counted() -> None:
    a = {"waits_memory": (6.0, 5.0), "waits_issue": (1.0, 2.0), ALL: (9.0, 9.0)}
    b = {"waits_memory": (6.0, 1.0), "waits_issue": (5.0, 4.0), ALL: (9.0, 10.0)}
    assert agreement([a, b]) == (1, 2, 2)
    assert [largest(one) for one in (a, b)] == ["waits_memory", "waits_issue"]
    assert errors([b], "waits_issue") == pytest.approx([0.25])
    assert errors([a, b], ALL) == pytest.approx([0.0, -0.1])
    assert stalls_of({"waits_memory": 1.0}, {}) == {}


@pytest.mark.parametrize(("share", "most"), [(0.0, 7000), (1 / 3, 5000), (0.6, 1 << 20)])
def test_a_stretch_of_a_long_launch_says_the_same_as_all_of_it(share: float, most: int) -> None:
    prediction, whole = made("shloop_32")
    cut = timeline_of(prediction, share * whole.cycles, most)
    assert not cut.whole and cut.cycles == whole.cycles
    assert cut.since < cut.recorded < whole.cycles or most > len(whole.events)
    begin, end = cut.since, cut.recorded
    same = whole.spans.mostly(begin, end, 400) == cut.spans.mostly(begin, end, 400)
    assert same.mean() > 0.999
    assert cut.spans.time_in(begin, end) == pytest.approx(
        whole.spans.time_in(begin, end), rel=1e-3, abs=4
    )


def test_where_all_is_over_there_is_no_stretch() -> None:
    prediction, whole = made("copy1_2e18")
    with pytest.raises(InputError, match=rf"cycle 9,999: .* works from 0 to {whole.cycles:,.0f}"):
        timeline_of(prediction, 9999)


def test_a_picture_of_a_stretch_shows_and_says_just_that() -> None:
    prediction, _ = made("shloop_32")
    e = Explanation(prediction, limits(prediction), (), timeline_of(prediction, 50_000, 3000))
    shown = timeline_picture(e)
    assert isinstance(shown.body, WarpTimeline)
    record = e.timeline
    assert (shown.body.begin, shown.body.end) == (50_000, record.recorded)
    assert shown.body.moved(1e9).end == record.recorded and shown.body.moved(-1e9).begin == 50_000
    assert shown.body.zoomed(60_000, 0.01).end == record.recorded
    assert "instructions are shown from cycle 50\u202f000 to " in shown.sentence
    assert e.since(0).timeline.whole
