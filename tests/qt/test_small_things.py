"""Small things that were wrong once: sizes of windows, words over words, colours, names."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QRect, QSettings, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QMainWindow
from pytestqt.qtbot import QtBot

from gpuviz.course import SCENES, lesson
from gpuviz.draw.palette import THEMES
from gpuviz.qt.commands.palette_dialog import cut
from gpuviz.qt.preferences.settings import Settings
from gpuviz.qt.timing.timing_plot import COLORS, color_name, spaced
from gpuviz.qt.window.status import _watched, _work, work_words
from gpuviz.qt.window.window import Window
from gpuviz.story.exhibit import Variant, showing
from gpuviz.traces.trace import Coverage, Launch
from gpuviz.views.provenance import Provenance, file_name
from gpuviz.words import language
from gpuviz.words.language import grouped
from tests.course.performed import performed


def test_a_restored_window_is_no_larger_than_the_screen(
    qtbot: QtBot, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was left on a large screen; now there is a small one."""
    settings = Settings(QSettings(f"{tmp_path}/one.ini", QSettings.Format.IniFormat))
    left, again = QMainWindow(), QMainWindow()
    for window in (left, again):
        qtbot.addWidget(window)
    left.resize(790, 590)
    settings.keep_layout(left, {})
    small = SimpleNamespace(availableGeometry=lambda: QRect(0, 24, 640, 456))
    monkeypatch.setattr(again, "screen", lambda: small)
    settings.restore_layout(again, {})
    assert (again.width(), again.height()) == (640, 456)
    assert QRect(0, 24, 640, 456).contains(QRect(again.pos(), again.size()))


def test_a_maximised_window_is_maximised_again(qtbot: QtBot, tmp_path: object) -> None:
    settings = Settings(QSettings(f"{tmp_path}/one.ini", QSettings.Format.IniFormat))
    left, again = QMainWindow(), QMainWindow()
    for window in (left, again):
        qtbot.addWidget(window)
    left.showMaximized()
    settings.keep_layout(left, {})
    settings.restore_layout(again, {})
    assert again.isMaximized()
    left.showNormal()
    settings.keep_layout(left, {})
    other = QMainWindow()
    qtbot.addWidget(other)
    settings.restore_layout(other, {})
    assert not other.isMaximized()


def test_words_of_the_palette_end_before_those_at_the_right(window: Window) -> None:
    measure = QFontMetrics(window.theme.look.font(13))
    said = cut("Coalescing · stride 5 · offset 3 · element float4 · CC 9.0", measure, 200)
    assert measure.horizontalAdvance(said) <= 200 and said.endswith("CC 9.0") and "…" in said
    assert cut("Undo", measure, 200) == "Undo"


@pytest.mark.parametrize("theme", sorted(THEMES))
def test_seven_runs_have_seven_colours(theme: str) -> None:
    names = [color_name(number, 7) for number in range(7)]
    colors = np.array([getattr(THEMES[theme], name)[:3] for name in names], int)
    apart = np.abs(colors[:, None] - colors).sum(axis=-1) + 1000 * np.eye(7, dtype=int)
    assert len(COLORS) == 7 and apart.min() > 40


def test_the_source_begins_at_the_kernel_that_ran(make: Callable[[], Window]) -> None:
    """Opened at its result, where no line is under way, it is not macros that are seen."""
    window = make()
    view = window.source.views[0]
    view.show_code("\n".join(f"#define N{n}" for n in range(200)) + "\nkernel", {201: ("ld", "ld")})
    assert view.lit == {3}  # of the step under way: that line stays in view
    view.light(())
    view.show_code("\n".join(f"#if {n}" for n in range(200)) + "\nkernel", {201: ("ld", "ld")})
    assert 201 in [line for line, _ in view.visible_lines()]


def test_names_of_files_are_short_and_say_what_differs() -> None:
    for one in SCENES:
        for preset in one.presets:
            made = Provenance(one.id, {**one.defaults(), **preset.values}, "sm_90")
            assert len(file_name(made, ".png", one.defaults())) <= 64
    values = {"stride": 5, "offset": 0}
    view = Provenance("coalescing", values, "sm_90", time=4.0, end=4.0)
    usual = {"stride": 2, "offset": 0}
    assert file_name(view, ".png", usual) == "coalescing-stride=5-sm_90-4.0s.png"


def test_thousands_are_written_one_way() -> None:
    launch = Launch("copy", (65536, 1, 1), (256, 1, 1))
    trace = SimpleNamespace(launch=launch, blocks_emulated=65536, recorded=(40000,))
    run: Any = SimpleNamespace(trace=trace, coverage=None)
    said = f"{_work(run)} {_watched(run)}"
    assert said.count(grouped(65536)) == 2 and grouped(40000) in said


def test_blocks_that_were_only_counted_are_not_called_emulated() -> None:
    launch = Launch("copy", (4096, 1, 1), (256, 1, 1))
    trace = SimpleNamespace(launch=launch, blocks_emulated=4096, recorded=())
    run: Any = SimpleNamespace(trace=trace, coverage=Coverage("classes", 9, 4096, 1))
    assert _work(run) == (f"emulated 9 of {grouped(4096)} blocks, the others provably do the same")


def test_the_bar_tells_the_launch_drawn_from_the_one_at_real_size() -> None:
    def run(blocks: int, coverage: Coverage, of: str = "") -> Any:
        notes = *filter(None, [coverage.note]), "the record of requests was cut at 65,536 rows"
        launch = Launch("copy", (blocks, 1, 1), (256, 1, 1))
        trace = SimpleNamespace(launch=launch, blocks_emulated=blocks, notes=notes)
        return SimpleNamespace(trace=trace, coverage=coverage, companion_of=of)

    drawn, real = Coverage("all", 64, 64), Coverage("classes", 9, 4096, 1)
    assert "4,096 blocks" in real.note
    assert work_words({"shown": run(64, drawn), "shown, real size": run(4096, real, "shown")}) == [
        "emulated 64 blocks",
        f"at real size: emulated 9 of {grouped(4096)} blocks, the others provably do the same",
        f"the record of requests was cut at {grouped(65536)} rows",
    ]
    (told, _) = work_words({"shown": run(4096, Coverage("sample", 491, 4096))})
    assert told == f"emulated 491 of {grouped(4096)} blocks (12 %): counts are estimates; " + (
        "Ctrl+Shift+G goes on"
    )


def test_one_key_gives_the_emulator_longer(window: Window) -> None:
    before = window.core.view.now.seconds
    window.actions_["run.longer"].trigger()
    assert window.core.view.now.seconds == 300 > before == 60


def test_words_in_the_bar_that_do_not_fit_end_in_an_ellipsis(window: Window) -> None:
    said, line = "emulated a great many blocks, as a long sentence tells", window.status.running
    line.setText(said)
    line.resize(120, 20)
    shown = line.grab().toImage()
    line.setText(line.fontMetrics().elidedText(said, Qt.TextElideMode.ElideRight, 120))
    assert line.text().endswith("…") and line.grab().toImage() == shown


def test_numbers_of_the_plot_of_times_are_written_as_all_others() -> None:
    assert [spaced(tick) for tick in ("0.5", "200", "4000")] == ["0.5", "200", grouped(4000)]


def test_runs_are_named_in_the_readers_language() -> None:
    before = language.chosen()
    language.choose("es")
    try:
        values = lesson("matmul-tiled").defaults()
        variant = Variant(lesson("matmul-tiled"), values, "sm_90", "ptx")
        shown = showing((variant,), (performed(lesson("matmul-tiled"), values),))
        assert [shown.title(key) for key in ("naive", "tiled")] == ["ingenuo", "teselas"]
    finally:
        language.choose(before)
