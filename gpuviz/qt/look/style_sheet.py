"""The one style sheet of the window, as a template over the palette."""

from __future__ import annotations

from string import Template

from gpuviz.arrays import Rgba
from gpuviz.draw.color import mix
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

_SHEET = Template("""
QMainWindow, QDialog { background: $panel; }
QWidget { font-size: ${text}px; }
QLabel { background: transparent; }
QLabel[role="heading"] { color: $muted; font-weight: 600; }
QLabel[role="quiet"] { color: $muted; font-size: ${small}px; }
QLabel[role="quiet"][off="true"] { color: $warn; }
QLabel[role="quiet"][good="true"] { color: $good; }
QLabel[role="badge"][kind="live"] { color: $good; border-color: $good; }
QToolButton[role="box"][live="true"] { border-color: $good; color: $good; }
QLabel[role="trouble"] { color: $bad; }
QLabel[role="problem"] { color: $warn; }
QLabel[role="brand"] { font-weight: 700; font-size: ${large}px; }
QLabel[role="badge"] { color: $muted; border: 1px solid $border; border-radius: ${badge}px;
    padding: 1px 6px; font-size: ${small}px; }
QLabel[role="remark"] { color: $warn; font-size: ${small}px; padding: 0 12px; }
QLabel[role="value"] { font-weight: 600; }
QLabel[role="clock"] { font-size: ${huge}px; font-weight: 600; }
QLabel[role="clock"][late="true"] { color: $warn; }
QWidget#speaker { background: $panel; }
QPlainTextEdit#notes { background: $ground; border: 1px solid $hair; border-radius: 6px;
    padding: 10px; font-size: ${notes}px; }

QFrame#toolbar { background: $panel; border-bottom: 1px solid $hair; }
QFrame#status { background: $panel; border-top: 1px solid $hair; }
QFrame#stagepane { background: $ground; }
QFrame#listpane { background: $panel; }
QFrame#sidepane { background: $panel; }
QFrame#timepane { background: $panel; border-top: 1px solid $hair; }
QFrame#codepane { background: $panel; }
QFrame#card { background: $cell; border: 1px solid $border; border-radius: 8px; }
QFrame#card[severity="error"] { border: 1px solid $bad; }
QFrame#card[severity="warning"] { border: 1px solid $warn; }

QAbstractScrollArea::corner { background: transparent; border: none; }
QScrollArea, QScrollArea > QWidget > QWidget { background: transparent; border: none; }
QSplitter::handle { background: $hair; }
QSplitter::handle:hover { background: $accent; }

QPushButton, QToolButton[role="box"] { background: $cell; color: $ink; border: 1px solid $hair;
    border-radius: 6px; padding: ${pad}px ${wide}px; }
QPushButton:hover, QToolButton[role="box"]:hover { border-color: $faint; background: $raised; }
QPushButton:pressed, QToolButton[role="box"]:pressed { background: $accent_soft; }
QPushButton:checked, QToolButton[role="box"]:checked { background: $accent_soft;
    border-color: $accent; }
QPushButton:focus, QToolButton[role="box"]:focus { border: 1px solid $accent; }
QPushButton:disabled, QToolButton[role="box"]:disabled { color: $faint; }
QPushButton[role="link"], QToolButton[role="link"] { background: transparent;
    border: 1px solid transparent; color: $muted; padding: ${hairpad}px ${pad}px;
    border-radius: 4px; }
QPushButton[severity="error"] { color: $bad; }
QPushButton[severity="warning"] { color: $warn; }
QPushButton[role="link"]:hover, QToolButton[role="link"]:hover { color: $ink; }
QPushButton[role="link"]:focus, QToolButton[role="link"]:focus { border-color: $accent; }
QPushButton[role="chip"] { padding: ${hairpad}px ${pad}px; font-size: ${small}px; color: $muted; }
QPushButton[role="chip"]:checked { color: $ink; }
QToolButton::menu-indicator { image: none; width: 0; }

QComboBox, QAbstractSpinBox, QLineEdit { background: $cell; color: $ink;
    border: 1px solid $hair; border-radius: 5px; padding: ${hairpad}px ${pad}px;
    selection-background-color: $accent_soft; selection-color: $ink; }
QComboBox { padding-right: ${chevron}px; }
QComboBox:hover, QAbstractSpinBox:hover { border-color: $faint; }
QComboBox:focus, QAbstractSpinBox:focus, QLineEdit:focus { border: 1px solid $accent; }
QComboBox::drop-down { border: none; width: ${chevron}px; }
QComboBox::down-arrow { image: none; }
QComboBox QAbstractItemView { background: $cell; border: 1px solid $border; outline: none;
    selection-background-color: $accent_soft; selection-color: $ink; padding: 3px; }
QAbstractSpinBox { font-weight: 600; }

QAbstractSpinBox QLineEdit, QComboBox QLineEdit { border: none; padding: 0;
    background: transparent; }

QSlider { min-height: ${slider}px; border: 1px solid transparent; border-radius: 5px; }
QSlider:focus { border-color: $accent; }
QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: $hair; }
QSlider::sub-page:horizontal { height: 4px; border-radius: 2px; background: $accent_soft; }
QSlider::handle:horizontal { width: 14px; height: 14px; margin: -5px 0; border-radius: 7px;
    background: $accent; }
QSlider::handle:horizontal:disabled { background: $faint; }

QTabBar { background: transparent; qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; color: $muted; padding: ${pad}px ${wide}px;
    border: 1px solid transparent; border-bottom: 2px solid transparent; }
QTabBar::tab:selected { color: $ink; border-bottom: 2px solid $accent; }
QTabBar::tab:hover { color: $ink; }
QTabBar::tab:selected:focus { border: 1px solid $accent; border-bottom: 2px solid $accent; }

QListView, QTreeView, QTableView, QPlainTextEdit { background: transparent; border: 1px solid
    transparent; outline: none; selection-background-color: $accent_soft; selection-color: $ink; }
QTableView:focus, QPlainTextEdit:focus { border: 1px solid $accent; }
QPlainTextEdit[role="field"] { background: $cell; border: 1px solid $hair; border-radius: 5px; }
QPlainTextEdit[role="field"]:focus { border: 1px solid $accent; }
QHeaderView, QHeaderView::section { background: transparent; border: none; }

QMenu { background: $cell; color: $ink; border: 1px solid $border; padding: 4px; }
QMenu::item { padding: ${pad}px ${menu}px ${pad}px ${wide}px; border-radius: 4px; }
QMenu::item:selected { background: $accent_soft; }
QMenu::item:disabled { color: $muted; }
QMenu::separator { height: 1px; background: $border; margin: 4px 6px; }

QProgressBar { background: $hair; border: none; border-radius: 2px; max-height: 4px;
    min-height: 4px; }
QProgressBar::chunk { background: $accent; border-radius: 2px; }

QToolTip { background: $cell; color: $ink; border: 1px solid $border; padding: 5px 7px; }

QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: $border; border-radius: 4px; margin: 1px; min-height: 24px;
    min-width: 24px; }
QScrollBar::handle:hover { background: $faint; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
""")

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
    "menu": 26,
}


def code(color: Rgba) -> str:
    """The `#rrggbb` of a (4,) colour."""
    return "#{:02x}{:02x}{:02x}".format(*(int(c) for c in color[:3]))


def style_sheet(palette: Palette, scale: float) -> str:
    """The style sheet of a theme; every length that belongs to text grows with `scale`."""
    colors = {name: code(getattr(palette, name)) for name in _NAMED}
    colors["hair"] = code(mix(palette.border, palette.panel, 0.45))
    colors["raised"] = code(mix(palette.cell, palette.border, 0.3))
    return _SHEET.substitute(colors, **{k: str(round(v * scale)) for k, v in _SIZES.items()})
