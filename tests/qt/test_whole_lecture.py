"""Twenty minutes in front of a class, from the first slide to the end, whatever happens."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gpuviz.gpu.client import Gpu
from gpuviz.lectures.bundle import find
from gpuviz.lectures.reading import read
from gpuviz.lectures.writing import in_file
from gpuviz.qt.look.fonts import load_fonts
from gpuviz.qt.presenter.presentation import Presentation
from gpuviz.story.perform import perform
from gpuviz.story.sources import Sources
from tests.qt import fake_gpu
from tests.qt.whole_lecture import Giving

CHANGED, DRAWN, ENLARGED, LOST = 2, 3, 4, 5  # slides at which something happens


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(sys.platform != "linux", reason="processes are killed and looked up")
def test_a_lecture_is_given_from_start_to_end(tmp_path: Path, qtbot: QtBot) -> None:
    load_fonts()
    now = [0.0]

    def wait(seconds: float) -> None:
        now[0] += seconds

    file = tmp_path / "given.gpuviz-lecture"
    file.write_bytes(find("coalescing-and-banks").read_bytes())
    lecture = read(file)
    gpus = Sources(lambda device: Gpu(device, arguments=fake_gpu.arguments()))
    shown = Presentation(
        lecture, perform, gpus, keep=in_file(file), rehearses=True, clock=lambda: now[0]
    )
    ended: list[int] = []
    shown.ended.connect(ended.append)
    shown.start()
    shown.screen.showNormal()
    shown.screen.resize(1280, 720)
    given = Giving(shown, qtbot, wait)
    try:
        given.whole(CHANGED, DRAWN, ENLARGED, LOST)
        assert given.visited == [n for n, slide in enumerate(lecture.slides) if slide.playable]
        assert ended == [given.visited[-1]] and not shown.screen.isVisible()
        taken = [slide.taken for slide in read(file).slides]
        assert sum(taken) == 60 * len(given.visited) and min(taken) >= 60
    finally:
        shown.close()
        for one in (shown.screen, shown.speaker, shown):
            one.deleteLater()
