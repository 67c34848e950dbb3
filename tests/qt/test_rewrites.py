"""Rewrites of a kernel of one's own: tried from the window, put into its editor, and run there."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gpuviz.qt.window.window import Window
from gpuviz.story.kernel_launch import KernelLaunch
from gpuviz.story.own_kernel.story import lesson_of
from tests.qt.fake_lesson import FakePerform
from tests.qt.test_own_kernel import Perform
from tests.rewrites.kernels import TEXTBOOK

WAIT = 120_000  # milliseconds


@pytest.fixture
def perform() -> FakePerform:
    return Perform()


def show(window: Window, qtbot: QtBot, folder: Path, name: str) -> None:
    """A kernel of a textbook, and its source in the editor."""
    one, file = TEXTBOOK[name], folder / "kernel.cu"
    file.write_text(one.text)
    launch = KernelLaunch(file, "k", "k", (*one.grid, 1), (*one.block, 1), one.arguments)
    window.course.open_any(lesson_of(launch))
    window.features.source_editing.ask_unsaved = lambda path: "discard"
    own = window.features.own_kernel
    qtbot.waitUntil(lambda: own.text == one.text and own.built is not None, timeout=WAIT)


@pytest.mark.slow
def test_what_is_proven_is_put_into_the_editor_and_runs(
    window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    show(window, qtbot, tmp_path, "bank conflicts")
    window.actions_["kernel.rewrites"].trigger()
    rewrites = window.features.rewrites
    assert rewrites is not None
    qtbot.waitUntil(lambda: rewrites.dialog is not None, timeout=WAIT)
    dialog = rewrites.dialog
    assert dialog is not None and dialog.trial is not None
    assert dialog.trial.rewrite.rule in ("pad", "swizzle")  # the best is chosen
    assert "+    __shared__ float tile[32][32 + 1];" in dialog.diff.toPlainText() or (
        "% 32)" in dialog.diff.toPlainText()
    )
    last = dialog.list.topLevelItem(dialog.list.topLevelItemCount() - 1)
    assert last is not None
    dialog.list.setCurrentItem(last)
    assert not dialog.use.isEnabled()  # what is wrong, or not faster, is only told
    first = dialog.list.topLevelItem(0)
    assert first is not None
    dialog.list.setCurrentItem(first)
    chosen = dialog.trial.rewrite.text
    own = window.features.own_kernel
    said: list[str] = []
    window.features.source_editing.said.connect(said.append)
    source, own.text = own.text, "// written since"
    dialog.chosen.emit(dialog.trial)  # is not put over what was written meanwhile
    assert own.text == "// written since" and "try the rewrites again" in said[-1]
    own.text = source
    qtbot.mouseClick(dialog.use, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: own.text == chosen, timeout=WAIT)

    def ran() -> bool:
        showing = window.director.showing
        return showing is not None and showing.runs["kernel"].trace.source == chosen

    qtbot.waitUntil(ran, timeout=WAIT)
    assert (tmp_path / "kernel.cu").read_text() == TEXTBOOK["bank conflicts"].text  # not saved


@pytest.mark.slow
def test_trying_can_be_stopped(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    show(window, qtbot, tmp_path, "transpose")
    window.actions_["kernel.rewrites"].trigger()
    rewrites = window.features.rewrites
    assert rewrites is not None and rewrites.trials.busy
    rewrites.trials.cancel()
    qtbot.waitUntil(lambda: not rewrites.trials.busy, timeout=WAIT)
    assert rewrites.dialog is None
