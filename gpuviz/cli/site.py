"""`gpuviz site`: the course as a folder of pages for browsers."""

import argparse
import os
import time
from pathlib import Path

from gpuviz.base.errors import InputError
from gpuviz.base.waiting import TimeLeft
from gpuviz.cli.options import at_least_one, declare
from gpuviz.course import lesson
from gpuviz.files import writing as files
from gpuviz.lectures.bundle import find, shipped
from gpuviz.site import making
from gpuviz.words.terminal import err, out, passing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    jobs = {"type": at_least_one, "default": min(os.cpu_count() or 1, 2)}
    output = {"type": Path, "required": True}
    declare(parser, "site", output=output, jobs=jobs, documentation={"default": ""})


def run(arguments: argparse.Namespace) -> int:
    """Make the site; 0, or 2 when some lessons have no page."""
    root, tasks = arguments.output, _tasks(arguments)
    if root.exists() and not root.is_dir():
        raise InputError(f"{root} is a file: -o names a folder")
    files.make_folder(root)
    began, left = time.monotonic(), TimeLeft()
    there = []
    for count, done in enumerate(making.make(root, tasks, arguments.jobs), 1):
        if done.why:
            err(f"gpuviz: {done.task.kind} {done.task.name}: {done.why}")
        else:
            there.append(done.task)
        said = left.at(count / len(tasks))
        passing(f"{count} of {len(tasks)}" + (f", about {said} left" if said else ""))
    making.finish(root, [one for one in tasks if one in there], arguments.documentation)
    passing("")
    size = sum(file.stat().st_size for file in root.rglob("*") if file.is_file())
    took = time.monotonic() - began
    out(f"{root / 'index.html'}: {len(there)} pages, {size / 1e6:.1f} MB, {took:.0f} s")
    return 0 if len(there) == len(tasks) else 2


def _tasks(arguments: argparse.Namespace) -> tuple[making.Task, ...]:
    """What pages are wanted: all, where none is named."""
    named = bool(arguments.lesson or arguments.lecture)
    ids = dict.fromkeys(arguments.lesson if named else making.every_lesson())
    lectures = dict.fromkeys(map(find, arguments.lecture) if named else shipped())
    return (
        *(making.Task("lesson", lesson(one).id) for one in ids),
        *(making.Task("lecture", str(file.resolve())) for file in lectures),
    )
