"""`gpuviz capture`: run a Python program and keep the launches that it makes, in one file."""

import argparse
import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from gpuviz.base.errors import InputError
from gpuviz.cli.options import at_least_one, declare
from gpuviz.files.bounded import amount
from gpuviz.files.folders import CAPTURE
from gpuviz.files.writing import check_place
from gpuviz.integrations.watching import WATCHED, CapturingWatch
from gpuviz.launch import capture
from gpuviz.words.terminal import err, out

_MIB = 1 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    declare(
        parser,
        "capture",
        output={"type": Path},
        launches={"type": at_least_one, "default": 16},
        match={"default": ""},
        contents={"choices": ("keep", "leave")},
        limit={"type": at_least_one, "default": 64},
    )
    parser.add_argument("script", type=Path, metavar="SCRIPT", help="a Python program")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="...", help="its arguments")


def run(arguments: argparse.Namespace) -> int:
    """Run the program, write the file; 0, or 1."""
    script: Path = arguments.script
    output = arguments.output or Path(script.stem + CAPTURE)
    check_place(output)
    if not script.is_file():
        raise InputError(f"there is no program {script}")
    watch, failed = CapturingWatch(arguments.launches, arguments.match), ""
    _import_watched()
    with _as_program(script, arguments.words), watch:
        try:
            runpy.run_path(str(script), run_name="__main__")
        except SystemExit as end:
            failed = f"it ended with exit status {end.code}" if end.code else ""
        except Exception as error:
            failed = f"{type(error).__name__}: {error}"
    if left := watch.left_out:
        err(f"not kept:\n{left!r}")
    jobs = [made.job for made in watch.requests]
    if jobs:
        size = sum(a.values.nbytes for made in watch.requests for a in made.arrays.values())
        wish, limit = arguments.contents, arguments.limit * _MIB
        keep = _agreed(size, output) if wish is None else wish == "keep"
        for said in capture.write(output, script.name, jobs, keep=keep, limit=limit):
            err(said)
        out(f"{output}: {len(jobs)} launches of {script.name}")
    else:
        err(f"gpuviz: {script} made no launch that can be kept")
    if failed:
        err(f"gpuviz: {script} failed: {failed}")
    return int(bool(failed) or not jobs)


def _import_watched() -> None:
    """What is not imported yet cannot be watched."""
    for name in WATCHED:
        with suppress(Exception):  # a library that cannot be used here is not used
            if find_spec(name.partition(".")[0]):
                import_module(name)


@contextmanager
def _as_program(script: Path, words: list[str]) -> Iterator[None]:
    """Arguments and search path as the program has them by itself."""
    argv, path = sys.argv, sys.path[:]
    sys.argv, sys.path[:0] = [str(script), *words], [str(script.resolve().parent)]
    try:
        yield
    finally:
        sys.argv, sys.path[:] = argv, path


def _agreed(size: int, output: Path) -> bool:
    if not sys.stdin.isatty():
        err("what is in the buffers is left out: --contents keep writes it into the file")
        return False
    size_words = amount(size)
    err(f"Write what is in the buffers ({size_words}) into {output.name}, for all to read? [y/N]")
    return input().strip().lower() in ("y", "yes")
