"""The dialog for a film, or a page for browsers: a stretch of the story."""

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QPushButton, QWidget

from gpuviz.base.errors import InputError
from gpuviz.draw.palette import THEMES
from gpuviz.export.formats import FASTEST
from gpuviz.export.settings import BOTH, PIXELS, SHOWN, FilmSettings, PictureSettings
from gpuviz.qt.controls.controls import button, keep_space, label
from gpuviz.qt.controls.layouts import boxed, row_of
from gpuviz.qt.controls.spin import RealSpin, Spin
from gpuviz.qt.export.export_dialog import ExportDialog
from gpuviz.qt.look.theme import Theme
from gpuviz.views.lesson_view import View
from gpuviz.words.language import tr, trn


class FilmDialog(ExportDialog):
    """Format, size, pace, stretch of time, colours."""

    def __init__(self, view: View, wanted: FilmSettings, theme: Theme, parent: QWidget) -> None:
        super().__init__(tr("Save film or page"), view, theme, parent)
        self.format = self.formats("film", "page")
        self.fps = Spin(theme, 4)
        self.fps.setRange(1, FASTEST)
        self.fps.setAccessibleName(tr("Pictures a second"))
        self.fps.valueChanged.connect(self.renew)
        self.start, self.end = self._time(tr("From second")), self._time(tr("To second"))
        self.whole = self._chip(tr("whole story"), "whole")
        self.step = self._chip(tr("current step"), "step")
        self.loop = self.switch(tr("Again and again"))
        self.theme = self.themes((SHOWN, *THEMES, BOTH))
        self._stretch = "range"
        self._add_rows()
        self.format.choose(wanted.suffix)
        self.size_.show_size(wanted.size, wanted.width, wanted.height)
        self.fps.setValue(wanted.fps)
        self.loop.setChecked(wanted.loop)
        self.theme.choose(wanted.theme)
        self._take("whole" if wanted.stretch == "range" else wanted.stretch)
        self.renew()
        self._draw()

    def wanted(self) -> FilmSettings:
        """What is chosen."""
        return FilmSettings(
            str(self.format.currentData()),
            self.size_.name,
            *self.size_.custom,
            self.fps.value(),
            self.loop.isChecked(),
            str(self.theme.currentData()),
            self._stretch,
            self.start.value(),
            self.end.value(),
        )

    def suit(self) -> None:
        """Only some formats say that they begin again; a GIF is not that fast."""
        form = self.wanted().format
        self.form.setRowVisible(self.loop, "loop" in form.options)
        self.fps.setMaximum(form.fastest)

    def why_not(self) -> str:
        """What is missing on this machine, or a stretch without length."""
        if self.start.value() >= self.end.value():
            return tr("The end has to come after the beginning.")
        return self.wanted().format.lacking()

    def words(self) -> str:
        """How much there will be."""
        wanted = self.wanted()
        made = next(iter(wanted.views(self.shown_view).values())).provenance
        said = trn(
            "{n} picture of {width} × {height} pixels, {seconds} s",
            "{n} pictures of {width} × {height} pixels, {seconds} s",
            wanted.count(self.shown_view),
            width=made.width,
            height=made.height,
            seconds=f"{made.end - made.time:.1f}",
        )
        return tr("{said}, in each of two files", said=said) if wanted.theme == BOTH else said

    def draw(self) -> None:
        """The first picture."""
        self.preview.show_view(next(iter(self.wanted().views(self.shown_view).values())))

    def _add_rows(self) -> None:
        times = row_of(self.start, label("–"), self.end, label(tr("s"), "quiet"), 1, gap=6)
        self.form.addRow(tr("format"), self.format)
        self.form.addRow(tr("size"), self.size_)
        self.form.addRow(tr("pictures a second"), self.fps)
        self.form.addRow(tr("from – to"), boxed(times))
        self.form.addRow("", boxed(row_of(self.whole, self.step, 1, gap=6)))
        self.form.addRow(tr("again and again"), self.loop)
        self.form.addRow(tr("colours"), self.theme)

    def _time(self, name: str) -> RealSpin:
        made = RealSpin(self._theme, 5)
        made.setRange(0.0, self.shown_view.story.duration)
        made.setDecimals(2)
        made.setSingleStep(0.1)
        made.setAccessibleName(name)
        made.valueChanged.connect(self._typed)
        return made

    def _chip(self, words: str, stretch: str) -> QPushButton:
        made = button(words, words, "chip")
        made.setCheckable(True)
        made.clicked.connect(lambda: self._take(stretch))
        keep_space(made)
        return made

    def _take(self, stretch: str) -> None:
        """The whole story, or the step under way."""
        start, end = FilmSettings(stretch=stretch).bounds(self.shown_view)
        for box, value in ((self.start, start), (self.end, end)):
            with QSignalBlocker(box):
                box.setValue(value)
        self._become(stretch)

    def _typed(self, value: float) -> None:
        self._become("range")

    def _become(self, stretch: str) -> None:
        self._stretch = stretch
        self.whole.setChecked(stretch == "whole")
        self.step.setChecked(stretch == "step")
        self.renew()


class StillDialog(ExportDialog):
    """Format, size, pixels, colours, ground."""

    def __init__(self, view: View, wanted: PictureSettings, theme: Theme, parent: QWidget) -> None:
        super().__init__(tr("Save picture"), view, theme, parent)
        self.format = self.formats("picture")
        self.pixels = self.choice(
            tr("Image pixels for each pixel of the size"), [(f"{n}×", n) for n in PIXELS]
        )
        self.theme = self.themes((SHOWN, *THEMES))
        self.clear = self.switch(tr("Transparent"))
        self.form.addRow(tr("format"), self.format)
        self.form.addRow(tr("size"), self.size_)
        self.form.addRow(tr("pixels"), self.pixels)
        self.form.addRow(tr("colours"), self.theme)
        self.form.addRow(tr("transparent"), self.clear)
        self.format.choose(wanted.suffix)
        self.size_.show_size(wanted.size, wanted.width, wanted.height)
        self.pixels.choose(wanted.pixels)
        self.theme.choose(wanted.theme)
        self.clear.setChecked(wanted.transparent)
        self.renew()
        self._draw()

    def wanted(self) -> PictureSettings:
        """What is chosen."""
        return PictureSettings(
            str(self.format.currentData()),
            self.size_.name,
            *self.size_.custom,
            int(self.pixels.currentData()),
            str(self.theme.currentData()),
            self.clear.isChecked(),
        )

    def suit(self) -> None:
        """Shapes have no pixels."""
        self.form.setRowVisible(self.pixels, "pixels" in self.wanted().format.options)

    def why_not(self) -> str:
        """Too many pixels."""
        wanted = self.wanted()
        try:
            wanted.format.check(wanted.view(self.shown_view).provenance, wanted.options())
        except InputError as error:
            return str(error)
        return ""

    def words(self) -> str:
        """The size of the file's picture."""
        wanted = self.wanted()
        made = wanted.view(self.shown_view).provenance
        scale = wanted.pixels if "pixels" in wanted.format.options else 1
        return tr("{width} × {height} pixels", width=made.width * scale, height=made.height * scale)

    def draw(self) -> None:
        """The very picture, small."""
        wanted = self.wanted()
        self.preview.show_view(wanted.view(self.shown_view), wanted.transparent)
