"""Fields of a launch that nobody filled are marked as proposed, until somebody does."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from gpuviz.launch.signature import KernelParameter
from gpuviz.launch.texts import Kernel, LaunchTexts
from gpuviz.panels.figures import Provenance
from gpuviz.qt.kernels.launch_fields import LaunchFields
from gpuviz.story.kernel_launch import KernelLaunch, launch_of, record_of
from gpuviz.story.own_kernel.story import _guessed
from gpuviz.story.refitting import made
from gpuviz.views import history
from gpuviz.views.provenance import Provenance as View

KERNEL = Kernel(
    (KernelParameter("out", "f32", True), KernelParameter("n", "i32", False, size=4)),
    (),
    lambda name: None,
)
LAUNCH = KernelLaunch(Path("k.cu"), "k", "k", (4, 1, 1), (64, 1, 1), ())


def test_fields_that_nobody_filled_are_marked(qtbot: QtBot) -> None:
    fields = LaunchFields()
    qtbot.addWidget(fields)
    fields.show_launch(made(LAUNCH, KERNEL, LaunchTexts("4", "64", "", {"n": "200"})), KERNEL)
    out, n = fields.arguments
    assert (out.name.text(), n.name.text()) == ("out · proposed", "n")
    out.setText("zeros(200)")
    assert out.name.text() == "out"


def test_guesses_go_with_the_launch_and_stand_below_its_pictures() -> None:
    launch = made(LAUNCH, KERNEL, LaunchTexts("4", "64"))
    assert launch.guesses == launch_of(record_of(launch)).guesses == ("out", "n")
    (below,) = _guessed(launch.guesses)
    assert isinstance(below, Provenance) and below.badge == "proposed"
    assert below.texts[0] == "rests on 2 guesses: out, n"
    assert below.texts[-1] == "rests on 2 guesses: out, …"
    assert not _guessed(())


def test_guesses_alone_are_no_change_to_undo() -> None:
    one, other = (View("k", {}, "sm_90", launch={"guesses": text}) for text in ("n", "n out"))
    assert not history.changes(one, other)
