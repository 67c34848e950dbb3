"""The view as a record, and shown again from it."""

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from gpuviz.base.errors import InputError
from gpuviz.qt.window.window import Window
from gpuviz.views.provenance import Provenance

TOLD = Provenance("sums", {"stride": "7"}, "sm_80", "ptx", {"stride": 9}, "sm_75", time=2.5)


pytestmark = pytest.mark.usefixtures("course")


def test_a_view_is_shown_and_told_again(window: Window, qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.director.performed):
        window.recorder.show(TOLD)
    made = window.recorder.record()
    assert (made.lesson, made.values["stride"]) == ("sums", 7)
    assert (made.arch, made.level) == ("sm_80", "ptx")
    assert (made.compare_values["stride"], made.compare_arch, made.time) == (9, "sm_75", 2.5)
    assert (made.width, made.height) == (window.stage.width(), window.stage.height())
    assert window.director.showing is not None and window.director.showing.compared
    view = window.recorder.view()
    assert view is not None and set(view.runs) == {"A pairs", "B pairs"}
    assert view.still.width == window.stage.width()


def test_one_performance_for_many_changes(window: Window, qtbot: QtBot) -> None:
    asked: list[object] = []
    window.director.performer.started.connect(asked.append)
    with qtbot.waitSignal(window.director.performed):
        window.recorder.show(TOLD)
    assert len(asked) == 1


def test_moving_in_the_story_is_no_other_view(window: Window, qtbot: QtBot) -> None:
    said: list[int] = []
    window.view.changed.connect(lambda *_: said.append(1))
    window.player.seek(1.0)
    assert not said
    window.view.set_values({"stride": 5})
    assert said


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Provenance("absent", {}, "sm_90"), "absent"),
        (Provenance("pairs", {"stride": 99}, "sm_90"), "99"),
        (Provenance("pairs", {}, "sm_9"), "sm_9"),
        (Provenance("pairs", {}, "sm_90", "sas"), "sas"),
        (Provenance("pairs", {}, "sm_90", compare_values={"stride": 77}), "77"),
    ],
)
def test_what_cannot_be_shown_changes_nothing(
    wanted: Provenance, words: str, window: Window, make: Callable[[], Window]
) -> None:
    before = window.recorder.record()
    with pytest.raises(InputError, match=words):
        window.recorder.show(wanted)
    assert window.recorder.record() == before
