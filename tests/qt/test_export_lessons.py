"""Three lessons in every format, read by other programs, against what the window paints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuviz.cli import main
from gpuviz.course import COURSE, lesson
from gpuviz.export.export import Options
from gpuviz.export.film import moments
from gpuviz.export.reading import read
from gpuviz.qt.look.fonts import load_fonts
from gpuviz.qt.window.window import Window
from gpuviz.story.perform import perform
from gpuviz.story.sources import Sources
from gpuviz.views.lesson_view import View
from gpuviz.views.make_view import badges, timed
from gpuviz.views.provenance import Provenance
from gpuviz.words import language
from tests.export.pictures import LESSONS, apart, by_qt, performed, pixels, program, run, save

pytestmark = pytest.mark.usefixtures("qapp")
FPS = 4


def view(name: str, theme: str = "light") -> View:
    """A second of a lesson in which something moves."""
    told = performed(name)
    made = Provenance(
        name,
        lesson(name).defaults(),
        "sm_90",
        width=640,
        height=400,
        theme=theme,
        badges=badges(told.runs),
    )
    return timed(View(told.story, told.runs, made), 0.5, 1.5)


def drawn(shown: View) -> list[np.ndarray]:
    """The pictures of its film, as the window paints them."""
    made = shown.provenance
    return [by_qt(shown.frame(t)) for t in moments(made.time, made.end, FPS)]


@pytest.mark.parametrize("name", LESSONS)
def test_pdf_by_poppler(name: str, tmp_path: Path) -> None:
    convert, shown = program("pdftoppm"), view(name)
    save(shown, tmp_path / "a.pdf")
    run(tmp_path, convert, "-r", "96", "-png", "-singlefile", tmp_path / "a.pdf", tmp_path / "a")
    assert apart(pixels(tmp_path / "a.png"), by_qt(shown.still)) < 6  # as with librsvg


@pytest.mark.parametrize("name", LESSONS)
def test_svg_by_librsvg(name: str, tmp_path: Path) -> None:
    convert, shown = program("rsvg-convert"), view(name, "dark")
    save(shown, tmp_path / "a.svg")
    run(tmp_path, convert, tmp_path / "a.svg", "-o", tmp_path / "a.png")
    assert apart(pixels(tmp_path / "a.png"), by_qt(shown.still)) < 7  # its figures vary in width


@pytest.mark.parametrize("name", LESSONS)
@pytest.mark.parametrize(("suffix", "most"), [(".apng", 0.0), (".gif", 1.5)])
def test_films_by_pillow(suffix: str, most: float, name: str, tmp_path: Path) -> None:
    shown = view(name)
    save(shown, tmp_path / f"a{suffix}", Options(fps=FPS))
    wanted = drawn(shown)
    with Image.open(tmp_path / f"a{suffix}") as image:
        at, found = 0.0, []
        for number in range(image.n_frames):
            image.seek(number)
            found.append((at, np.array(image.convert("RGB")).astype(int)))
            at += image.info["duration"] / 1000
    assert at == pytest.approx(1.0, abs=0.02)
    for number, picture in enumerate(wanted):  # equal pictures are one that stays longer
        last = [p for start, p in found if start <= number / FPS + 0.006][-1]
        assert apart(last, picture) <= most


@pytest.mark.slow
@pytest.mark.parametrize("name", LESSONS)
@pytest.mark.parametrize("suffix", [".mp4", ".webm"])
def test_films_by_ffmpeg(suffix: str, name: str, tmp_path: Path) -> None:
    av = pytest.importorskip("av")
    shown = view(name)
    save(shown, tmp_path / f"a{suffix}", Options(fps=FPS))
    with av.open(str(tmp_path / f"a{suffix}")) as container:
        frames = list(container.decode(video=0))
    wanted = drawn(shown)
    assert [float(frame.time) for frame in frames] == pytest.approx(
        [number / FPS for number in range(FPS)], abs=0.002
    )
    for frame, picture in zip(frames, wanted, strict=True):
        found = frame.reformat(format="rgb24", src_colorspace="ITU709").to_ndarray().astype(int)
        assert apart(found, picture) < 4, "half as many samples of colour"
        assert abs(found.mean() - picture.mean()) < 1.5, "no brighter and no darker"
    assert apart(wanted[0], wanted[-1]) > 0.05, "the story moved"


@pytest.fixture
def window(tmp_path: Path, qtbot: QtBot) -> Callable[[str], Window]:
    """Makes a window over the real lessons that shows one of them."""
    load_fonts()
    made: list[Window] = []

    def show(name: str) -> Window:
        settings = QSettings(str(tmp_path / "gpuviz.ini"), QSettings.Format.IniFormat)
        settings.setValue("lesson", name)
        shown = Window(partial(perform), COURSE, settings, Sources())
        made.append(shown)
        shown.resize(1280, 720)
        shown.show()
        shown.activateWindow()
        qtbot.waitUntil(
            lambda: shown.director.showing is not None and not shown.director.performer.busy,
            timeout=60_000,
        )
        return shown

    yield show  # type: ignore[misc]
    for shown in made:
        shown.close()
        shown.deleteLater()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "spoken"), [("coalescing", "en"), ("matmul-tiled", "es")])
def test_a_saved_picture_is_rendered_again_to_the_pixel(
    name: str,
    spoken: str,
    window: Callable[[str], Window],
    tmp_path: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Light, with larger letters, beside another architecture: all of it is in the record."""
    language.choose(spoken)
    try:
        shown = window(name)
        shown.theme.set_mode("light")
        shown.theme.set_scale(1.15)
        shown.view.become(shown.view.now.compare())
        shown.view.set(compare_arch="sm_60")
        qtbot.waitUntil(
            lambda: shown.director.showing.compared and not shown.director.performer.busy,
            timeout=60_000,
        )
        shown.player.seek(3.3)
        exporting = shown.files.exporting
        exporting.quick_folder = lambda: tmp_path
        QTest.keyClick(
            shown,
            Qt.Key.Key_S,
            Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier,
        )
        qtbot.waitUntil(lambda: not exporting.exports.busy, timeout=20_000)
        (first,) = tmp_path.glob("*.png")
        record = read(first)
        assert (record.language, record.theme, record.letters) == (spoken, "light", 1.15)
        assert record.badges["counts"] == "modelled" and record.compare_arch == "sm_60"
        again = tmp_path / "again.png"
        assert main(["render", "--from", str(first), "--pixels", "2", "-o", str(again)]) == 0
        assert (pixels(first) == pixels(again)).all()
        assert replace(read(again), badges={}) == replace(record, badges={})
        assert read(again).badges == record.badges
    finally:
        language.choose("en")
