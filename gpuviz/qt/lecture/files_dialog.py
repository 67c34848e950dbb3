"""Files of a lecture, to be agreed to by name: what a stranger's reads, what a bundle takes."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from gpuviz.lectures.bundle import BundleContents
from gpuviz.qt.controls.controls import answers, label, plain_tip
from gpuviz.qt.controls.layouts import column_of
from gpuviz.story.kernel_launch import homely
from gpuviz.words.language import tr, trn

_WIDTH, _MOST_ROWS = 640, 12


@dataclass(frozen=True)
class Row:
    """A file: its name, its bytes if they are told, where it is from, and whether that is outside
    of the lecture's folder.
    """

    name: str
    size: int | None = None
    origin: str = ""
    outside: bool = False


class FilesDialog(QDialog):
    """A list to say yes or no to. No is the default where something is outside."""

    def __init__(
        self,
        title: str,
        said: Iterable[str],
        rows: Iterable[Row],
        yes: str,
        no: str,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setModal(True)
        shown = tuple(rows)
        self.list = _list(title, shown)
        self.buttons = answers(self, yes)
        refuse = self.buttons.button(QDialogButtonBox.StandardButton.Cancel)
        refuse.setText(no)
        if any(row.outside for row in shown):
            refuse.setDefault(True)
            refuse.setFocus()
        # Names of files are a stranger's words: labels take them for plain text.
        lines = (label(words, wraps=True) for words in filter(None, said))
        margins = 20, 16, 20, 16
        column_of(*lines, self.list, 1, self.buttons, on=self, gap=10, margins=margins)
        scale = self.fontMetrics().height() / 16
        wide = min(round(_WIDTH * max(scale, 1.0)), max(parent.width() - 40, 320))
        self.resize(wide, min(self.sizeHint().height(), max(parent.height() - 20, 240)))


def _list(title: str, rows: tuple[Row, ...]) -> QTreeWidget:
    sized = any(row.size is not None for row in rows)
    made = QTreeWidget()
    made.setAccessibleName(title)
    made.setRootIsDecorated(False)
    made.setUniformRowHeights(True)
    made.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    made.setTextElideMode(Qt.TextElideMode.ElideMiddle)
    made.setHeaderLabels([tr("File"), tr("Size"), tr("From")] if sized else [tr("File")])
    head, high = made.header(), made.fontMetrics().height() + 4
    head.setStretchLastSection(True)
    for row in rows:
        name = f"▲ {row.name}" if row.outside else row.name
        size = f"   {_told(row.size)}   " if row.size is not None else ""
        item = QTreeWidgetItem([name, size, row.origin])
        item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight)
        item.setToolTip(0, plain_tip(row.name))
        item.setToolTip(2, plain_tip(row.origin))
        made.addTopLevelItem(item)
    if sized:
        for column in (0, 1):
            head.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
    shown = min(max(len(rows), 3), _MOST_ROWS)
    made.setFixedHeight(head.sizeHint().height() + shown * high + 6)
    return made


def _told(size: int) -> str:
    return QLocale().formattedDataSize(size, 1, QLocale.DataSizeFormat.DataSizeTraditionalFormat)


def reading_dialog(window: QWidget, name: str, files: Iterable[Path]) -> FilesDialog:
    """Asks whether a lecture may read files outside of its folder."""
    rows = [Row(homely(file), outside=True) for file in files]
    said = (
        trn(
            "“{name}” wants to read {n} file outside of its own folder:",
            "“{name}” wants to read {n} files outside of its own folder:",
            len(rows),
            name=name,
        ),
        tr(
            "What is in there is shown on its slides. Agree only if you know why the lecture needs "
            "it; without it the slides that name it stay empty."
        ),
    )
    yes, no = tr("Allow"), tr("Leave out")
    return FilesDialog(tr("Files from elsewhere"), said, rows, yes, no, window)


def packing_dialog(window: QWidget, name: str, packing: BundleContents) -> FilesDialog:
    """Shows what goes into a bundle, and asks about what is from elsewhere."""
    outside = set(packing.outside)
    made = tr("made by gpuviz")
    rows = [
        Row(
            file.name,
            len(file.content),
            homely(file.origin) if file.origin else made,
            file.origin in outside,
        )
        for file in sorted(packing.files, key=lambda file: file.origin not in outside)
    ]
    count, size = len(rows), _told(packing.size)
    said = (
        trn(
            "{n} file goes into {name}: {size}.",
            "{n} files go into {name}: {size}.",
            count,
            name=name,
            size=size,
        ),
        trn(
            "▲ {n} of them is from outside of the lecture's folder. Whoever gets the bundle can "
            "read it.",
            "▲ {n} of them are from outside of the lecture's folder. Whoever gets the bundle can "
            "read them.",
            len(outside),
        )
        if outside
        else "",
        "\n".join(packing.problems),
    )
    yes, no = tr("Save bundle"), tr("Cancel")
    return FilesDialog(tr("What goes into the bundle"), said, rows, yes, no, window)
