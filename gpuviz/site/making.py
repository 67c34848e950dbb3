"""A site is made: lesson after lesson, in processes of their own, whole or gone on with.

What a lesson was made of is noted when all of its files are there (`made.json`): a site that was
stopped goes on with the lessons that are not, or are of another gpuviz.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from subprocess import TimeoutExpired
from threading import Event

import gpuviz
from gpuviz import bounded, files, processes, records, resources
from gpuviz.errors import Cancelled, FormatError, InputError
from gpuviz.export.page_data import as_text
from gpuviz.scenes import COURSE, lesson
from gpuviz.site import frame
from gpuviz.site.index_page import Titled, index
from gpuviz.site.place import spoken
from gpuviz.site.ui_words import word_list
from gpuviz.stopping import Cancel, stopped_by

MADE = "made.json"
_LONGEST = 3600.0  # seconds that a lesson may take
_FONTS = ("Inter-Regular.otf", "Inter-SemiBold.otf", "JetBrainsMono-Regular.ttf")


@dataclass(frozen=True)
class Done:
    """A lesson that has its pages: whether it had them before, or why it has none."""

    lesson: str
    kept: bool = False
    why: str = ""


def make(root: Path, lessons: Sequence[str], jobs: int) -> Iterator[Done]:
    """The pages of these lessons, `jobs` at a time; each is told of when it is done.

    Who goes on no more ends the processes; what was begun is made anew the next time.
    """
    noted = _noted(root)
    for one in lessons:
        if noted.get(one) == fingerprint():
            yield Done(one, kept=True)
    left = [one for one in lessons if noted.get(one) != fingerprint()]
    stop = Event()
    with ThreadPoolExecutor(jobs, thread_name_prefix="site") as threads:
        waiting = {threads.submit(_in_process, root, one, stop.is_set): one for one in left}
        try:
            for future in as_completed(waiting):
                one, why = waiting[future], future.result()
                if not why:
                    noted = {**noted, one: fingerprint()}
                    files.write(root / MADE, as_text(noted))
                yield Done(one, why=why)
        finally:
            stop.set()


def _in_process(root: Path, name: str, cancel: Cancel) -> str:
    """The pages of a lesson, or why there are none; its memory goes when it is done."""
    if cancel():
        return "stopped"
    command = processes.python("gpuviz.site.child", str(root.resolve()), name)
    with stopped_by(cancel):
        try:
            done = processes.run(command, processes.HOME, _LONGEST)
        except (OSError, TimeoutExpired, Cancelled) as error:
            return str(error)
    if done.returncode == 0:
        return ""
    last = done.stderr.strip().splitlines()[-1:]
    return last[0] if last else f"it ended {processes.ended(done.returncode)}"


def finish(
    root: Path, lessons: Sequence[str], lectures: Sequence[Titled], documentation: str = ""
) -> None:
    """What the pages share, and the first page, in all languages."""
    files.write(root / "site.css", frame.style(), parents=True)
    files.write(root / "site.js", frame.script())
    for name in (*_FONTS, "Inter-LICENSE.txt", "JetBrainsMono-LICENSE.txt"):
        files.write(
            root / "fonts" / name, bounded.read(resources.path(f"fonts/{name}")), parents=True
        )
    opened = [lesson(one) for one in every_lesson() if one in lessons]
    for place in spoken(root):
        call = f"gpuvizWords({as_text(word_list())});\n"
        files.write(place.folder / "words.js", call, parents=True)
        files.write(place.folder / "index.html", index(opened, lectures, place, documentation))


def every_lesson() -> tuple[str, ...]:
    """The ids of all lessons in the order of the course."""
    return tuple(one.id for one in COURSE)


@cache
def fingerprint() -> str:
    """What decides how a site looks: the program and what ships with it, as they are now."""
    found = hashlib.sha256(gpuviz.__version__.encode())
    here = Path(gpuviz.__file__).parent
    for root in (here, resources.path("")):
        for file in sorted(root.rglob("*")):
            if file.suffix in (".py", ".js", ".css", ".html", ".json", ".toml", ".cu", ".gpurec"):
                stat = file.stat()
                found.update(f"{file.name} {stat.st_size} {stat.st_mtime_ns}".encode())
    return found.hexdigest()


def _noted(root: Path) -> Mapping[str, str]:
    """The lessons that are there, by what they were made of; a damaged note notes nothing."""
    try:
        return records.read(bounded.read(root / MADE), dict[str, str], MADE)
    except (InputError, FormatError):
        return {}
