"""`gpuviz site`: the course as a folder of pages for browsers."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

from gpuviz import files
from gpuviz.cli.launch import at_least_one
from gpuviz.errors import InputError
from gpuviz.scenes import lesson
from gpuviz.site import making
from gpuviz.terminal import err, out, passing
from gpuviz.waiting import TimeLeft

EXAMPLE = """FOLDER can be read from a disk or put on any web server: nothing is computed there, and
nothing is loaded from elsewhere. Ctrl+C stops; the same command goes on.

example:
  gpuviz site -o site
  gpuviz site -o site --lesson banks --lesson coalescing"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    parser.add_argument(
        "--lesson", action="append", default=[], metavar="ID", help="only this lesson; repeatable"
    )
    parser.add_argument(
        "--jobs",
        type=at_least_one,
        default=min(os.cpu_count() or 1, 2),
        metavar="N",
        help="lessons at a time; each may take a gigabyte (default %(default)s)",
    )
    parser.add_argument(
        "--documentation",
        default="",
        metavar="LINK",
        help="where the documentation lies, as the first page links to it",
    )


def run(arguments: argparse.Namespace) -> int:
    """Make the site; 0, or 2 when some lessons have no page."""
    root, wanted = arguments.output, tuple(dict.fromkeys(arguments.lesson))
    lessons = tuple(lesson(one).id for one in wanted) or making.every_lesson()
    if root.exists() and not root.is_dir():
        raise InputError(f"{root} is a file: -o names a folder")
    files.make_folder(root)
    began, left = time.monotonic(), TimeLeft()
    failed = []
    for count, done in enumerate(making.make(root, lessons, arguments.jobs), 1):
        if done.why:
            failed.append(done.lesson)
            err(f"gpuviz: {done.lesson}: {done.why}")
        said = left.at(count / len(lessons))
        passing(f"{count} of {len(lessons)} lessons" + (f", about {said} left" if said else ""))
    making.finish(root, [one for one in lessons if one not in failed], (), arguments.documentation)
    passing("")
    size = sum(file.stat().st_size for file in root.rglob("*") if file.is_file())
    took = time.monotonic() - began
    out(
        f"{root / 'index.html'}: {len(lessons) - len(failed)} lessons, "
        f"{size / 1e6:.1f} MB, {took:.0f} s"
    )
    return 2 if failed else 0
