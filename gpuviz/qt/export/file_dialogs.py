"""Where files go: the pictures folder, a name that is free, and asking the user."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from os.path import exists
from pathlib import Path

from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QFileDialog, QWidget

from gpuviz.export.formats import FORMATS
from gpuviz.files.folders import KERNELS, OPENED
from gpuviz.qt.controls.controls import answer
from gpuviz.words.language import tr

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
    filters = {_filter(suffix): suffix for suffix in question.suffixes}
    dialog.setNameFilters(list(filters))
    suffix = _ends(question.proposed, question.suffixes) or question.suffixes[0]
    dialog.selectNameFilter(_filter(suffix))
    dialog.setDefaultSuffix(suffix[1:])
    dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(filters[chosen][1:]))
    dialog.selectFile(question.proposed.name)
    if not answer(dialog):
        return None
    chosen = Path(dialog.selectedFiles()[0])
    if _ends(chosen, question.suffixes):
        return chosen
    return free(chosen.with_name(chosen.name + suffix))  # nobody was asked about that name


def _ends(path: Path, suffixes: Sequence[str]) -> str:
    """The suffix that a name has, "" for none of these; one may have two points."""
    return next((one for one in suffixes if path.name.lower().endswith(one)), "")


def _filter(suffix: str) -> str:
    """What a kind of file is called in the dialog."""
    named = next((one.short for one in FORMATS if one.suffix == suffix), suffix[1:].upper())
    return f"{named} (*{suffix})"


def ask_which(parent: QWidget, folder: str) -> Path | None:
    """The file to open."""
    exported = (one.suffix for one in FORMATS if one.record is not None)
    kinds = ";;".join(
        (
            f"{tr('What gpuviz opens')} ({_patterns((*OPENED, *exported))})",
            f"{tr('Kernels')} ({_patterns(KERNELS)})",
            f"{tr('All files')} (*)",
        )
    )
    name, _ = QFileDialog.getOpenFileName(parent, tr("Open"), folder, kinds)
    return Path(name) if name else None


def _patterns(suffixes: Sequence[str]) -> str:
    return " ".join(f"*{suffix}" for suffix in suffixes)


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
