"""A palette as Qt takes it: its colours, its palette, and the one style sheet of the window."""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING

from PySide6.QtGui import QColor, QPalette

from gpuviz.base import resources
from gpuviz.draw.color import code, mix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpuviz.base.arrays import Rgba
    from gpuviz.draw.palette import Palette

_NAMED = (
    "ground",
    "panel",
    "cell",
    "border",
    "ink",
    "muted",
    "faint",
    "accent",
    "accent_soft",
    "good",
    "warn",
    "bad",
)


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
    colors = {name: code(getattr(palette, name)) for name in _NAMED}
    colors["hair"] = code(mix(palette.border, palette.panel, 0.45))
    colors["raised"] = code(mix(palette.cell, palette.border, 0.3))
    sheet = Template(resources.text("window/window.qss"))
    return sheet.substitute(colors, **{k: str(round(v * scale)) for k, v in _SIZES.items()})
