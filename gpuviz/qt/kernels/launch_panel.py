"""The launch of a user's own kernel beside its picture."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpuviz.qt.controls.controls import button, keep_space, label
from gpuviz.qt.kernels.launch_fields import LaunchFields
from gpuviz.words.language import tr


class LaunchPanel(QWidget):
    """The fields, and why what stands in them cannot be run.

    Signals
    -------
    others_asked : the user wants another kernel or launch of the file
    keep_asked : the user wants the settings kept beside the file
    """

    others_asked = Signal()
    keep_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Launch"))
        self.fields = LaunchFields()
        self.problem = label("", "problem")
        self.problem.setWordWrap(True)
        self.problem.hide()
        self.others = button(
            tr("another …"),
            tr("Another kernel or launch of this file"),
            "link",
            tr("Another kernel or launch of this file"),
        )
        self.others.clicked.connect(self.others_asked)
        tip = tr(
            "Keep these settings beside the file, in NAME.gpuviz.toml: gpuviz reads them when the "
            "file is opened again, and changes are kept there from then on."
        )
        self.keep = button(tr("keep"), tr("Keep these settings beside the file"), "link", tip)
        self.keep.clicked.connect(self.keep_asked)
        for made in (self.keep, self.others):
            keep_space(made)
        head = QHBoxLayout()
        head.addWidget(label(tr("Launch"), "heading"))
        head.addStretch(1)
        head.addWidget(self.keep)
        head.addWidget(self.others)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(head)
        column.addWidget(self.fields)
        column.addWidget(self.problem)

    def say(self, problem: str) -> None:
        """Say why it cannot be run, where no field does so."""
        shown = "" if self.fields.problem else problem
        self.problem.setText(f"▲ {shown}" if shown else "")
        self.problem.setVisible(bool(shown))
