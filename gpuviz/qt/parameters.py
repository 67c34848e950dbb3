"""The panel of a lesson's parameters, made from their declaration alone."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gpuviz.qt.controls import button, keep_space, label
from gpuviz.qt.flow import FlowLayout
from gpuviz.qt.knobs import Knob, knob
from gpuviz.qt.player import Player
from gpuviz.qt.theme import Theme
from gpuviz.scenes.base import Lesson, Parameter, Preset, Value


class Parameters(QWidget):
    """Knobs of the player's lesson, its presets, and what is wrong with a combination."""

    def __init__(self, player: Player, theme: Theme) -> None:
        super().__init__()
        self._player = player
        self._theme = theme
        self.setAccessibleName("Parameters")
        self.knobs: dict[str, Knob] = {}
        self.presets: list[tuple[Preset, QPushButton]] = []
        self.problem = label("", "problem")
        self.problem.setWordWrap(True)
        self.problem.hide()
        self.reset = button("reset", "Reset parameters", "link", "Back to the defaults  (Ctrl+R)")
        self.reset.clicked.connect(lambda: player.set_values(player.lesson.defaults()))
        keep_space(self.reset)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(6)
        self._column.addLayout(self._heading())
        self._body = QWidget()
        self._column.addWidget(self._body)
        self._column.addWidget(self.problem)
        player.lesson_changed.connect(self._build)
        player.values_changed.connect(self._show)
        self._build(player.lesson)

    def show_problem(self, problem: str) -> None:
        """Say why the values make no sense; they are not run."""
        self.problem.setText(f"▲ {problem}" if problem else "")
        self.problem.setVisible(bool(problem))

    def first(self) -> QWidget:
        """The control to focus when the user goes to the parameters."""
        found = [w for made in self.knobs.values() for w in _focusable(made)]
        return found[0] if found else self.reset

    def _heading(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addWidget(label("Parameters", "heading"))
        row.addStretch(1)
        row.addWidget(self.reset)
        return row

    def _build(self, lesson: Lesson) -> None:
        """New knobs for a lesson."""
        old, self._body = self._body, QWidget()
        self._column.replaceWidget(old, self._body)
        old.hide()
        old.deleteLater()
        column = QVBoxLayout(self._body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(self._preset_row(lesson))
        column.addLayout(self._grid(lesson))
        self._order_tabs()
        self._show(self._player.values)

    def _order_tabs(self) -> None:
        """New controls would come last in the window: put them after the reset button."""
        chain: list[QWidget] = [self.reset, *(made for _, made in self.presets)]
        chain += [w for made in self.knobs.values() for w in _focusable(made)]
        for before, after in pairwise(chain):
            QWidget.setTabOrder(before, after)

    def _preset_row(self, lesson: Lesson) -> FlowLayout:
        row = FlowLayout(4)
        self.presets = []
        for preset in lesson.presets:
            made = button(preset.label, f"Preset: {preset.label}", "chip")
            made.setCheckable(True)
            made.clicked.connect(lambda checked=False, p=preset: self._choose(p))
            keep_space(made)
            row.addWidget(made)
            self.presets.append((preset, made))
        return row

    def _grid(self, lesson: Lesson) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(3)
        grid.setColumnStretch(1, 1)
        self.knobs = {}
        # All numbers are as wide as the longest: the sliders beside them line up.
        digits = max([3, *(len(str(p.maximum)) for p in lesson.parameters)])
        for row, parameter in enumerate(lesson.parameters):
            made = knob(parameter, self._theme, digits)
            made.changed.connect(self._set)
            grid.addWidget(_name(parameter), row, 0)
            grid.addWidget(made, row, 1)
            self.knobs[parameter.id] = made
        return grid

    def _choose(self, preset: Preset) -> None:
        self._player.set_values({**self._player.lesson.defaults(), **preset.values})
        self._mark_presets(self._player.values)

    def _set(self, id: str, value: Value) -> None:
        self._player.set_values({id: value})

    def _show(self, values: Mapping[str, Value]) -> None:
        for id, made in self.knobs.items():
            made.show_value(values[id])
        self._mark_presets(values)

    def _mark_presets(self, values: Mapping[str, Value]) -> None:
        defaults = self._player.lesson.defaults()
        for preset, made in self.presets:
            made.setChecked({**defaults, **preset.values} == dict(values))


def _focusable(widget: QWidget) -> list[QWidget]:
    """The controls within a widget that take the focus, as they were added; no pop-ups."""
    within = (w for w in widget.findChildren(QWidget) if w.window() is widget.window())
    return [w for w in within if w.focusPolicy() & Qt.FocusPolicy.TabFocus and not w.focusProxy()]


def _name(parameter: Parameter) -> QLabel:
    made = label(parameter.label)
    hint = parameter.hint
    if parameter.compiled:
        hint = f"{hint}\nA compile-time constant of the kernel.".strip()
    made.setToolTip(hint)
    return made
