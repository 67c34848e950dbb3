"""The history of views, without a window."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuviz.qt.history.view_history import MOST, with_view
from gpuviz.views import history
from gpuviz.views.history import History, changes
from gpuviz.views.naming import described, difference
from gpuviz.views.provenance import Provenance
from tests.qt.fake_lesson import LESSONS

VIEW = Provenance("pairs", {"stride": 2, "element": "float", "guard": False}, "sm_90")
OTHER = {"stride": 1, "element": "float", "guard": False}


def stride(value: int, view: Provenance = VIEW) -> Provenance:
    return replace(view, values={**view.values, "stride": value})


@pytest.mark.parametrize(
    ("after", "what"),
    [
        (replace(VIEW, time=3.0, width=99, theme="light", badges={"counts": "modelled"}), set()),
        (stride(5), {"a.stride"}),
        (replace(VIEW, arch="sm_80", level="ptx"), {"arch", "level"}),
        (replace(VIEW, compare_values=OTHER), {"compare"}),
        (replace(VIEW, lesson="sums", arch="sm_80"), {"lesson"}),
        (replace(VIEW, launch={"grid": "2,1,1"}), {"launch.grid"}),
    ],
)
def test_what_differs_between_two_views(after: Provenance, what: set[str]) -> None:
    assert changes(VIEW, after) == what


def test_what_differs_on_side_b() -> None:
    both = replace(VIEW, compare_values=OTHER)
    assert changes(both, replace(both, compare_values={**OTHER, "stride": 9})) == {"b.stride"}
    assert changes(both, replace(both, compare_arch="sm_75")) == {"b.arch"}


def test_back_and_forward_again() -> None:
    made = History(VIEW)
    for at, value in enumerate((3, 4, 5)):
        made = history.changed(made, stride(value), float(at))
    seen = []
    while made.past:
        made = history.undone(made)
        seen.append(made.now.values["stride"])
    assert seen == [4, 3, 2]
    while made.future:
        made = history.redone(made)
        seen.append(made.now.values["stride"])
    assert seen[3:] == [3, 4, 5]
    assert history.redone(made) is made


def test_a_drag_is_one_step_and_dragging_back_is_none() -> None:
    made = History(VIEW)
    for number, value in enumerate((3, 4, 5, 6)):
        made = history.changed(made, stride(value), 10 + number * 0.5)
    assert [view.values["stride"] for view in made.past] == [2]
    back = history.changed(made, stride(2), 12.0)
    assert not back.past and not changes(back.now, VIEW)


def test_a_pause_or_another_parameter_ends_the_drag() -> None:
    made = history.changed(History(VIEW), stride(3), 10.0)
    made = history.changed(made, stride(4), 10.01 + history.BURST)
    made = history.changed(made, replace(made.now, arch="sm_80"), 10.8)
    assert len(made.past) == 3


def test_the_change_after_an_undo_is_its_own_and_forgets_what_was_undone() -> None:
    made = history.changed(History(VIEW), stride(3), 10.0)
    made = history.changed(made, stride(4), 11.0)
    made = history.changed(history.undone(made), stride(9), 11.1)
    assert [view.values["stride"] for view in made.past] == [2, 3]
    assert not made.future


def test_a_history_has_an_end() -> None:
    made = History(VIEW)
    for value in range(history.LONGEST + 50):
        made = history.changed(made, stride(value + 3), float(value))
    assert len(made.past) == history.LONGEST


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (stride(5), "stride 2 → 5"),
        (replace(VIEW, arch="sm_80"), "CC 9.0 → CC 8.0"),
        (replace(VIEW, level="ptx"), "SASS counts → PTX counts"),
        (replace(VIEW, compare_values=OTHER), "A beside B"),
        (
            replace(VIEW, values={"stride": 32, "element": "double", "guard": True}, arch="sm_80"),
            "stride 2 → 32, element float, 4 bytes → double, 8 bytes, …",
        ),
        (replace(VIEW, lesson="sums"), "Coalescing → Matmul: tiled"),
    ],
)
def test_a_change_in_words(after: Provenance, words: str) -> None:
    assert difference(VIEW, after, LESSONS[0], LESSONS[2]) == words


def test_a_preset_is_called_by_its_name() -> None:
    before = replace(VIEW, values={"stride": 7, "element": "double", "guard": True})
    after = replace(VIEW, values={"stride": 1, "element": "float", "guard": False})
    assert difference(before, after, LESSONS[0], LESSONS[0]) == "every word"


def test_changes_of_side_b_in_words() -> None:
    both = replace(VIEW, compare_values=OTHER)
    after = replace(both, compare_values={**OTHER, "stride": 9}, compare_arch="sm_75")
    assert difference(both, after, LESSONS[0], LESSONS[0]) == "B: stride 1 → 9, B: CC 9.0 → CC 7.5"


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (VIEW, "Coalescing · CC 9.0"),
        (stride(5), "Coalescing · stride 5 · CC 9.0"),
        (stride(1), "Coalescing · every word · CC 9.0"),
        (
            replace(stride(5), level="ptx", compare_values=OTHER, compare_arch="sm_80"),
            "Coalescing · stride 5 · beside every word, CC 8.0 · CC 9.0 · PTX counts",
        ),
    ],
)
def test_a_view_in_words(view: Provenance, words: str) -> None:
    assert described(view, LESSONS[0]) == words


def test_recent_views_are_distinct_newest_first_and_few() -> None:
    views: tuple[Provenance, ...] = ()
    for value in range(1, 20):
        views = with_view(views, stride(value))
    assert [view.values["stride"] for view in views] == list(range(19, 19 - MOST, -1))
    again = with_view(views, replace(stride(15), time=4.0))
    assert len(again) == MOST
    assert (again[0].values["stride"], again[0].time) == (15, 4.0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"grid": "4,1,1", "block": "64,1,1"}, "grid 2 → 4, block 32 → 64"),
        ({"defines": "N=4"}, "macros – → N=4"),
        ({"arguments": "f32[64]=rand i32=9"}, "i32=7 → i32=9"),
        ({"arguments": "i32=9"}, "other arguments"),
    ],
)
def test_changes_of_a_launch_are_told_one_by_one(change: dict[str, str], said: str) -> None:
    launch = {"grid": "2,1,1", "block": "32,1,1", "arguments": "f32[64]=rand i32=7"}
    before, after = (replace(VIEW, launch=one) for one in (launch, {**launch, **change}))
    assert difference(before, after, LESSONS[0], LESSONS[0]) == said
    assert "<<<2, 32>>>" in described(before, LESSONS[0])
