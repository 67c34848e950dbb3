"""Files outside of a lecture's folder: the window asks before they are read, and before they go."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QDialogButtonBox
from pytestqt.qtbot import QtBot

from gpuviz.lectures import agreements
from gpuviz.lectures.bundle import BundleContents
from gpuviz.qt.lecture.document import Document
from gpuviz.qt.lecture.files_dialog import FilesDialog, packing_dialog, reading_dialog
from gpuviz.qt.window.window import Window
from gpuviz.run.session import Session

pytestmark = pytest.mark.usefixtures("course")
KERNEL = 'extern "C" __global__ void k(float* x, unsigned char* p) { x[threadIdx.x] = 2.0f; }\n'
TEXT = """gpuviz-lecture = 1
title = "A stranger's"

[[slide]]
[slide.kernel]
file = "k.cu"
entry = "k"
grid = "1"
block = "32"
arguments = "f32[32]=zeros u8[12]=@../keys/key.npy"

[[slide]]
title = "Words"
words = "Words"
"""
CANCEL = QDialogButtonBox.StandardButton.Cancel


@pytest.fixture
def key(tmp_path: Path) -> Path:
    (tmp_path / "keys").mkdir()
    np.save(tmp_path / "keys" / "key.npy", np.frombuffer(b"SECRETSECRET", np.uint8))
    return tmp_path / "keys" / "key.npy"


@pytest.fixture
def file(tmp_path: Path, key: Path) -> Path:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "k.cu").write_text(KERNEL)
    path = tmp_path / "own" / "theirs.gpuviz-lecture"
    path.write_text(TEXT)
    return path


def rows(dialog: FilesDialog) -> list[list[str]]:
    found = (dialog.list.topLevelItem(row) for row in range(dialog.list.topLevelItemCount()))
    return [[item.text(0), item.text(2)] for item in found if item is not None]


def packed(window: Window, path: Path, qtbot: QtBot, answer: bool) -> list[BundleContents]:
    """What was asked when the lecture was saved as a bundle."""
    asked: list[BundleContents] = []
    window.lecture.saving.ask_where = lambda: path
    window.lecture.saving.ask_packing = lambda name, packing: asked.append(packing) or answer
    window.actions_["lecture.pack"].trigger()
    qtbot.waitUntil(lambda: bool(asked) and not window.lecture.packer.busy, timeout=20_000)
    return asked


def open_it(window: Window, file: Path, answer: bool) -> list[tuple[Path, ...]]:
    """What was asked when it was opened."""
    asked: list[tuple[Path, ...]] = []
    window.lecture.ask_reading = lambda name, files: asked.append(files) or answer
    window.lecture.open(file)
    return asked


def test_what_nobody_agreed_to_is_neither_read_nor_packed(
    window: Window, file: Path, key: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    assert open_it(window, file, False) == [(key,)]
    assert str(key) in window.message.text.toPlainText()
    lecture = window.lecture.document.lecture
    assert lecture is not None and lecture.slides[0].view is None
    assert window.lecture.pane.list.item(0).text().endswith("▲")
    (packing,) = packed(window, tmp_path / "out.gpuviz-lecture", qtbot, True)
    assert packing.outside == ()
    with zipfile.ZipFile(tmp_path / "out.gpuviz-lecture") as archive:
        assert not any(b"SECRET" in archive.read(name) for name in archive.namelist())
        assert archive.read("lecture.gpuviz-lecture").decode() == TEXT  # what it said stays
    assert agreements.of(file) == frozenset()


def test_what_was_agreed_to_is_read_and_asked_about_again_before_it_leaves(
    window: Window, file: Path, key: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    out = tmp_path / "out.gpuviz-lecture"
    assert open_it(window, file, True) == [(key,)]
    lecture = window.lecture.document.lecture
    assert lecture is not None and lecture.slides[0].view is not None
    assert packed(window, out, qtbot, False)[0].outside == (key,)
    assert not out.exists() and not window.lecture.document.bundled
    assert packed(window, out, qtbot, True)[0].outside == (key,)
    qtbot.waitUntil(out.exists)
    assert packed(window, out, qtbot, True)[0].outside == ()  # has been said
    again = Document(Session())
    again.open(file)  # it is not asked twice
    assert again.lecture is not None and again.lecture.elsewhere == ()


def test_a_lecture_of_ones_own_with_files_elsewhere_stays_workable(
    window: Window, file: Path, key: Path, tmp_path: Path
) -> None:
    """The view is the user's own: saved, opened again, it asks nothing."""
    open_it(window, file, True)
    there = tmp_path / "other" / "mine.gpuviz-lecture"
    there.parent.mkdir()
    window.lecture.document.save(there)
    assert open_it(window, there, False) == []
    lecture = window.lecture.document.lecture
    assert lecture is not None and lecture.slides[0].view is not None


def test_the_dialogs_name_every_file(
    window: Window, file: Path, key: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    asking = reading_dialog(window, file.name, (key,))
    assert rows(asking) == [[f"▲ {key}", ""]]
    assert asking.buttons.button(CANCEL).isDefault()
    open_it(window, file, True)
    (packing,) = packed(window, tmp_path / "out.gpuviz-lecture", qtbot, False)
    shown = packing_dialog(window, "out", packing)
    assert rows(shown)[0] == ["▲ kernels/k/key.npy", str(key)]
    assert ["lecture.gpuviz-lecture", "made by gpuviz"] in rows(shown)
    assert shown.buttons.button(CANCEL).isDefault()


@pytest.mark.parametrize("gone", ["companion", "bundle"])
def test_a_copy_with_a_bad_slide_is_recovered(
    gone: str, file: Path, make: Callable[[], Window], tmp_path: Path
) -> None:
    bad = TEXT.replace('"f32[32]=zeros u8[12]=@../keys/key.npy"', '"don\'t"')
    file.write_text(bad)
    folder = tmp_path / "copies"
    first = Document(Session(), folder=folder)
    first.open(file)
    first.retitle("Changed")
    first.keep()
    first.lock.unlock()
    if gone == "companion":
        next(folder.glob("*.json")).unlink()
    else:
        file.unlink()
    again = Document(Session(), folder=folder)
    assert again.recover() and again.lecture is not None
    assert again.lecture.title == "Changed" and len(again.lecture.slides) == 2
    assert again.lecture.slides[0].raw in bad and "don't" in again.lecture.slides[0].raw
    again.give_up()


def test_a_copy_of_slides_with_files_beside_the_lecture_is_recovered(
    file: Path, tmp_path: Path
) -> None:
    file.write_text(TEXT.replace("u8[12]=@../keys/key.npy", "u8[12]=zeros"))
    folder = tmp_path / "copies"
    first = Document(Session(), folder=folder)
    first.open(file)
    first.retitle("Changed")
    first.keep()
    first.lock.unlock()
    again = Document(Session(), folder=folder)
    assert again.recover() and again.lecture is not None
    assert again.lecture.all_problems == () and again.lecture.slides[0].view is not None
    again.give_up()
