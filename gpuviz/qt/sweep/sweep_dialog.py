"""The dialog for a sweep: what is varied, what is shown of it, and the map that fills in."""

from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import QPointF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QDialog, QGridLayout, QSizePolicy, QWidget

from gpuviz.base.errors import Error, InputError
from gpuviz.draw.marks import Frame
from gpuviz.panels.picture import Picture, PictureLayout, placed
from gpuviz.qt.controls.controls import Combo, ElidedLabel, button, label, text_line, timer
from gpuviz.qt.controls.layouts import DIALOG, column_of, row_of
from gpuviz.qt.look.theme import Theme
from gpuviz.qt.painting.frame_canvas import FrameCanvas
from gpuviz.qt.sweep.sweep_work import SweepWork
from gpuviz.recordings.measurement import DeviceFacts
from gpuviz.results.sweep_picture import picture
from gpuviz.story.swept import CellView, Swept, SweptKernel
from gpuviz.sweeps import axis, quantity
from gpuviz.sweeps.axis import Axis, Cell
from gpuviz.sweeps.cell import Outcome
from gpuviz.sweeps.record import Key, key
from gpuviz.sweeps.sweep import Sweep
from gpuviz.words.language import tr, trn

_SMALLEST = QSize(420, 300)


class PictureView(FrameCanvas):
    """Shows one picture at a time."""

    picked = Signal(Mapping)  # values that a click sets

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._picture: Picture | None = None
        self._placed: PictureLayout | None = None
        self.setMouseTracking(True)
        self.setMinimumSize(_SMALLEST)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(tr("Map"))

    def show_picture(self, picture: Picture) -> None:
        """Show another picture."""
        self._picture = picture
        self.setAccessibleDescription(f"{picture.title}. {picture.sentence}")
        self.renew()

    def draw(self) -> Frame | None:
        """The picture with its panels in their places."""
        if self._picture is None:
            return None
        self._placed = placed(self._picture, self.stage())
        return self._placed.frame()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click sets what the picture says."""
        if event.button() == Qt.MouseButton.LeftButton and self._placed is not None:
            values = self._values(event.position())
            if values is not None:
                self.picked.emit(values)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """A hand where a click would do something."""
        if self._values(event.position()) is not None:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        else:
            self.unsetCursor()

    def _values(self, at: QPointF) -> object | None:
        return self._placed.pick(at.x(), at.y()) if self._placed is not None else None


_DRAW_MS = 100  # the map follows this often


class SweepDialog(QDialog):
    """Sweeps over the lesson that is shown, with its other values as they are."""

    picked = Signal(CellView)  # the cell that was clicked

    def __init__(
        self, shown: Swept, work: SweepWork, gpu: DeviceFacts | None, theme: Theme, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._shown, self._lesson, self._gpu = shown, shown.lesson, gpu
        self._offers = {one.id: one for one in shown.offers()}
        self._outcomes: dict[Key, Outcome] = {}
        self._sweep: Sweep | None = None
        self._picked: Cell | None = None
        self.work = work
        self.setWindowTitle(tr("Sweep: {lesson}", lesson=tr(self._lesson.title)))
        self._make(theme)
        self._lay_out()
        self._wire()
        self.resize(theme.look.px(860), theme.look.px(640))
        self._check()

    def _make(self, theme: Theme) -> None:
        offers = [(one.name, one.id) for one in self._offers.values()]
        self.first = Combo(tr("Vary"), theme, offers)
        self.second = Combo(tr("And vary"), theme, [(tr("nothing else"), ""), *offers])
        sizes = tr("Three sizes; {ceil(4096/block.x)} follows what is varied")
        self.grid = text_line(tr("Grid"), self._grid(), tip=sizes)
        how = tr("1..32, 1..32..4 (steps), 1..64*2 (doubling), or 1,5,9")
        self.values = [
            text_line(name, tip=how) for name in (tr("Values"), tr("Values of the second"))
        ]
        self.on = Combo(tr("Count or measure"), theme, [(tr("predicted"), "emulator")])
        if self._gpu is not None:
            self.on.addItem(tr("measured on {device}", device=self._gpu.name), "gpu")
        self.role = Combo(tr("Launch"), theme)
        self.quantity = Combo(tr("Show"), theme)
        for combo in (self.role, self.quantity):
            combo.setSizeAdjustPolicy(Combo.SizeAdjustPolicy.AdjustToContents)
        self.start = button(tr("Start"), tr("Start the sweep"), "primary")
        self.stop = button(tr("Stop"), tr("Stop the sweep"))
        self.map = PictureView(theme)
        self.said = ElidedLabel()
        self._later = timer(self, _DRAW_MS, self._draw)

    def _lay_out(self) -> None:
        form = QGridLayout()
        form.setHorizontalSpacing(12)
        rows = ((tr("vary"), self.first, self.values[0]), (tr("and"), self.second, self.values[1]))
        for at, (name, combo, values) in enumerate(rows):
            form.addWidget(label(name), at, 0)
            form.addWidget(combo, at, 1)
            form.addWidget(values, at, 2)
        if isinstance(self._shown, SweptKernel):
            form.addWidget(label(tr("grid")), len(rows), 0)
            form.addWidget(self.grid, len(rows), 1, 1, 2)
        shown = label(tr("show")), self.quantity, self.role, self.on
        last = row_of(*shown, 1, self.stop, self.start)
        form.setColumnStretch(2, 1)
        column_of(form, last, (self.map, 1), self.said, on=self, gap=10, margins=DIALOG)

    def _wire(self) -> None:
        for number, combo in enumerate((self.first, self.second)):
            combo.currentIndexChanged.connect(lambda _, n=number: self._offer(n))
        for values in self.values:
            values.textChanged.connect(self._check)
        self.on.currentIndexChanged.connect(self._check)
        self.quantity.currentIndexChanged.connect(self._draw)
        self.role.currentIndexChanged.connect(self._draw)
        self.grid.textChanged.connect(self._check)
        self.start.clicked.connect(self.begin)
        self.stop.clicked.connect(self.work.cancel)
        self.map.picked.connect(self._pick)
        self.work.came.connect(self._take)
        self.work.rested.connect(self._rest)
        self.work.failed.connect(lambda failure: self.said.say(failure.message))
        self._offer(0)
        self._offer(1)
        self._fill_roles()

    def axes(self) -> tuple[Axis, ...]:
        """What is varied; InputError when it makes no sweep."""
        found = []
        for combo, values in zip((self.first, self.second), self.values, strict=True):
            if name := str(combo.currentData()):
                found.append(axis.parse(f"{name}={values.text()}"))
        axis.cells(found)
        return tuple(found)

    def sweep(self) -> Sweep:
        """The sweep as filled in; InputError when it is none."""
        axes, on = self.axes(), self.on.currentData()
        return Sweep(self._as_asked().subject(axes), axes, on, self._shown.level)

    def begin(self) -> None:
        """Start, or go on with, the sweep."""
        try:
            sweep = self._sweep = self.sweep()
        except InputError as error:
            self.said.say(str(error))
            return
        self._outcomes = {}
        self.work.start(sweep, tr(self._lesson.title), self._gpu if sweep.on == "gpu" else None)
        self._check()
        self._draw()

    def done(self, result: int) -> None:
        """Closed, be it by Escape: what is under way stops, what is done is kept."""
        self.work.cancel()
        super().done(result)
        self.deleteLater()

    def _offer(self, number: int) -> None:
        """Values to vary what has been chosen through."""
        combo, values = (self.first, self.second)[number], self.values[number]
        name = str(combo.currentData())
        values.setEnabled(bool(name))
        values.setText(self._offers[name].values if name else "")
        self._check()

    def _grid(self) -> str:
        """The grid of a user's launch as text; "" in a lesson."""
        shown = self._shown
        return ",".join(map(str, shown.launch.grid)) if isinstance(shown, SweptKernel) else ""

    def _as_asked(self) -> Swept:
        """What is shown, with the grid that is written."""
        shown = self._shown
        if self.on.currentData() == "gpu" and self._gpu is not None:
            shown = replace(shown, arch=self._gpu.sm)  # what it runs is compiled for it
        return replace(shown, grid=self.grid.text()) if isinstance(shown, SweptKernel) else shown

    def _check(self) -> None:
        """Start only what can be started; else say why not."""
        self.stop.setEnabled(self.work.busy)
        try:
            sweep = self.sweep()
        except InputError as error:
            self.start.setEnabled(False)
            self.said.say(str(error))
            return
        self.start.setEnabled(not self.work.busy)
        if not self.work.busy:
            count = len(sweep.cells)
            self.said.say(
                trn(
                    "{n} cell; a click on it shows its view",
                    "{n} cells; a click on one shows its view",
                    count,
                )
            )

    def _take(self, cell: Cell, outcome: Outcome) -> None:
        self._outcomes[key(cell)] = outcome
        if not self._later.isActive():
            self._later.start()

    def _rest(self, words: str) -> None:
        self._check()
        self.said.say(words)
        self._draw()

    def _fill_roles(self) -> None:
        """The launches of a lesson that has several."""
        roles = self._shown.roles
        with QSignalBlocker(self.role):
            self.role.clear()
            self.role.add((name, role) for role, name in roles.items())
        self.role.setVisible(len(roles) > 1)

    def _fill_quantities(self) -> None:
        """What is known of the cells; the choice stays, or is what tells most."""
        done = list(self._outcomes.values())
        names = quantity.known(done)
        have = [self.quantity.itemData(i) for i in range(self.quantity.count())]
        if names == have:
            return
        chosen = self.quantity.currentData()
        if chosen not in names:
            chosen = quantity.telling(done, str(self.role.currentData() or ""))
        with QSignalBlocker(self.quantity):
            self.quantity.clear()
            self.quantity.add((quantity.called(name), name) for name in names)
            self.quantity.choose(chosen)

    def _draw(self) -> None:
        if self._sweep is None:
            return
        self._fill_quantities()
        self.map.show_picture(self._picture(self._sweep))

    def _picture(self, sweep: Sweep) -> Picture:
        wanted = str(self.quantity.currentData() or quantity.telling(()))
        on_gpu = quantity.measured(wanted, sweep.on)
        name = self._gpu.name if self._gpu else ""
        source = tr("measured on {device}", device=name) if on_gpu else tr("model")
        return picture(
            sweep.axes,
            self._outcomes,
            wanted,
            source,
            of=tr(self._lesson.title),
            role=str(self.role.currentData() or ""),
            names=self._names(),
            picked=self._picked,
        )

    def _names(self) -> Mapping[str, str]:
        return {one.id: one.name for one in self._offers.values()}

    def _pick(self, values: Mapping[str, str]) -> None:
        self._picked = dict(values)
        self._draw()
        try:
            self.picked.emit(self._as_asked().view(self._picked))
        except Error as error:
            self.said.say(str(error))
