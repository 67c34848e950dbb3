"""The dialog for one picture."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from gpuviz.base.errors import InputError
from gpuviz.draw.palette import THEMES
from gpuviz.export.settings import PIXELS, SHOWN, PictureSettings
from gpuviz.qt.export.export_dialog import ExportDialog, choose
from gpuviz.qt.look.theme import Theme
from gpuviz.views.lesson_view import View
from gpuviz.words.language import tr


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
        choose(self.format, wanted.suffix)
        self.size_.show_size(wanted.size, wanted.width, wanted.height)
        choose(self.pixels, wanted.pixels)
        choose(self.theme, wanted.theme)
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
