"""What comes up while a lecture is given, written down with its slides: ink, and times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from gpuviz.base.errors import InputError
from gpuviz.lectures.bundle import is_bundle, shipped
from gpuviz.lectures.lecture import Lecture, Slide
from gpuviz.lectures.reading import read
from gpuviz.lectures.writing import write
from gpuviz.words.language import tr

Change = Callable[[Slide], Slide]
Changes = Mapping[int, Change]  # by the numbers of slides, from 0
Keep = Callable[[Changes], str]  # writes changes down, and says where; InputError when it cannot


def changed(lecture: Lecture, changes: Changes) -> Lecture:
    """The lecture with other slides; InputError when one is not there."""
    for at, how in changes.items():
        lecture = lecture.change(at, how)
    return lecture


def in_file(path: Path, agreed: frozenset[Path] = frozenset()) -> Keep:
    """Keeps them in the lecture's file, as that is by then.

    Raises
    ------
    InputError : it is a bundle, ships with gpuviz, or cannot be written
    """

    def keep(changes: Changes) -> str:
        if path in shipped() or is_bundle(path):
            raise InputError(
                f"{path.name} cannot keep it: open the lecture in the window, and save it there"
            )
        write(changed(read(path, agreed), changes), path)
        return tr("kept in {name}", name=path.name)

    return keep
