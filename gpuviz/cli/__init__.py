"""The `gpuviz` command: no subcommand opens the window, on a link or a file if one is named; each
subcommand is one file here.

Exit status: 0 done; 1 the answer is no (counts differ, something is unsupported); 2 an error, told
in one message on stderr; 3 this machine lacks something (a GPU, a compiler, a system library).
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from gpuviz import __version__
from gpuviz.cli import check, count, device, lessons, present, record, render, run, verify
from gpuviz.cli.link_or_file import link_or_file
from gpuviz.errors import Error, InputError, UnavailableError

COMMANDS = (lessons, count, check, render, present, verify, run, device, record)


class _Parser(argparse.ArgumentParser):
    """Complains in one line, as all other errors are told."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message} (see {self.prog} --help)")


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    root = _Parser(
        prog="gpuviz",
        description="See what a GPU's memory system makes of a real CUDA kernel. "
        "Without a command the window opens. `gpuviz LINK` opens it with a view that was copied as "
        "a link, `gpuviz FILE` with that of an exported picture, or with a kernel (.cu, .ptx).",
    )
    root.add_argument("--version", action="version", version=f"gpuviz {__version__}")
    commands = root.add_subparsers(dest="command", metavar="COMMAND")
    for module in COMMANDS:
        sub = commands.add_parser(
            module.NAME,
            help=module.HELP,
            description=module.HELP,
            epilog=module.EXAMPLE,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)
    return root


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status."""
    try:
        given = sys.argv[1:] if argv is None else argv
        shown = link_or_file(given, [module.NAME for module in COMMANDS])
        arguments = None if shown else parser().parse_args(given)
        if arguments is None or arguments.command is None:
            from gpuviz import app

            return app.main(wanted=shown)
        return int(arguments.run(arguments))
    except UnavailableError as error:
        print(f"gpuviz: {error}", file=sys.stderr)
        return 3
    except Error as error:
        print(f"gpuviz: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("gpuviz: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except Exception as error:
        return _mistake(error)


def _mistake(error: Exception) -> int:
    """Say that gpuviz itself failed, in one line; the details are for who asks for them."""
    if os.environ.get("GPUVIZ_DEBUG"):
        traceback.print_exception(error)
    print(
        f"gpuviz: a mistake of gpuviz, not yours: {type(error).__name__}: {error}. Set "
        "GPUVIZ_DEBUG=1 to see where, and report it",
        file=sys.stderr,
    )
    return 2
