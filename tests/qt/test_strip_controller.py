"""A parameter is changed in front of a class: the strip, its keys and clicks, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuviz.draw.marks import Frame, Texts
from gpuviz.lectures.reading import parse
from gpuviz.qt.presenter import presentation
from gpuviz.qt.presenter.presentation import Presentation
from gpuviz.story.perform import perform
from gpuviz.story.sources import Sources
from tests.qt.test_presenter import press

K = Qt.Key
TEXT = """gpuviz-lecture = 1
title = "Strides"

[[slide]]
lesson = "coalescing"
values = { stride = 2 }
numbers = ["global_load_sectors"]
stops = [0, 3, 6]
[slide.question]
ask = "Every second float: how many sectors?"
choices = [4, 8, 16]
count = "global_load_sectors"

[[slide]]
title = "Words"
words = "Nothing to change."
"""
Give = Callable[..., Presentation]


@pytest.fixture
def give(present: Give, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Give:
    monkeypatch.setattr(presentation, "DIGITS_MS", 30)

    def give(text: str = TEXT) -> Presentation:
        shown = present(Presentation(parse(text, tmp_path), perform, Sources()))
        qtbot.waitUntil(lambda: shown.conductor.shown.story is not None, timeout=60_000)
        return shown

    return give


def texts(frame: Frame | None) -> list[str]:
    assert frame is not None
    return [s for mark in frame.marks if isinstance(mark, Texts) for s in mark.strings]


def picture(shown: Presentation) -> list[str]:
    shown.screen.grab()
    return texts(shown.screen.frame)


def strip(shown: Presentation) -> list[str]:
    seen = shown.screen.seen()
    assert seen is not None
    return texts(seen.strip)


def settled(shown: Presentation, qtbot: QtBot, **values: object) -> None:
    """The slide is shown with these values, on the side that is changed."""

    def there() -> bool:
        varied = shown.conductor.variation
        if varied is None or shown.conductor.varied is None:
            return False
        return all(varied.values[key] == value for key, value in values.items())

    qtbot.waitUntil(there, timeout=60_000)


def test_what_about_stride_3(give: Give, qtbot: QtBot) -> None:
    """Picture and counts follow at once; Esc goes back to the slide as it was."""
    shown = give()
    press(shown, K.Key_Space, K.Key_Space)  # the answer is out
    assert "✓" in picture(shown) and "8 sectors a request" in picture(shown)
    before = shown.conductor.place, shown.conductor.player.t
    press(shown, K.Key_P)
    assert {"stride", "2", "as planned"} <= set(strip(shown))
    press(shown, K.Key_Up)
    settled(shown, qtbot, stride=3)
    said = " ".join(picture(shown))
    assert "12 sectors" in said and "8 sectors" not in said and "✓" not in said
    assert {"stride (2)", "3"} <= set(strip(shown))
    press(shown, K.Key_Escape)
    assert shown.screen.seen().strip is None  # type: ignore[union-attr]
    assert (shown.conductor.place, shown.conductor.player.t) == before
    assert "✓" in picture(shown) and "8 sectors a request" in picture(shown)


def test_digits_are_the_value_while_the_strip_is_open(give: Give, qtbot: QtBot) -> None:
    shown = give()
    press(shown, K.Key_P, K.Key_1)
    assert "1_" in strip(shown)
    press(shown, K.Key_6)  # no longer one could be meant
    settled(shown, qtbot, stride=16)
    press(shown, K.Key_3)
    settled(shown, qtbot, stride=3)  # after a while
    press(shown, K.Key_3, K.Key_9)
    assert "stride: 1 to 32" in " ".join(strip(shown)) and shown.conductor.slide == 0
    settled(shown, qtbot, stride=3)


def test_its_question_is_asked_anew(give: Give, qtbot: QtBot) -> None:
    """The text of the planned one would be wrong, and its choices lack the answer."""
    shown = give()
    press(shown, K.Key_Space, K.Key_Space, K.Key_P, K.Key_Up)
    settled(shown, qtbot, stride=3)
    press(shown, K.Key_A)
    assert shown.conductor.cue.asks
    said = picture(shown)
    assert "And with stride 3? How many sectors a request?" in said
    assert {"4", "12", "16"} <= set(said) and "✓" not in said
    assert "12 sectors" not in " ".join(said)
    press(shown, K.Key_PageDown, K.Key_PageDown)
    said = picture(shown)
    assert "✓" in said and "12 sectors a request" in said
    press(shown, K.Key_Up)
    settled(shown, qtbot, stride=4)
    assert shown.conductor.cue.asks and "✓" not in picture(shown)


def test_architecture_preset_and_the_plan_beside_it(give: Give, qtbot: QtBot) -> None:
    shown = give()
    press(shown, K.Key_P, K.Key_Up)
    settled(shown, qtbot, stride=3)
    press(shown, *[K.Key_Right] * 20, K.Key_Up, K.Key_Up)  # the last field: A | B, B changes
    settled(shown, qtbot, stride=3)
    view = shown.conductor.shown.slide.view
    assert view is not None and view.compared
    assert (view.values["stride"], view.compare_values["stride"]) == (2, 3)
    press(shown, K.Key_Left, K.Key_Down)  # an older architecture for B alone
    qtbot.waitUntil(lambda: shown.conductor.shown.slide.view.compare_arch == "sm_89")  # type: ignore[union-attr]
    press(shown, K.Key_Left, K.Key_1)  # the first preset
    qtbot.waitUntil(lambda: shown.conductor.variation.values["stride"] == 1)  # type: ignore[union-attr]
    press(shown, *[K.Key_Right] * 2, K.Key_1)  # B alone
    view = shown.conductor.variation.view  # type: ignore[union-attr]
    assert not view.compared and view.values["stride"] == 1 and view.arch == "sm_89"


def test_a_click_on_the_title_and_clicks_on_the_strip(give: Give, qtbot: QtBot) -> None:
    shown = give()
    press(shown, K.Key_Space, K.Key_Space)
    shown.screen.grab()
    frame = shown.screen.frame
    assert frame is not None
    title = next(m for m in frame.marks if isinstance(m, Texts) and m.bold)
    at = QPoint(*(title.at[0] + (20, 0)).astype(int).tolist())
    QTest.mouseClick(shown.screen, Qt.MouseButton.LeftButton, pos=at)
    seen = shown.screen.seen()
    assert seen is not None and seen.strip is not None and shown.conductor.place == (0, 1)
    arrow = next(m for m in seen.strip.marks if isinstance(m, Texts) and m.strings == ("▼",))
    QTest.mouseClick(
        shown.screen, Qt.MouseButton.LeftButton, pos=QPoint(*arrow.at[0].astype(int).tolist())
    )
    settled(shown, qtbot, stride=1)
    pattern = next(
        m for m in seen.strip.marks if isinstance(m, Texts) and m.strings == ("pattern",)
    )
    QTest.mouseClick(
        shown.screen, Qt.MouseButton.LeftButton, pos=QPoint(*pattern.at[0].astype(int).tolist())
    )
    assert shown.tuning.strip is not None and shown.tuning.strip.chosen == 0
    assert shown.conductor.slide == 0


def test_another_slide_is_as_planned_and_so_is_this_one_when_it_is_repeated(
    give: Give, qtbot: QtBot
) -> None:
    shown = give()
    press(shown, K.Key_P, K.Key_Up)
    settled(shown, qtbot, stride=3)
    press(shown, K.Key_End)
    assert shown.tuning.strip is None
    press(shown, K.Key_P)  # nothing to change
    assert shown.tuning.strip is None
    press(shown, K.Key_Home)
    assert shown.conductor.variation is None and shown.conductor.cue.asks
    assert "Every second float: how many sectors?" in picture(shown)


def test_the_strip_can_go_and_what_was_changed_stay(give: Give, qtbot: QtBot) -> None:
    shown = give()
    press(shown, K.Key_P, K.Key_Up, K.Key_P)
    settled(shown, qtbot, stride=3)
    assert shown.tuning.strip is None
    press(shown, K.Key_Escape)
    assert shown.conductor.variation is None and shown.screen.isVisible()


def test_values_that_make_no_sense_say_why_and_leave_the_picture(give: Give, qtbot: QtBot) -> None:
    shown = give(
        'gpuviz-lecture = 1\n[[slide]]\nlesson = "occupancy"\nvalues = { x = 32, y = 32 }\n'
    )
    before = picture(shown)
    press(shown, K.Key_P)
    assert shown.tuning.strip is not None
    names = [field.id for field in shown.tuning.strip.fields]
    press(shown, *[K.Key_Right] * (names.index("x") - shown.tuning.strip.chosen))
    press(shown, K.Key_6, K.Key_4, K.Key_Return)
    assert shown.tuning.strip.wrong and shown.conductor.variation is None
    press(shown, K.Key_P)
    assert picture(shown) == before


def test_a_kernel_of_the_lecturers_own(give: Give, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "twice.cu").write_text(
        'extern "C" __global__ void twice(float* x)\n'
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] = 2 * x[i]; }\n"
    )
    shown = give(
        'gpuviz-lecture = 1\n[[slide]]\n[slide.kernel]\nfile = "twice.cu"\nentry = "twice"\n'
        'grid = "4"\nblock = 64\narguments = "f32[256]=ones"\n'
    )
    press(shown, K.Key_P)
    assert shown.tuning.strip is not None
    names = [field.id for field in shown.tuning.strip.fields]
    assert "warp" in names and "arch" in names
    press(shown, *[K.Key_Left] * 9, *[K.Key_Right] * names.index("warp"), K.Key_Up)
    settled(shown, qtbot, warp=1)
    assert not shown.tuning.strip.wrong
