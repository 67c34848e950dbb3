"""The `gpuviz` command: no subcommand opens the window, on a link or a file if one is named; each
subcommand is one file here, which is imported when it is asked for.

Exit status: 0 done; 1 the answer is no (counts differ, something is unsupported, a check found an
error); 2 an error, told in one message on stderr; 3 this machine lacks something (a GPU, a
compiler, a system library, memory); 130 stopped by Ctrl+C.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn, Protocol, cast

from gpuviz import __version__
from gpuviz.base import ending
from gpuviz.base.errors import Cancelled, Error, InputError, UnavailableError, failure_of
from gpuviz.cli.link_or_file import link_or_file
from gpuviz.cli.texts import COMMANDS
from gpuviz.words.terminal import err, out


class _File(Protocol):
    """What the file of a subcommand holds."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it; the exit status."""


class _Parser(argparse.ArgumentParser):
    """Complains in one line, as all other errors are told."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message} (see {self.prog} --help)")


def parser(wanted: str | None = None) -> argparse.ArgumentParser:
    """The command line; of the subcommands only the one wanted knows its arguments."""
    root = _Parser(
        prog="gpuviz",
        description="See what a GPU's memory system makes of a real CUDA kernel. "
        "Without a command the window opens. `gpuviz LINK` opens it with a view that was copied as "
        "a link, `gpuviz FILE` with that of an exported picture, or with a kernel (.cu, .ptx).",
    )
    root.add_argument("--version", action="version", version=f"gpuviz {__version__}")
    root.add_argument(
        "--integrate",
        nargs="?",
        const="on",
        choices=("on", "off"),
        help="have the desktop list gpuviz and open its files with it; off undoes it (Linux)",
    )
    commands = root.add_subparsers(dest="command", metavar="COMMAND")
    for name, command in COMMANDS.items():
        sub = commands.add_parser(
            name,
            help=command.does,
            description=command.does,
            epilog=command.examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == wanted:
            file = cast(_File, import_module(f"gpuviz.cli.{name}"))
            file.add_arguments(sub)
            sub.set_defaults(run=file.run)
    return root


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status."""
    if argv is not None:
        return _run(argv)
    try:
        ending.obey()
        status = _run(sys.argv[1:])
        return ending.told() or status
    finally:
        ending.over()


_STATUS = {UnavailableError: 3, Cancelled: 130}


def _run(given: Sequence[str]) -> int:
    try:
        shown = link_or_file(given, COMMANDS)
        wanted = next((word for word in given if word in COMMANDS), None)
        arguments = None if shown else parser(wanted).parse_args(given)
        if arguments is not None and arguments.integrate:
            return _integrate(arguments.integrate)
        if arguments is None or arguments.command is None:
            from gpuviz import app

            return app.main(wanted=shown)
        return int(arguments.run(arguments))
    except Error as error:
        err(f"gpuviz: {error}")
        return next((n for kind, n in _STATUS.items() if isinstance(error, kind)), 2)
    except KeyboardInterrupt:
        err("gpuviz: stopped")
        return 130
    except BrokenPipeError:
        return 0
    except Exception as error:
        return ending.told() or _mistake(error)


def _mistake(error: Exception) -> int:
    """Say that gpuviz itself failed, or this machine, in one line; details are for who asks."""
    failure = failure_of(error)
    if os.environ.get("GPUVIZ_DEBUG"):
        err(failure.details)
    if failure.expected:
        err(f"gpuviz: {failure.message}")
        return 3
    err(
        f"gpuviz: a mistake of gpuviz, not yours: {failure.message}. Set "
        "GPUVIZ_DEBUG=1 to see where, and report it"
    )
    return 2


def _integrate(choice: str) -> int:
    """Put gpuviz in the menu of the desktop or take it out, and say which files it took; 0."""
    from gpuviz import desktop
    from gpuviz.files.folders import LECTURE, RECORDING, TRACE

    done = desktop.integrate() if choice == "on" else desktop.withdraw()
    kinds = ", ".join((LECTURE, RECORDING, TRACE))
    if choice == "on":
        out(f"gpuviz is among the programs of this desktop, and opens {kinds}:")
    elif done.files:
        out(f"gpuviz is no longer among the programs of this desktop, nor opens {kinds}. Removed:")
    else:
        out("gpuviz was not among the programs of this desktop: nothing to undo")
    for file in done.files:
        out(f"  {file}")
    if done.lacking:
        err(
            f"gpuviz: {' and '.join(done.lacking)} could not be run: the desktop may know of this "
            "only after the next login (Debian: shared-mime-info, desktop-file-utils)"
        )
    return 0
