"""What the dialogs for pictures and for films have in common: choices left, a preview right."""

from collections.abc import Iterable

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QPixmap, QShowEvent
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QSizePolicy, QWidget

from gpuviz.base.errors import failure_of
from gpuviz.export.formats import Holds, holding
from gpuviz.export.settings import CUSTOM, SHOWN, SIZES, THEME_CHOICES
from gpuviz.qt.controls.controls import (
    Combo,
    Switch,
    answers,
    keep_arrows,
    keep_space,
    label,
    show_words,
    timer,
)
from gpuviz.qt.controls.layouts import DIALOG, boxed, column_of, form_of, row_of, tab_as_laid_out
from gpuviz.qt.controls.spin import Spin
from gpuviz.qt.look.theme import Theme
from gpuviz.qt.painting.painter import to_image
from gpuviz.views.lesson_view import View
from gpuviz.views.make_view import LARGEST, SMALLEST
from gpuviz.words.language import tr


class SizeChoice(QWidget):
    """A list, and two numbers below it when the size is custom. `changed` when the user chose."""

    changed = Signal()

    def __init__(self, theme: Theme, shown: tuple[int, int]) -> None:
        super().__init__()
        self.names = Combo(tr("Size"), theme, ((_words(name, shown), name) for name in SIZES))
        for keep in (keep_space, keep_arrows):
            keep(self.names)
        self.width_ = _number(tr("Width in pixels"), SMALLEST[0], theme)
        self.height_ = _number(tr("Height in pixels"), SMALLEST[1], theme)
        self._custom = boxed(row_of(self.width_, label("×"), self.height_, 1, gap=6))
        column_of(self.names, self._custom, on=self, gap=6)
        self.names.currentIndexChanged.connect(self._choose)
        for number in (self.width_, self.height_):
            number.valueChanged.connect(lambda value: self.changed.emit())
        self._choose()

    @property
    def name(self) -> str:
        """One of `SIZES`."""
        return str(self.names.currentData())

    @property
    def custom(self) -> tuple[int, int]:
        """The two numbers, whether they count or not."""
        return self.width_.value(), self.height_.value()

    def show_size(self, name: str, width: int, height: int) -> None:
        """Show a choice."""
        self.width_.setValue(width)
        self.height_.setValue(height)
        self.names.choose(name)

    def _choose(self) -> None:
        self._custom.setVisible(self.name == CUSTOM)
        self.changed.emit()


def _words(name: str, shown: tuple[int, int]) -> str:
    if name == SHOWN:
        return tr("as shown: {width} × {height}", width=shown[0], height=shown[1])
    return tr("custom") if name == CUSTOM else name.replace("x", " × ")


def _number(name: str, least: int, theme: Theme) -> Spin:
    made = Spin(theme, len(str(LARGEST)))
    made.setRange(least, LARGEST)
    made.setAccessibleName(name)
    return made


SIZE = QSize(448, 280)
_CHECK = 8  # pixels of a square that shows through


class Preview(QWidget):
    """Shows the still of a view, drawn by the code that writes it, as small as it has to be."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.image = QImage()
        self.setAccessibleName(tr("Preview"))
        self.setFixedSize(SIZE)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_view(self, view: View, transparent: bool = False) -> None:
        """Draw another picture."""
        made, ratio = view.provenance, self.devicePixelRatioF()
        share = min(SIZE.width() / made.width, SIZE.height() / made.height)
        self.image = to_image(view.frame(made.time, transparent), share * ratio)
        self.image.setDevicePixelRatio(ratio)
        self.setAccessibleDescription(f"{view.story.title}, {made.width} × {made.height}")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture in the middle; where it is clear a chequered ground shows."""
        painter, look = QPainter(self), self._theme.look
        size = self.image.deviceIndependentSize().toSize()
        place = QRect(
            QPoint((self.width() - size.width()) // 2, (self.height() - size.height()) // 2), size
        )
        if self.image.hasAlphaChannel():
            squares = look.color("panel"), look.blend("panel", "border", 0.5)
            painter.drawTiledPixmap(place, _chequered(*squares))
        painter.drawImage(place.topLeft(), self.image)
        painter.setPen(look.color("border"))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(place.adjusted(0, 0, -1, -1))


def _chequered(light: QColor, dark: QColor) -> QPixmap:
    sheet = QPixmap(2 * _CHECK, 2 * _CHECK)
    sheet.fill(light)
    painter = QPainter(sheet)
    for at in (0, _CHECK):
        painter.fillRect(at, at, _CHECK, _CHECK, dark)
    painter.end()
    return sheet


DRAW_MS = 40  # what is chosen in a hurry is drawn once


class ExportDialog(QDialog):
    """Says what will be written, and why something cannot be; accepts only what can."""

    def __init__(self, title: str, view: View, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.shown_view, self._theme = view, theme
        self.setWindowTitle(title)
        self.setModal(True)
        made = view.provenance
        self.size_ = SizeChoice(theme, (made.width, made.height))
        self.preview = Preview(theme)
        self.said = label("", "quiet", wraps=True)
        self.problem = label("", "problem", wraps=True)
        self.buttons = answers(self, tr("Save …"))
        self.save = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.form = form_of((), gap=8)
        self._lay_out()
        self._timer = timer(self, DRAW_MS, self._draw)
        self.size_.changed.connect(self.renew)

    def showEvent(self, event: QShowEvent) -> None:
        """The first choice has the focus, the buttons come last."""
        tab_as_laid_out(self)
        super().showEvent(event)

    def renew(self) -> None:
        """Something else was chosen."""
        self.suit()
        problem = self.why_not()
        show_words(self.problem, problem, "▲ ")
        self.save.setEnabled(not problem)
        self.said.setText("" if problem else self.words())
        self._timer.start()

    def suit(self) -> None:
        """Show only what applies to what is chosen."""
        raise NotImplementedError

    def why_not(self) -> str:
        """Why what is chosen cannot be written, "" when it can."""
        raise NotImplementedError

    def words(self) -> str:
        """What will be written."""
        raise NotImplementedError

    def draw(self) -> None:
        """Draw the preview."""
        raise NotImplementedError

    def choice(self, name: str, items: Iterable[tuple[str, object]]) -> Combo:
        """A list to choose from, with the words and the value of each item."""
        made = Combo(name, self._theme, items)
        for keep in (keep_space, keep_arrows):
            keep(made)
        made.currentIndexChanged.connect(self.renew)
        return made

    def formats(self, *holding_: Holds) -> Combo:
        """The list of formats that hold this."""
        rows = holding(*holding_)
        return self.choice(tr("Format"), [(tr(row.name), row.suffix) for row in rows])

    def themes(self, names: Iterable[str]) -> Combo:
        """The list of themes."""
        return self.choice(tr("Colours"), [(tr(THEME_CHOICES[name]), name) for name in names])

    def switch(self, name: str) -> Switch:
        """Yes or no."""
        made = Switch(name, self._theme)
        keep_space(made)
        made.toggled.connect(self.renew)
        return made

    def _draw(self) -> None:
        """A picture that cannot be drawn is a problem, not the end of the dialog."""
        try:
            self.draw()
        except Exception as error:  # a lesson's mistake must not take the dialog down
            self.said.setText(failure_of(error).message)

    def _lay_out(self) -> None:
        left = column_of(self.form, 1)
        right = column_of(self.preview, self.said, 1, gap=8)
        both = row_of((left, 1), right, gap=22)
        buttons = self.buttons, Qt.AlignmentFlag.AlignRight
        column_of(both, self.problem, buttons, on=self, gap=12, margins=DIALOG)
