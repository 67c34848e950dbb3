"""A site is made: lesson after lesson, in processes of their own, whole or gone on with.

What a lesson was made of is noted when all of its files are there (`made.json`): a site that was
stopped goes on with the lessons that are not, or are of another gpuviz.
"""

import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import groupby
from pathlib import Path
from subprocess import TimeoutExpired
from threading import Event

import gpuviz
from gpuviz.base import records, resources
from gpuviz.base.errors import Cancelled, FormatError, InputError, failure_of
from gpuviz.base.waiting import Cancel, stopped_by
from gpuviz.course import COURSE, lesson
from gpuviz.export.page_data import as_text
from gpuviz.files import bounded
from gpuviz.files import writing as files
from gpuviz.processes import programs as processes
from gpuviz.site import frame, lecture_page, lesson_page
from gpuviz.site.frame import Place, page, spoken, word_list, words
from gpuviz.site.lecture_page import name_of, title_of
from gpuviz.story.lesson import Lesson
from gpuviz.words.language import tr
from gpuviz.words.terminal import err

Titled = tuple[str, str]  # of a lecture: the name of its page, and its title
MADE = "made.json"
_LONGEST = 3600.0  # seconds that a lesson may take
_FONTS = ("Inter-Regular.otf", "Inter-SemiBold.otf", "JetBrainsMono-Regular.ttf")


@dataclass(frozen=True)
class Task:
    """A "lesson" by its id, or a "lecture" by its file."""

    kind: str
    name: str

    @property
    def made_of(self) -> str:
        """What decides how its pages look."""
        if self.kind == "lesson":
            return fingerprint()
        stat = Path(self.name).stat()
        return f"{fingerprint()} {stat.st_size} {stat.st_mtime_ns}"


@dataclass(frozen=True)
class Outcome:
    """A task that is done: whether its pages were there before, or why there are none."""

    task: Task
    kept: bool = False
    why: str = ""


def make(root: Path, tasks: Sequence[Task], jobs: int) -> Iterator[Outcome]:
    """The pages of these, `jobs` at a time; each is told of when it is done.

    Who goes on no more ends the processes; what was begun is made anew the next time.
    """
    noted = _noted(root)
    kept = [one for one in tasks if noted.get(one.name) == one.made_of]
    yield from (Outcome(one, kept=True) for one in kept)
    left = [one for one in tasks if one not in kept]
    stop = Event()
    with ThreadPoolExecutor(jobs, thread_name_prefix="site") as threads:
        waiting = {threads.submit(_in_process, root, one, stop.is_set): one for one in left}
        try:
            for future in as_completed(waiting):
                one, why = waiting[future], future.result()
                if not why:
                    noted = {**noted, one.name: one.made_of}
                    files.write(root / MADE, as_text(noted))
                yield Outcome(one, why=why)
        finally:
            stop.set()


def _in_process(root: Path, task: Task, cancel: Cancel) -> str:
    """The pages of a task, or why there are none; its memory goes when it is done."""
    if cancel():
        return "stopped"
    command = processes.python("gpuviz.site.making", str(root.resolve()), task.kind, task.name)
    with stopped_by(cancel):
        try:
            done = processes.run(command, processes.HOME, _LONGEST)
        except (OSError, TimeoutExpired, Cancelled) as error:
            return str(error)
    if done.returncode == 0:
        return ""
    last = done.stderr.strip().splitlines()[-1:]
    return last[0] if last else f"it ended {processes.ended(done.returncode)}"


def finish(root: Path, tasks: Sequence[Task], documentation: str = "") -> None:
    """What the pages share, and the first page, in all languages."""
    files.write(root / "site.css", frame.style(), parents=True)
    files.write(root / "site.js", frame.script())
    for name in (*_FONTS, "Inter-LICENSE.txt", "JetBrainsMono-LICENSE.txt"):
        content = bounded.read(resources.path(f"fonts/{name}"))
        files.write(root / "fonts" / name, content, parents=True)
    wanted = {one.name for one in tasks if one.kind == "lesson"}
    lessons = [lesson(one) for one in every_lesson() if one in wanted]
    lectures = [Path(one.name) for one in tasks if one.kind == "lecture"]
    for place in spoken(root):
        call = f"gpuvizWords({as_text(word_list())});\n"
        files.write(place.folder / "words.js", call, parents=True)
        titled = [(name_of(file), title_of(file, place)) for file in lectures]
        files.write(place.folder / "index.html", index(lessons, titled, place, documentation))


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


def main(root: str, kind: str, name: str) -> int:
    """A process makes the pages of a lesson by its id, or of a lecture by its file.

    Its exit status is 0, or 1 with a line on stderr that says why there are no pages.
    """
    try:
        if kind == "lecture":
            lecture_page.write(Path(name), Path(root))
        else:
            lesson_page.write(lesson(name), Path(root))
    except Exception as error:  # whatever goes wrong with a lesson is that lesson's
        err(failure_of(error).message)
        return 1
    return 0


def index(
    lessons: Sequence[Lesson], lectures: Sequence[Titled], place: Place, documentation: str = ""
) -> str:
    """The page; `documentation` is where that lies, from the top of the site."""
    link = f'<p><a href="{place.up}{documentation}">{escape(words()["documentation"])}</a></p>'
    parts = {
        "title": words()["course"],
        "shelves": "".join(_shelves(lessons, lectures, place)),
        "documentation_link": link if documentation else "",
    }
    return page("index.html", parts, place, "index.html")


def _shelves(lessons: Sequence[Lesson], lectures: Sequence[Titled], place: Place) -> Iterator[str]:
    if lectures:
        yield _shelf(words()["lectures"], (_card(name, title) for name, title in lectures))
    for _, found in groupby(lessons, lambda one: one.chapter):
        shelf = tuple(found)
        yield _shelf(tr(shelf[0].chapter), (_lesson(one, place) for one in shelf))


def _shelf(name: str, cards: Iterator[str]) -> str:
    head = f"<section class=shelf><h2>{escape(name)}</h2>"
    return f"{head}<ul class=cards>{''.join(cards)}</ul></section>\n"


def _lesson(lesson: Lesson, place: Place) -> str:
    """Its picture is part of the page, and so in its fonts and colours."""
    picture = bounded.text(place.still(lesson.id))
    return _card(lesson.id, tr(lesson.title), tr(lesson.look_for), picture)


def _card(name: str, title: str, text: str = "", picture: str = "") -> str:
    said = f"<span>{escape(text)}</span>" if text else ""
    return f'<li><a href="{name}.html">{picture}<b>{escape(title)}</b>{said}</a></li>'


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
