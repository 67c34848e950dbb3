"""Saving from the window, as a user does it: keys, menu, dialogs, progress, cancel."""

from __future__ import annotations

import csv
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QStandardPaths, Qt, QTimer
from PySide6.QtGui import QAction, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from gpuviz.base.arrays import Rgba
from gpuviz.draw.marks import Frame
from gpuviz.export import video
from gpuviz.export.reading import read, read_content
from gpuviz.gpu.client import Gpu
from gpuviz.qt.export import file_dialogs
from gpuviz.qt.export.picture_dialogs import FilmDialog, StillDialog
from gpuviz.qt.painting.qt_painter import QtPainter
from gpuviz.qt.window.window import Window
from gpuviz.story.sources import Sources
from gpuviz.traces import file as trace_file
from gpuviz.views.lesson_view import View
from tests.qt import fake_gpu
from tests.qt.fake_lesson import FakePerform, job_of

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
LEFT = Qt.MouseButton.LeftButton


@dataclass
class Answer:
    """What is answered when a file is asked for: the name proposed, in a folder, or None."""

    folder: Path
    name: str = ""
    asked: list[file_dialogs.Question] = field(default_factory=list)

    def __call__(self, parent: QWidget, question: file_dialogs.Question) -> Path | None:
        self.asked.append(question)
        return self.folder / (self.name or question.proposed.name)


@pytest.fixture
def answer(window: Window, tmp_path: Path) -> Answer:
    made = Answer(tmp_path / "out")
    made.folder.mkdir()
    exporting = window.files.exporting
    exporting.ask_where = made
    exporting.quick_folder = lambda: made.folder
    return made


def done(window: Window, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not window.files.exporting.exports.busy, timeout=20_000)


def files_in(answer: Answer) -> list[str]:
    return sorted(path.name for path in answer.folder.iterdir())


def still(window: Window) -> StillDialog:
    window.activateWindow()  # after a dialog nobody else does it here
    QApplication.processEvents()
    QTest.keyClick(window, Qt.Key.Key_E, CONTROL)
    found = window.files.exporting.dialog
    assert isinstance(found, StillDialog)
    return found


def film_of(window: Window, command: str = "export.film") -> FilmDialog:
    window.actions_[command].trigger()
    found = window.files.exporting.dialog
    assert isinstance(found, FilmDialog)
    return found


def choose(box: object, value: object) -> None:
    index = box.findData(value)  # type: ignore[attr-defined]
    assert index >= 0
    box.setCurrentIndex(index)  # type: ignore[attr-defined]


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> list[threading.Thread]:
    """Every picture of a film takes a while; the threads that drew one."""
    threads: list[threading.Thread] = []
    draw = View.frame

    def slowly(self: View, *given: object) -> Frame:
        if threading.current_thread() is not threading.main_thread():  # where previews are drawn
            time.sleep(0.02)
        threads.append(threading.current_thread())
        return draw(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(View, "frame", slowly)
    return threads


def test_one_key_saves_and_copies(window: Window, answer: Answer, qtbot: QtBot) -> None:
    window.player.seek(2.5)
    view = window.recorder.view()
    assert view is not None
    QTest.keyClick(window, Qt.Key.Key_S, CONTROL | SHIFT)
    done(window, qtbot)
    (name,) = files_in(answer)
    assert name == "pairs-stride=2-element=float-guard=False-sm_90-2.5s.png"
    assert read(answer.folder / name) == view.provenance
    with Image.open(answer.folder / name) as image:
        assert image.size == (2 * window.stage.width(), 2 * window.stage.height())
    copied = QGuiApplication.clipboard().mimeData()
    assert copied.hasImage() and bytes(copied.data("image/svg+xml").data()).startswith(b"<svg")
    assert read_content(bytes(copied.data("image/png").data()), "clipboard") == view.provenance
    assert window.status.running.text().startswith("saved and copied: pairs-stride=2")
    assert not window.status.progress.isVisible()


def test_a_quick_picture_replaces_none(window: Window, answer: Answer, qtbot: QtBot) -> None:
    for _ in range(3):
        QTest.keyClick(window, Qt.Key.Key_S, CONTROL | SHIFT)
    done(window, qtbot)
    stem = "pairs-stride=2-element=float-guard=False-sm_90-0.0s"
    assert files_in(answer) == [f"{stem}-2.png", f"{stem}-3.png", f"{stem}.png"]


def test_the_folder_is_a_click_away(window: Window, answer: Answer, qtbot: QtBot) -> None:
    opened: list[Path] = []
    window.files.exporting.open_folder = opened.append
    QTest.keyClick(window, Qt.Key.Key_S, CONTROL | SHIFT)
    done(window, qtbot)
    link = window.status.link
    assert link.isVisible() and str(answer.folder) in link.accessibleName()
    QTest.mouseClick(link, LEFT)
    assert opened == [answer.folder]
    window.status.say("something else")
    assert not link.isVisible()


def test_what_was_saved_is_said_when_a_run_is_done(
    window: Window, answer: Answer, perform: FakePerform, qtbot: QtBot
) -> None:
    go_on = threading.Event()
    perform.slow = lambda values: not go_on.is_set()
    window.view.set_values({"stride": 7})
    QTest.keyClick(window, Qt.Key.Key_S, CONTROL | SHIFT)
    done(window, qtbot)
    (name,) = files_in(answer)
    assert "stride=2" in name, "the picture of the run before is still the one shown"
    go_on.set()
    window.actions_["run.cancel"].trigger()
    qtbot.waitUntil(lambda: window.status.running.text().startswith("saved"))
    assert window.status.link.isVisible()


def test_pictures_go_where_pictures_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda place: str(tmp_path / "Fotos"))
    assert file_dialogs.pictures_folder() == tmp_path / "Fotos" / "gpuviz"
    assert (tmp_path / "Fotos" / "gpuviz").is_dir()
    (tmp_path / "a file").write_text("")
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda place: str(tmp_path / "a file"))
    assert file_dialogs.pictures_folder() == Path.home()


def test_long_names_are_cut_in_their_middle() -> None:
    assert file_dialogs.shortened("short.png") == "short.png"
    cut = file_dialogs.shortened("a" * 60 + ".png", 20)
    assert len(cut) == 20 and cut.endswith(".png") and "…" in cut


def test_nothing_shown_is_nothing_to_save(window: Window, answer: Answer) -> None:
    window.director._showing = None
    for id in ("export.quick", "export.still", "export.film", "export.counts", "export.trace"):
        window.actions_[id].trigger()
        assert window.status.running.text() == "There is nothing to save yet."
    assert files_in(answer) == [] and window.files.exporting.dialog is None


def test_the_menu_has_every_command(window: Window) -> None:
    button = window.toolbar.export
    said = [action.text() for action in button.menu().actions() if not action.isSeparator()]
    assert said[:2] == ["Save picture at once, and copy it", "Save picture …"]
    assert "Copy counts as text" in said and len(said) == 12
    assert button.accessibleName() == "Export"
    bar = next(a for a in window.toolbar.menu.actions() if a.text() == "Export")
    assert [a.text() for a in bar.menu().actions() if not a.isSeparator()] == said


def test_a_picture_as_it_is_wanted(window: Window, answer: Answer, qtbot: QtBot) -> None:
    dialog = still(window)
    choose(dialog.size_.names, "1920x1080")
    choose(dialog.pixels, 1)
    choose(dialog.theme, "light")
    dialog.clear.click()
    qtbot.waitUntil(lambda: dialog.preview.accessibleDescription().endswith("1920 × 1080"))
    assert dialog.said.text() == "1920 × 1080 pixels"
    small = dialog.preview.image
    QTest.mouseClick(dialog.save, LEFT)
    done(window, qtbot)
    (name,) = files_in(answer)
    record = read(answer.folder / name)
    assert (record.width, record.height, record.theme) == (1920, 1080, "light")
    with Image.open(answer.folder / name) as image:
        assert image.size == (1920, 1080) and image.getpixel((2, 2))[3] == 0
        reduced = image.resize((small.width(), small.height()), Image.Resampling.BOX)
    apart = np.abs(_pixels(small).astype(int) - np.array(reduced).astype(int))
    assert apart.mean() < 4, "the preview is the picture, small"


def _pixels(image: QImage) -> np.ndarray:
    plain = image.convertToFormat(QImage.Format.Format_RGBA8888)
    flat = np.frombuffer(plain.constBits(), np.uint8)
    return flat.reshape(plain.height(), plain.width(), 4)


@pytest.mark.parametrize("suffix", [".svg", ".pdf"])
def test_shapes_have_no_pixels_to_choose(
    suffix: str, window: Window, answer: Answer, qtbot: QtBot
) -> None:
    dialog = still(window)
    choose(dialog.format, suffix)
    assert not dialog.form.isRowVisible(dialog.pixels)
    dialog.accept()
    done(window, qtbot)
    (name,) = files_in(answer)
    assert name.endswith(suffix) and read(answer.folder / name).width == window.stage.width()
    assert answer.asked[0].suffixes[0] == suffix


def test_too_many_pixels_are_refused_in_words(window: Window) -> None:
    dialog = still(window)
    choose(dialog.size_.names, "custom")
    assert dialog.size_.width_.isVisible()
    dialog.size_.width_.setValue(16_000)
    dialog.size_.height_.setValue(16_000)
    choose(dialog.pixels, 4)
    assert "16000x16000" in dialog.problem.text() and not dialog.save.isEnabled()
    choose(dialog.pixels, 1)
    assert dialog.problem.isHidden() and dialog.save.isEnabled()
    dialog.reject()


@pytest.mark.slow
def test_letters_grow_with_very_large_pictures(
    window: Window, answer: Answer, qtbot: QtBot
) -> None:
    dialog = still(window)
    choose(dialog.size_.names, "3840x2160")
    choose(dialog.pixels, 1)
    dialog.accept()
    done(window, qtbot)
    record = read(answer.folder / files_in(answer)[0])
    assert (record.width, record.letters) == (3840, 2 * window.theme.look.scale)


@pytest.mark.slow
def test_choices_are_remembered(window: Window, answer: Answer, qtbot: QtBot) -> None:
    dialog = still(window)
    choose(dialog.format, ".svg")
    choose(dialog.theme, "contrast")
    dialog.accept()
    first = film_of(window)
    choose(first.format, ".apng")
    first.fps.setValue(7)
    first.accept()
    done(window, qtbot)
    again = still(window)
    assert again.wanted().suffix == ".svg" and again.wanted().theme == "contrast"
    again.reject()
    second = film_of(window)
    assert second.wanted().suffix == ".apng" and second.wanted().fps == 7
    assert answer.asked[1].proposed.parent == answer.folder, "the folder is, too"
    second.reject()


def test_damaged_memories_are_forgotten(window: Window) -> None:
    kept = window.settings
    kept.keep("export/still", '{"suffix": 3, "pixels": 99, "theme": "light", "size": []}')
    kept.keep("export/film", "[")
    dialog = still(window)
    assert (dialog.wanted().suffix, dialog.wanted().pixels) == (".png", 2)
    assert (dialog.wanted().theme, dialog.wanted().size) == ("light", "shown")
    dialog.reject()
    film_of(window).reject()


def test_a_film_of_the_current_step_in_two_themes(
    window: Window, answer: Answer, qtbot: QtBot
) -> None:
    window.player.seek(2.5)
    dialog = film_of(window)
    QTest.mouseClick(dialog.step, LEFT)
    assert (dialog.start.value(), dialog.end.value()) == (2.0, 3.0)
    choose(dialog.size_.names, "custom")
    dialog.size_.width_.setValue(400)
    dialog.size_.height_.setValue(260)
    dialog.fps.setValue(10)
    choose(dialog.theme, "both")
    assert dialog.said.text() == "10 pictures of 400 × 260 pixels, 1.0 s, in each of two files"
    answer.name = "a.gif"
    dialog.accept()
    done(window, qtbot)
    assert files_in(answer) == ["a-dark.gif", "a-light.gif"]
    record = read(answer.folder / "a-light.gif")
    assert (record.time, record.end, record.theme) == (2.0, 3.0, "light")
    with Image.open(answer.folder / "a-dark.gif") as image:
        assert image.size == (400, 260)


def test_a_stretch_of_time_is_typed(window: Window) -> None:
    dialog = film_of(window)
    assert dialog.whole.isChecked()
    dialog.start.setValue(1.0)
    dialog.end.setValue(1.5)
    assert not dialog.whole.isChecked() and dialog.said.text().startswith("10 pictures")
    dialog.end.setValue(0.5)
    assert "after the beginning" in dialog.problem.text() and not dialog.save.isEnabled()
    QTest.mouseClick(dialog.whole, LEFT)
    assert (dialog.start.value(), dialog.end.value()) == (0.0, 6.0) and dialog.save.isEnabled()
    choose(dialog.format, ".html")
    assert not dialog.form.isRowVisible(dialog.loop)
    dialog.reject()


def test_what_is_not_installed_is_offered_and_says_so(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(video, "find_spec", lambda name: None)
    dialog = film_of(window)
    choose(dialog.format, ".mp4")
    assert "pip install 'gpuviz[film]'" in dialog.problem.text()
    assert not dialog.save.isEnabled()
    choose(dialog.format, ".gif")
    assert dialog.save.isEnabled()
    dialog.reject()


def test_a_film_of_an_odd_window_is_even(window: Window, answer: Answer, qtbot: QtBot) -> None:
    pytest.importorskip("av")
    window.stage.resize(501, 333)
    dialog = film_of(window)
    choose(dialog.format, ".mp4")
    choose(dialog.size_.names, "shown")
    QTest.mouseClick(dialog.step, LEFT)
    dialog.fps.setValue(5)
    answer.name = "a.mp4"
    dialog.accept()
    done(window, qtbot)
    record = read(answer.folder / "a.mp4")
    assert (record.width, record.height) == (500, 332)


def test_a_page_for_browsers(window: Window, answer: Answer, qtbot: QtBot) -> None:
    dialog = film_of(window, "export.page")
    assert dialog.wanted().suffix == ".html"
    dialog.accept()
    done(window, qtbot)
    (name,) = files_in(answer)
    assert name.endswith(".html") and "<svg" in (answer.folder / name).read_text()


def begin(window: Window, answer: Answer, name: str = "film.gif") -> None:
    dialog = film_of(window)
    answer.name = name
    choose(dialog.size_.names, "shown")
    dialog.accept()
    window.activateWindow()


@pytest.mark.slow
def test_the_window_goes_on_while_a_film_is_saved(
    window: Window, answer: Answer, slow: list[threading.Thread], qtbot: QtBot
) -> None:
    begin(window, answer)
    slow.clear()
    qtbot.waitUntil(lambda: window.status.progress.value() > 0)
    status = window.status
    assert status.progress.isVisible() and status.cancel.isVisible()
    assert status.running.text() == "saving film.gif …"
    before = window.player.t
    window.player.toggle()
    qtbot.waitUntil(lambda: window.player.t > before + 0.2)
    window.player.pause()
    assert len(slow) > 5 and threading.main_thread() not in slow
    begin(window, answer, "second.gif")
    qtbot.waitUntil(lambda: status.running.text() == "saving film.gif …, 1 more to come")
    window.files.close()


@pytest.mark.slow
@pytest.mark.parametrize("way", ["button", "escape"])
def test_an_export_is_cancelled_and_the_next_begins(
    way: str, window: Window, answer: Answer, slow: list[threading.Thread], qtbot: QtBot
) -> None:
    begin(window, answer)
    begin(window, answer, "second.gif")
    qtbot.waitUntil(lambda: window.status.progress.value() > 0)
    if way == "button":
        QTest.mouseClick(window.status.cancel, LEFT)
    else:
        QTest.keyClick(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window.status.running.text() == "saving second.gif …")
    window.actions_["run.cancel"].trigger()
    done(window, qtbot)
    assert window.status.running.text() == "cancelled: second.gif was not saved"
    assert files_in(answer) == [] and not window.message.isVisible()
    assert not window.status.progress.isVisible()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["film.gif", "film.apng", "film.mp4", "film.html"])
def test_closing_leaves_no_part_of_a_file(
    name: str, window: Window, answer: Answer, slow: list[threading.Thread], qtbot: QtBot
) -> None:
    if name.endswith(".mp4"):
        pytest.importorskip("av")
    dialog = film_of(window)
    choose(dialog.format, Path(name).suffix)
    choose(dialog.size_.names, "1280x720")
    answer.name = name
    dialog.accept()
    qtbot.waitUntil(lambda: window.status.progress.value() > 0)
    window.close()
    assert files_in(answer) == [] and not window.files.exporting.exports._waiting


def test_a_folder_that_is_gone_is_a_message(window: Window, answer: Answer, qtbot: QtBot) -> None:
    (answer.folder / "file").write_text("")
    answer.name = "file/a.png"
    still(window).accept()
    done(window, qtbot)
    assert window.message.title.text() == "This could not be saved"
    assert "cannot write" in window.message.text.toPlainText()
    assert window.status.running.text() == "a.png was not saved"


@pytest.mark.parametrize("suffix", [".png", ".gputrace"])
def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(
    suffix: str, window: Window, answer: Answer, qtbot: QtBot
) -> None:
    answer.name = f"taken{suffix}"
    (answer.folder / answer.name).mkdir()
    if suffix == ".png":
        still(window).accept()
    else:
        window.actions_["export.trace"].trigger()
    done(window, qtbot)
    assert "cannot write" in window.message.text.toPlainText()
    assert files_in(answer) == [answer.name]


def test_names_that_are_too_long_are_a_message(
    window: Window, answer: Answer, qtbot: QtBot
) -> None:
    long = "a" * 248
    assert file_dialogs.free(answer.folder / f"{long}-light.png").name == f"{long}-light.png"
    answer.name = f"{long}.gif"
    window.actions_["export.film"].trigger()
    dialog = window.files.exporting.dialog
    assert isinstance(dialog, FilmDialog)
    dialog.size_.show_size("custom", 320, 200)
    dialog.fps.setValue(1)
    dialog.theme.setCurrentIndex(dialog.theme.findData("both"))
    dialog.accept()
    done(window, qtbot)
    assert "cannot write" in window.message.text.toPlainText() and files_in(answer) == []


def test_the_folder_of_last_time_cannot_be_looked_at(window: Window, answer: Answer) -> None:
    """It was on a disk that is no longer there: more than its absence can go wrong."""
    window.settings.keep("export/folder", "/" + "a" * 300)
    window.actions_["export.counts"].trigger()
    assert answer.asked[0].proposed.parent == answer.folder


def test_a_mistake_while_drawing_is_a_message(
    window: Window, answer: Answer, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    def broken(*given: object) -> Rgba:
        raise ZeroDivisionError("no such lane")

    monkeypatch.setattr(QtPainter, "pixels", broken)
    begin(window, answer)
    done(window, qtbot)
    assert "no such lane" in window.message.text.toPlainText() and files_in(answer) == []


def test_nothing_happens_when_no_file_is_chosen(window: Window, answer: Answer) -> None:
    window.files.exporting.ask_where = lambda parent, question: None
    still(window).accept()
    for id in ("export.window", "export.counts", "export.trace"):
        window.actions_[id].trigger()
    assert not window.files.exporting.exports.busy


def test_copy_picture(window: Window, answer: Answer, qtbot: QtBot) -> None:
    window.actions_["export.copy"].trigger()
    done(window, qtbot)
    assert QGuiApplication.clipboard().mimeData().hasImage() and files_in(answer) == []
    assert window.status.running.text() == "picture copied"
    assert not window.status.link.isVisible()


def test_the_whole_window_as_a_picture(window: Window, answer: Answer, qtbot: QtBot) -> None:
    window.actions_["export.window"].trigger()
    done(window, qtbot)
    (name,) = files_in(answer)
    assert name.startswith("window-pairs-")
    record = read(answer.folder / name)
    assert (record.lesson, record.values["stride"]) == ("pairs", 2)
    with Image.open(answer.folder / name) as image:
        assert image.size == (window.width(), window.height())


def test_counts_as_a_markdown_table(window: Window) -> None:
    window.actions_["export.table"].trigger()
    head, rule, *rows = QGuiApplication.clipboard().text().splitlines()
    assert head.startswith("| quantity | predicted (model)") and set(rule) <= set("|-: ")
    sectors = next(row for row in rows if row.startswith("| load sectors |"))
    assert "| 4096 |" in sectors
    assert {row.count("|") for row in (head, rule, *rows)} == {head.count("|")}


@pytest.mark.parametrize("suffix", [".csv", ".json", ".md"])
def test_counts_as_data(suffix: str, window: Window, answer: Answer, qtbot: QtBot) -> None:
    answer.name = f"counts{suffix}"
    window.actions_["export.counts"].trigger()
    done(window, qtbot)
    assert answer.asked[0].suffixes == (".csv", ".ncu.csv", ".json", ".md")
    said = (answer.folder / answer.name).read_text()
    assert "modelled" in said and "4096" in said.replace("\N{NARROW NO-BREAK SPACE}", "")


def test_traces_of_all_runs(
    window: Window, answer: Answer, perform: FakePerform, qtbot: QtBot
) -> None:
    perform.roles = ("naive", "tiled")
    window.actions_["run.again"].trigger()
    qtbot.waitUntil(lambda: len(window.director.showing.runs) == 2)
    (answer.folder / "t-tiled.gputrace").write_text("of somebody else")
    answer.name = "t.gputrace"
    window.actions_["export.trace"].trigger()
    done(window, qtbot)
    assert files_in(answer) == ["t-naive.gputrace", "t-tiled-2.gputrace", "t-tiled.gputrace"]
    assert trace_file.load(answer.folder / "t-naive.gputrace").launch.kernel == "pairs"
    assert window.status.running.text() == "2 files saved in out"


def test_times_are_not_there_without_a_gpu(window: Window, answer: Answer) -> None:
    window.actions_["export.times"].trigger()
    assert "Nothing has been timed" in window.status.running.text()


@pytest.fixture
def live(
    make: Callable[..., Window], perform: FakePerform, tmp_path: Path, qtbot: QtBot
) -> tuple[Window, Answer]:
    """A window with a GPU that has measured once."""
    perform.planned = True
    window = make(Sources(lambda device: Gpu(device, arguments=fake_gpu.arguments()), job_of))
    qtbot.waitUntil(
        lambda: window.meter.state.device is not None and window.meter.state.activity == "idle",
        timeout=20_000,
    )
    window.actions_["gpu.once"].trigger()
    qtbot.waitUntil(
        lambda: "pairs" in window.meter.known and window.meter.state.activity == "idle",
        timeout=20_000,
    )
    made = Answer(tmp_path)
    window.files.exporting.ask_where = made
    window.files.exporting.quick_folder = lambda: tmp_path
    return window, made


def test_live_measurements_are_in_the_data(live: tuple[Window, Answer], qtbot: QtBot) -> None:
    window, answer = live
    badge = f"live, {window.meter.state.device.name}, {datetime.now(UTC).date()}"
    answer.name = "a.json"
    window.actions_["export.counts"].trigger()
    done(window, qtbot)
    found = json.loads((answer.folder / "a.json").read_text())
    measured = found["runs"]["pairs"]["measured"]
    assert measured["badge"] == badge and measured["times"]["median_us"] > 0
    assert measured["counters"] and "measured on" in found["view"]["badges"]["measured"]
    answer.name = "a.md"
    window.actions_["export.counts"].trigger()
    done(window, qtbot)
    assert (
        f"pairs, 64 blocks of 256 threads (measured on {badge.removeprefix('live, ')})"
        in (answer.folder / "a.md").read_text().splitlines()[0]
    )


def test_live_times_are_a_table(live: tuple[Window, Answer], qtbot: QtBot) -> None:
    window, answer = live
    answer.name = "times.csv"
    window.actions_["export.times"].trigger()
    done(window, qtbot)
    rows = list(csv.DictReader((answer.folder / "times.csv").read_text().splitlines()))
    series = window.timing.series["pairs"]
    assert [float(row["microseconds"]) for row in rows] == pytest.approx(
        series.microseconds.tolist(), rel=1e-5
    )
    assert rows[-1]["launch"] == str(series.launches)
    said = f"live, {window.meter.state.device.name}, {datetime.now(UTC).date()}"
    assert {row["badge"] for row in rows} == {f"{said}, mostly launch overhead (2.10\u202fµs)"}
    assert {row["size"] for row in rows} == {"64 blocks of 256 threads"}


@pytest.mark.slow
def test_continuous_measurements_go_on_in_the_data(
    live: tuple[Window, Answer], qtbot: QtBot
) -> None:
    window, _ = live
    before = len(window.meter.known["pairs"].timing.microseconds)
    window.actions_["gpu.continuous"].trigger()
    qtbot.waitUntil(
        lambda: (
            "pairs" in window.meter.known
            and len(window.meter.known["pairs"].timing.microseconds) != before
        ),
        timeout=20_000,
    )
    window.actions_["gpu.stop"].trigger()
    window.view.set_values({"stride": 4})
    qtbot.waitUntil(lambda: "pairs" not in window.meter.known)


def test_the_file_dialog_proposes_name_and_folder(window: Window, tmp_path: Path) -> None:
    """Qt's own dialog, answered by keys."""
    QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
    seen: list[str] = []

    def look() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QFileDialog)
        seen.extend([*dialog.selectedFiles(), dialog.defaultSuffix()])
        dialog.accept()

    QTimer.singleShot(200, look)
    question = file_dialogs.Question("Save", tmp_path / "a.svg", (".svg", ".png"))
    assert file_dialogs.ask_where(window, question) == tmp_path / "a.svg"
    assert seen == [str(tmp_path / "a.svg"), "svg"]


def test_commands_have_keys_of_their_own(window: Window) -> None:
    keys: list[str] = []
    for _, action in window.actions_:
        assert isinstance(action, QAction)
        keys += [key.toString() for key in action.shortcuts()]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("scale", [1.0, 1.3])
def test_all_of_the_toolbar_fits_into_a_small_window(
    scale: float, window: Window, qtbot: QtBot
) -> None:
    window.resize(1280, 720)
    window.theme.set_scale(scale)
    window.status.say("a long remark " * 30)
    QApplication.processEvents()
    assert window.width() == 1280
    assert window.toolbar.commands.geometry().right() < 1280
    assert window.toolbar.export.width() >= window.toolbar.export.minimumSizeHint().width()
