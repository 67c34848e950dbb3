"""One control for one parameter: slider with number, list of choices, switch, or line of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QSlider, QWidget

from gpuviz.qt.controls.controls import Combo, Switch, keep_arrows, keep_space
from gpuviz.qt.controls.layouts import row_of
from gpuviz.qt.controls.spin import Spin
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.qt.look.theme import Theme
    from gpuviz.story.lesson import Parameter, Value


class Knob(QWidget):
    """The control of a parameter. `changed` tells the id and the value that the user set."""

    changed = Signal(Mapping)

    def __init__(self, parameter: Parameter) -> None:
        super().__init__()
        self.parameter = parameter
        self.row = row_of(on=self, gap=8)

    def show_value(self, value: Value) -> None:
        """Show a value without announcing a change."""
        raise NotImplementedError

    def _say(self, value: Value) -> None:
        self.changed.emit({self.parameter.id: value})


class _Slider(QSlider):
    """A slider that leaves the wheel to the panel it lies in."""

    def wheelEvent(self, event: QEvent) -> None:
        """Scroll the panel instead."""
        event.ignore()


class NumberKnob(Knob):
    """A slider for the range, and the number itself to type."""

    def __init__(self, parameter: Parameter, theme: Theme, digits: int) -> None:
        super().__init__(parameter)
        self.slider = _Slider(Qt.Orientation.Horizontal)
        self.spin = Spin(theme, digits)
        span = tr("{least} to {most}", least=parameter.minimum, most=parameter.maximum)
        for widget in (self.slider, self.spin):
            widget.setRange(parameter.minimum, parameter.maximum)
            widget.setAccessibleName(tr(parameter.label))
            widget.setToolTip(f"{tr(parameter.hint)}\n{span}".strip())
            widget.valueChanged.connect(self._say)
            keep_arrows(widget)
        self.slider.setPageStep(max(1, (parameter.maximum - parameter.minimum) // 8))
        self.row.addWidget(self.slider, 1)
        self.row.addWidget(self.spin)

    def show_value(self, value: Value) -> None:
        """Both show it."""
        for widget in (self.slider, self.spin):
            with QSignalBlocker(widget):
                widget.setValue(int(value))

    def _say(self, value: Value) -> None:
        self.show_value(value)
        super()._say(value)


class ChoiceKnob(Knob):
    """A list of named values."""

    def __init__(self, parameter: Parameter, theme: Theme) -> None:
        super().__init__(parameter)
        self.combo = Combo(tr(parameter.label), theme)
        self.combo.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.combo.setMinimumContentsLength(6)
        for choice in parameter.choices:
            self.combo.addItem(tr(choice.label))
        self.combo.currentIndexChanged.connect(lambda i: self._say(parameter.choices[i].value))
        keep_arrows(self.combo)
        keep_space(self.combo)
        self.row.addWidget(self.combo, 1)

    def show_value(self, value: Value) -> None:
        """Choose the entry of this value."""
        with QSignalBlocker(self.combo):
            values = [c.value for c in self.parameter.choices]
            self.combo.setCurrentIndex(values.index(value))
        said = f"{self.combo.currentText()}\n{tr(self.parameter.hint)}"  # the box may cut it
        self.combo.setToolTip(said.strip())


class SwitchKnob(Knob):
    """On or off."""

    def __init__(self, parameter: Parameter, theme: Theme) -> None:
        super().__init__(parameter)
        self.switch = Switch(tr(parameter.label), theme)
        self.switch.setToolTip(tr(parameter.hint))
        self.switch.toggled.connect(self._say)
        keep_space(self.switch)
        self.row.addWidget(self.switch)
        self.row.addStretch(1)

    def show_value(self, value: Value) -> None:
        """Put it on or off."""
        with QSignalBlocker(self.switch):
            self.switch.setChecked(bool(value))


class TextKnob(Knob):
    """A line to type; what is typed counts when it is left, or with Enter."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self.line = QLineEdit()
        self.line.setAccessibleName(tr(parameter.label))
        self.line.setToolTip(tr(parameter.hint))
        self.line.editingFinished.connect(self._finished)
        self._shown = ""
        self.row.addWidget(self.line, 1)

    def show_value(self, value: Value) -> None:
        """Show the text, from its beginning."""
        self._shown = str(value)
        self.line.setText(self._shown)
        self.line.setCursorPosition(0)

    def _finished(self) -> None:
        said = self.line.text().strip()
        if said != self._shown:
            self._shown = said
            self._say(said)


def knob(parameter: Parameter, theme: Theme, digits: int) -> Knob:
    """The control that suits a parameter's declaration; a number has room for `digits` figures."""
    if parameter.choices:
        return ChoiceKnob(parameter, theme)
    if isinstance(parameter.default, bool):
        return SwitchKnob(parameter, theme)
    if parameter.typed:
        return TextKnob(parameter)
    return NumberKnob(parameter, theme, digits)
