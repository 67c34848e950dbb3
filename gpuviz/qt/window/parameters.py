"""The panel of a lesson's parameters, made from their declaration alone; one tab a side."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QSizePolicy, QTabBar, QWidget

from gpuviz.arch import ARCHITECTURES
from gpuviz.qt.controls.controls import Combo, button, keep_arrows, keep_space, label
from gpuviz.qt.controls.knobs import Knob, knob
from gpuviz.qt.controls.layouts import FlowLayout, column_of, row_of
from gpuviz.story.compare import SIDES
from gpuviz.views.state import AS_A, ViewState
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from PySide6.QtGui import QAction

    from gpuviz.qt.look.theme import Theme
    from gpuviz.qt.running.view_store import ViewStore
    from gpuviz.story.lesson import Lesson, Parameter, Preset, Value


class Parameters(QWidget):
    """Knobs of the lesson shown, its presets, and what is wrong with a combination.

    When two sides are compared a tab chooses whose knobs are shown; B has an architecture of its
    own, too.
    """

    def __init__(self, view: ViewStore, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._view, self._theme = view, theme
        self._built: Lesson | None = None
        self.setAccessibleName(tr("Parameters"))
        self.knobs: dict[str, Knob] = {}
        self.presets: list[tuple[Preset, QPushButton]] = []
        self.sides = _Sides()
        self.arch = OtherArch(view, theme)  # its place is below the knobs
        self.problem = label("", "problem", wraps=True)
        self.problem.hide()
        self.reset = button(
            tr("reset"), tr("Reset parameters"), "link", tr("Back to the defaults  (Ctrl+R)")
        )
        self.reset.clicked.connect(self.restore)
        self.sweep = button(tr("Sweep"), tr("Predict the map of this lesson"), "chip")
        self.sweep.hide()
        for made in (self.reset, self.sweep):
            keep_space(made)
        self._body = QWidget()
        heading = row_of(label(tr("Parameters"), "heading"), 1, self.reset)
        sweep = self.sweep, Qt.AlignmentFlag.AlignLeft
        parts = heading, self.sides, self._body, sweep, self.problem
        self._column = column_of(*parts, on=self, gap=6)
        view.follow("compared", self._switch)
        view.follow("lesson compare_lesson values compare_values", self._show_side)
        self.sides.currentChanged.connect(self._show_side)

    @property
    def other(self) -> bool:
        """Whether the knobs are those of side B."""
        return self._view.now.compared and self.sides.currentIndex() == 1

    @property
    def lesson(self) -> Lesson:
        """The lesson whose knobs are shown: that of A, or that of B where it is another."""
        return (self.other and self._view.now.compare_lesson) or self._view.now.lesson

    def restore(self) -> None:
        """Back to the defaults."""
        self._apply(self.lesson.defaults())

    def show_names(self, names: Sequence[str]) -> None:
        """What the sides are called."""
        for index, (letter, name) in enumerate(zip(SIDES, names, strict=False)):
            self.sides.setTabText(index, f"{letter} · {name}")
            self.sides.setTabToolTip(index, name)

    def show_problem(self, problem: str) -> None:
        """Say why the values make no sense; they are not run."""
        self.problem.setText(f"▲ {problem}" if problem else "")
        self.problem.setVisible(bool(problem))

    def offer_map(self, action: QAction) -> None:
        """A button for the command that predicts the map of a lesson that shows one."""

        def follow() -> None:
            self.sweep.setEnabled(action.isEnabled())
            self.sweep.setToolTip(action.toolTip())

        self.sweep.clicked.connect(action.trigger)
        action.changed.connect(follow)
        follow()

    def first(self) -> QWidget:
        """The control to focus when the user goes to the parameters."""
        found = [w for made in self.knobs.values() for w in _focusable(made)]
        return found[0] if found else self.reset

    def _build(self, lesson: Lesson) -> None:
        """New knobs, unless they are of this lesson already, or the same ones."""
        known, self._built = self._built, lesson
        if known is not None and known.id == lesson.id and known.parameters == lesson.parameters:
            self._show()
            return
        old, self._body = self._body, QWidget()
        self._column.replaceWidget(old, self._body)
        old.hide()
        old.deleteLater()
        column_of(self._preset_row(lesson), self._grid(lesson), on=self._body, gap=8)
        self.sweep.setVisible(bool(lesson.swept))
        self._order_tabs()
        self._show()

    def _order_tabs(self) -> None:
        """New controls would come last in the window: put them after the reset button."""
        chain: list[QWidget] = [self.reset, self.sides, *(made for _, made in self.presets)]
        chain += [w for made in self.knobs.values() for w in _focusable(made)]
        chain += [self.arch.combo, self.sweep]
        for before, after in pairwise(chain):
            QWidget.setTabOrder(before, after)

    def _preset_row(self, lesson: Lesson) -> FlowLayout:
        row = FlowLayout(4)
        self.presets = []
        for preset in lesson.presets:
            made = button(tr(preset.label), tr("Preset: {name}", name=tr(preset.label)), "chip")
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
        knobs = [p for p in lesson.parameters if not (p.pictures or p.hidden)]
        digits = max([3, *(len(str(p.maximum)) for p in knobs)])
        for row, parameter in enumerate(knobs):
            made = knob(parameter, self._theme, digits)
            made.changed.connect(self._apply)
            grid.addWidget(_name(parameter), row, 0)
            grid.addWidget(made, row, 1)
            self.knobs[parameter.id] = made
        grid.addWidget(self.arch.name, len(lesson.parameters), 0)
        grid.addWidget(self.arch, len(lesson.parameters), 1)
        return grid

    def _switch(self, view: ViewState) -> None:
        """Tabs while two sides are compared; B is what there is to choose."""
        self.sides.setVisible(view.compared)
        self.sides.setCurrentIndex(int(view.compared))
        self._show_side()

    def _show_side(self, *_: object) -> None:
        self._build(self.lesson)

    def _values(self) -> Mapping[str, Value]:
        return self._view.now.compare_values if self.other else self._view.now.values

    def _apply(self, values: Mapping[str, Value]) -> None:
        self._view.set_values(values, right=self.other)

    def _choose(self, preset: Preset) -> None:
        self._apply({**self.lesson.defaults(), **preset.values})
        self._mark_presets()

    def _show(self) -> None:
        values = self._values()
        for id, made in self.knobs.items():
            if id in values:
                made.show_value(values[id])
        for part in (self.arch, self.arch.name):
            part.setVisible(self.other)
        self._mark_presets()

    def _mark_presets(self) -> None:
        defaults, values = self.lesson.defaults(), dict(self._values())
        for preset, made in self.presets:
            made.setChecked({**defaults, **preset.values} == values)


class _Sides(QTabBar):
    """A tab for each side of a comparison."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Side whose parameters are shown"))
        self.setExpanding(True)
        self.setUsesScrollButtons(False)
        self.setElideMode(Qt.TextElideMode.ElideRight)
        for letter in SIDES:
            self.addTab(letter)
        keep_arrows(self)

    def minimumSizeHint(self) -> QSize:
        """Names may be cut: the tip has them in full."""
        return QSize(80, super().minimumSizeHint().height())


class OtherArch(QWidget):
    """The architecture of side B: that of A, or another."""

    def __init__(self, view: ViewStore, theme: Theme) -> None:
        super().__init__()
        self._archs = [AS_A, *(a.sm for a in reversed(ARCHITECTURES))]
        self.combo = Combo(tr("Architecture of B"), theme)
        self.combo.setToolTip(tr("The same launch may be compared under two architectures."))
        self.combo.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.combo.setMinimumContentsLength(6)
        self.combo.addItem(tr("as A"))
        for arch in reversed(ARCHITECTURES):
            self.combo.addItem(f"CC {arch.version} {arch.name}")
        keep_arrows(self.combo)
        keep_space(self.combo)
        self.name = label(tr("architecture"))
        row_of((self.combo, 1), on=self)
        view.follow("compare_arch", self._show)
        self.combo.currentIndexChanged.connect(lambda i: view.set(compare_arch=self._archs[i]))

    def _show(self, view: ViewState) -> None:
        self.combo.setCurrentIndex(self._archs.index(view.compare_arch))


def _focusable(widget: QWidget) -> list[QWidget]:
    """The controls within a widget that take the focus, as they were added; no pop-ups."""
    within = (w for w in widget.findChildren(QWidget) if w.window() is widget.window())
    return [w for w in within if w.focusPolicy() & Qt.FocusPolicy.TabFocus and not w.focusProxy()]


def _name(parameter: Parameter) -> QLabel:
    made = label(tr(parameter.label))
    hint = tr(parameter.hint)
    if parameter.compiled:
        hint = f"{hint}\n{tr('A compile-time constant of the kernel.')}".strip()
    made.setToolTip(hint)
    return made
