"""Where files go: the pictures folder, a name that is free, and asking the user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from os.path import exists
from pathlib import Path

from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QFileDialog, QWidget

from gpuviz.language import tr

LONGEST = 44  # letters of a file name that is read in passing


@dataclass(frozen=True)
class Question:
    """What to ask when a file is to be written: the dialog's title, a name to begin with, suffixes.

    `proposed` holds the folder, too; the first suffix is given to a name without one.
    """

    title: str
    proposed: Path
    suffixes: Sequence[str]


AskWhere = Callable[[QWidget, Question], Path | None]
AskWhich = Callable[[QWidget, str], Path | None]


def ask_where(parent: QWidget, question: Question) -> Path | None:
    """The file to write as the user wants it, who is asked before another one is replaced."""
    dialog = QFileDialog(parent, question.title, str(question.proposed.parent))
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilters([f"{s[1:].upper()} (*{s})" for s in question.suffixes])
    suffix = question.proposed.suffix or question.suffixes[0]
    dialog.selectNameFilter(f"{suffix[1:].upper()} (*{suffix})")
    dialog.setDefaultSuffix(suffix[1:])
    dialog.filterSelected.connect(
        lambda chosen: dialog.setDefaultSuffix(chosen.partition(" ")[0].lower())
    )
    dialog.selectFile(question.proposed.name)
    if not dialog.exec():
        return None
    chosen = Path(dialog.selectedFiles()[0])
    if chosen.suffix.lower() in question.suffixes:
        return chosen
    return free(chosen.with_name(chosen.name + suffix))  # nobody was asked about that name


def ask_which(parent: QWidget, folder: str) -> Path | None:
    """The file to open."""
    kinds = ";;".join(
        (
            tr("What gpuviz opens") + " (*.cu *.ptx *.png *.svg *.pdf *.gif *.apng *.mp4 *.webm "
            "*.html *.json *.gputrace *.gpurec *.gpuviz-lecture)",
            f"{tr('Kernels')} (*.cu *.ptx)",
            f"{tr('All files')} (*)",
        )
    )
    name, _ = QFileDialog.getOpenFileName(parent, tr("Open"), folder, kinds)
    return Path(name) if name else None


def pictures_folder() -> Path:
    """Where quick pictures go: the user's own place for pictures, or the home folder."""
    place = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.PicturesLocation)
    folder = (Path(place) if place else Path.home()) / "gpuviz"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path.home()
    return folder


def free(path: Path) -> Path:
    """The path, or the first of `name-2`, `name-3` … that is not there yet."""
    if not exists(path):  # of a name that is too long `Path.exists` raises
        return path
    others = (path.with_name(f"{path.stem}-{number}{path.suffix}") for number in count(2))
    return next(other for other in others if not exists(other))


def shortened(name: str, most: int = LONGEST) -> str:
    """A name that fits into the status bar: its middle is left out."""
    if len(name) <= most:
        return name
    half = (most - 1) // 2
    return f"{name[: most - 1 - half]}…{name[-half:]}"
