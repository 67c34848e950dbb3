"""How the window looks: one Qt palette and one style sheet, both made from `draw.palette`."""

from __future__ import annotations

from dataclasses import dataclass
from string import Template
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from gpuviz.base import resources
from gpuviz.draw.palette import THEME_NAMES, THEMES, Palette, code, mix
from gpuviz.qt.look import fonts
from gpuviz.words.language import later

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpuviz.base.arrays import Rgba


_SIZES = {
    "text": 13,
    "small": 12,
    "large": 16,
    "pad": 5,
    "wide": 11,
    "hairpad": 3,
    "badge": 8,
    "huge": 24,
    "notes": 18,
    "chevron": 22,
    "slider": 20,
    "line": 46,
    "menu": 26,
}


def qcolor(color: Rgba, alpha: float = 1.0) -> QColor:
    """A (4,) colour for Qt, made more transparent by `alpha`."""
    red, green, blue, opacity = color.tolist()
    return QColor(red, green, blue, round(opacity * alpha))


_ROLES: Mapping[QPalette.ColorRole, str] = {
    QPalette.ColorRole.Window: "panel",
    QPalette.ColorRole.WindowText: "ink",
    QPalette.ColorRole.Base: "ground",
    QPalette.ColorRole.AlternateBase: "panel",
    QPalette.ColorRole.Text: "ink",
    QPalette.ColorRole.PlaceholderText: "muted",
    QPalette.ColorRole.Button: "cell",
    QPalette.ColorRole.ButtonText: "ink",
    QPalette.ColorRole.BrightText: "bad",
    QPalette.ColorRole.ToolTipBase: "cell",
    QPalette.ColorRole.ToolTipText: "ink",
    QPalette.ColorRole.Highlight: "accent_soft",
    QPalette.ColorRole.HighlightedText: "ink",
    QPalette.ColorRole.Link: "accent",
    QPalette.ColorRole.Accent: "accent",
    QPalette.ColorRole.Mid: "border",
    QPalette.ColorRole.Dark: "border",
    QPalette.ColorRole.Light: "cell",
    QPalette.ColorRole.Shadow: "ground",
}


def qt_palette(palette: Palette) -> QPalette:
    """The Qt palette of a theme; disabled text is faint."""
    made = QPalette()
    for role, name in _ROLES.items():
        made.setColor(role, qcolor(getattr(palette, name)))
    for role in (
        QPalette.ColorRole.Text,
        QPalette.ColorRole.ButtonText,
        QPalette.ColorRole.WindowText,
    ):
        made.setColor(QPalette.ColorGroup.Disabled, role, qcolor(palette.faint))
    return made


def style_sheet(palette: Palette, scale: float) -> str:
    """The style sheet of a theme; every length that belongs to text grows with `scale`."""
    single = {name: one for name, one in vars(palette).items() if getattr(one, "ndim", 0) == 1}
    colors = {name: code(color) for name, color in single.items()}
    colors["hair"] = code(mix(palette.border, palette.panel, 0.45))
    colors["raised"] = code(mix(palette.cell, palette.border, 0.3))
    sheet = Template(resources.text("window/window.qss"))
    return sheet.substitute(colors, **{k: str(round(v * scale)) for k, v in _SIZES.items()})


FOLLOW = "system"
MODES = (FOLLOW, *THEMES)
NAMES = {FOLLOW: later("follow the system"), **THEME_NAMES}
TEXT = 13.0  # pixels, at scale 1
SCALES = (0.85, 1.0, 1.15, 1.3, 1.5, 1.75)


@dataclass(frozen=True, eq=False)
class Look:
    """A theme at a size of text."""

    palette: Palette
    scale: float = 1.0

    def color(self, name: str, alpha: float = 1.0) -> QColor:
        """One of the palette's colours by name."""
        return qcolor(getattr(self.palette, name), alpha)

    def lane(self, lane: int) -> QColor:
        """The colour of a lane."""
        return qcolor(self.palette.lanes[lane])

    def blend(self, name: str, other: str, share: float) -> QColor:
        """A colour moved towards another one by a share from 0 to 1."""
        return qcolor(mix(getattr(self.palette, name), getattr(self.palette, other), share))

    def px(self, size: float) -> int:
        """A length that grows with the text, in whole pixels."""
        return max(1, round(size * self.scale))

    def font(self, size: float = TEXT, *, bold: bool = False, mono: bool = False) -> QFont:
        """A font of so many pixels at scale 1."""
        return fonts.font(self.px(size), bold, mono)


def system_theme() -> str:
    """The theme that the desktop asks for; dark when it does not say."""
    light = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Light
    return "light" if light else "dark"


class Theme(QObject):
    """The look in use. Widgets that paint themselves repaint on `changed`."""

    changed = Signal()

    def __init__(
        self, mode: str = FOLLOW, scale: float = 1.0, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._mode = mode if mode in MODES else FOLLOW
        self._scale = scale
        self._look = self._current()
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._system_changed)

    @property
    def mode(self) -> str:
        """One of `MODES`."""
        return self._mode

    @property
    def look(self) -> Look:
        """Colours and sizes to paint with now."""
        return self._look

    def set_mode(self, mode: str) -> None:
        """Choose a theme, or to follow the system."""
        self._mode = mode
        self.apply()

    def set_scale(self, scale: float) -> None:
        """Choose the size of text."""
        self._scale = min(max(scale, SCALES[0]), SCALES[-1])
        self.apply()

    def zoom(self, larger: bool) -> None:
        """The next larger or smaller of `SCALES`."""
        steps = SCALES if larger else tuple(reversed(SCALES))
        beyond = (s for s in steps if (s > self._scale if larger else s < self._scale))
        self.set_scale(next(beyond, self._scale))

    def apply(self) -> None:
        """Give the whole application this look."""
        self._look = self._current()
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        sheet = style_sheet(self._look.palette, self._look.scale)
        if sheet != app.styleSheet():  # else everything looks like this already
            if not app.styleSheet():  # else it is in use, and would style every widget anew
                app.setStyle("fusion")
            app.setPalette(qt_palette(self._look.palette))
            app.setFont(self._look.font())
            app.setStyleSheet(sheet)
        self.changed.emit()

    def _current(self) -> Look:
        name = system_theme() if self._mode == FOLLOW else self._mode
        return Look(THEMES[name], self._scale)

    def _system_changed(self) -> None:
        if self._mode == FOLLOW:
            self.apply()
