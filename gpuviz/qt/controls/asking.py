"""Dialogs that are gone when they have been answered: Qt would keep them as long as the window."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog


def ask(dialog: QDialog) -> None:
    """Open a dialog; what it signals tells the answer."""
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()


def answer(dialog: QDialog) -> int:
    """Open a dialog and wait for the answer, which is what its `exec` returns."""
    try:
        return dialog.exec()
    finally:
        dialog.deleteLater()
