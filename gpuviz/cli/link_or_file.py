"""`gpuviz LINK` and `gpuviz FILE`: an argument that is no command tells what the window shows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from os.path import exists, isdir
from pathlib import Path
from typing import TYPE_CHECKING

from gpuviz.base.errors import InputError
from gpuviz.files.folders import OPENED

if TYPE_CHECKING:
    from gpuviz.views.provenance import Provenance

_LINK = "gpuviz:"
_LARGEST = 1 << 31  # bytes of any file that is opened; its reader knows better


def link_or_file(argv: Sequence[str], commands: Collection[str]) -> Provenance | Path | None:
    """The view of a link or of an exported file, or a file to open; None when something else is
    asked for.

    Raises
    ------
    InputError : a link or a file that cannot be shown
    """
    named = len(argv) == 2 and argv[0] == "--"  # what follows is no option and no command
    if not named and (len(argv) != 1 or argv[0] in ("", *commands) or argv[0].startswith("-")):
        return None
    text = argv[-1]
    if text.lower().startswith(_LINK):
        return _view(text)
    file = Path(text)
    if isdir(file):
        raise InputError(f"{text} is a folder; name a kernel (.cu, .ptx) or an exported picture")
    if not exists(file):
        if named or file.suffix or file.parent != Path():
            raise InputError(f"there is no file {text}")
        return None  # a command mistyped: the parser names those there are
    own = file.suffix.lower() in OPENED  # of others the view they were exported from is shown
    return _readable(file) if own else _exported(file)


def _view(text: str) -> Provenance:
    from gpuviz.views.link import parse

    return _fit(parse(text))


def _exported(file: Path) -> Provenance:
    from gpuviz.export.reading import read

    return _fit(read(file))


def _readable(file: Path) -> Path:
    from gpuviz.files import bounded

    with bounded.opened(file, _LARGEST):
        return file


def _fit(view: Provenance) -> Provenance:
    """The view checked as far as it can be without running it."""
    from gpuviz.views.make_view import beside_for, check_file, fitted, lesson_for

    made = fitted(view, lesson_for(view), beside_for(view))
    check_file(made)
    return made
