"""Asks whether a stranger's kernels may run on the GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QFrame, QScrollArea, QWidget

from gpuviz.qt.controls.controls import label
from gpuviz.qt.controls.layouts import column_of
from gpuviz.words.language import tr, trn

if TYPE_CHECKING:
    from gpuviz.gpu.consent import Code
    from gpuviz.qt.look.theme import Theme

_WIDTH, _LIST = 560, 220  # pixels at scale 1; the list of kernels grows to that height
_KINDS = QDialogButtonBox.StandardButton


class ConsentDialog(QDialog):
    """Accepted is agreed. Return and Esc both say no: a yes has to be chosen."""

    def __init__(self, codes: Sequence[Code], theme: Theme, parent: QWidget, no: str = "") -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Run on the GPU?"))
        self.setModal(True)
        files = ", ".join(dict.fromkeys(code.file for code in codes))
        head = trn(
            "{files} brings a kernel. Run it on the GPU?",
            "{files} brings kernels. Run them on the GPU?",
            len(codes),
            files=files,
        )
        risk = tr(
            "Emulated, as now, a kernel can do no harm. On the GPU it runs for real: it can hang "
            "the GPU, and harm more where a driver has faults. Say yes if you trust who made it."
        )
        kept = tr(
            "A yes is remembered for these very launches on this GPU; whatever else comes is asked "
            "about."
        )
        said = (head, "value"), (risk, ""), (kept, "quiet")
        first, *rest = (label(text, role, wraps=True) for text, role in said)
        parts = first, self._list(codes, theme), *rest
        column = column_of(*parts, on=self, gap=12, margins=(24, 20, 24, 18))
        self.widely = QCheckBox(tr("Also with other sizes and arguments"))
        column.addWidget(self.widely)
        self.buttons = QDialogButtonBox(_KINDS.Yes | _KINDS.No)
        self.yes, self.no = (self.buttons.button(kind) for kind in (_KINDS.Yes, _KINDS.No))
        self.yes.setText(tr("Run on the GPU"))
        self.no.setText(no or tr("Do not run"))
        self.yes.setAutoDefault(False)
        self.no.setDefault(True)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        column.addWidget(self.buttons)
        self.resize(min(theme.look.px(_WIDTH), parent.width() - 40), self.sizeHint().height())
        self.no.setFocus()

    def _list(self, codes: Sequence[Code], theme: Theme) -> QWidget:
        """A line a kernel; many are scrolled."""
        inner = QWidget()
        rows = (label(f"{code.kernel}{code.launch}: {code.what}", wraps=True) for code in codes)
        column_of(*rows, on=inner, gap=6)
        area = QScrollArea()
        area.setWidget(inner)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setAccessibleName(tr("Kernels"))
        width = theme.look.px(_WIDTH) - 48
        area.setFixedHeight(min(inner.heightForWidth(width) + 4, theme.look.px(_LIST)))
        return area
