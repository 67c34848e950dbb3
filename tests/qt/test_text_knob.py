"""A parameter that is typed: a line in the window, a text on the command line and in widgets."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from gpuviz.api.lessons import _knob
from gpuviz.cli.list import as_json, as_text
from gpuviz.course import lesson
from gpuviz.qt.controls.knobs import TextKnob
from gpuviz.qt.preferences.settings import fits
from gpuviz.story.swept import swept

LAYOUT = next(p for p in lesson("swizzle").parameters if p.id == "layout")


def test_what_is_typed_counts_once_when_the_line_is_left(qtbot: QtBot) -> None:
    made = TextKnob(LAYOUT)
    qtbot.addWidget(made)
    said: list[dict[str, object]] = []
    made.changed.connect(said.append)
    made.show_value("(8,64):(64,1)")
    made.line.editingFinished.emit()
    assert said == []
    made.line.setText(" (8,32):(32,1) ")
    made.line.editingFinished.emit()
    made.line.editingFinished.emit()
    assert said == [{"layout": "(8,32):(32,1)"}]


def test_a_typed_parameter_has_no_ends() -> None:
    one = lesson("swizzle")
    assert "layout = (8,64):(64,1)  shape:stride" in as_text(one)
    assert _knob(LAYOUT, "4:1")["kind"] == "text"
    assert fits(LAYOUT, "4:1") and not fits(LAYOUT, 4)
    offered = swept(one, one.defaults(), "sm_90", "ptx").offers()
    assert "layout" not in {offer.id for offer in offered}
    told = next(p for p in as_json(one)["parameters"] if p["id"] == "layout")
    assert "minimum" not in told and told["default"] == "(8,64):(64,1)"
