"""The options of subcommands, as the table of texts has them: a row each, what takes which value,
and what it is for. A row that says nothing more is an option that several subcommands have.
"""

import argparse
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any, NoReturn, get_args

from gpuviz.base.errors import InputError
from gpuviz.cli.texts import COMMANDS, GROUPS, SHARED
from gpuviz.compile.compiler import Compiler
from gpuviz.ptx.options import Blocks, Engine, Options
from gpuviz.traces.check_table import CHECKS, chosen
from gpuviz.words.language import ENGLISH, languages

Kind = Mapping[str, Any]  # what argparse is told of an option besides its row
HOW = get_args(Blocks)


def declare(parser: argparse.ArgumentParser, command: str, **kinds: Kind) -> None:
    """Give a parser the options of a command.

    `--name VALUE` takes a value, which a kind may convert; `VALUE...` may be given again; without a
    value an option is one of the choices of its kind, or else it is said or not.
    """
    for said, help in _parted(_opened(COMMANDS[command].options)):
        key = _key(said)
        kind = kinds.get(key, {})
        if said == f"--{key.replace('_', '-')}" and not help and key in _ROWS:
            (said, help), kind = _ROWS[key], {**_KINDS.get(key, {}), **kind}
        names = [word.rstrip(",") for word in said.split() if word.startswith("-")]
        values = [word for word in said.split() if not word.startswith("-")]
        option: dict[str, Any] = {"help": help or None}
        if len(values) > 1:
            option |= {"nargs": len(values), "metavar": tuple(values)}
        elif values:
            option["metavar"] = values[0].removesuffix("...")
            option |= {"action": "append", "default": []} if values[0].endswith("...") else {}
        elif "choices" not in kind:
            option["action"] = "store_true"
        parser.add_argument(*names, **{**option, **kind})


def declare_launch(parser: argparse.ArgumentParser, command: str, **kinds: Kind) -> None:
    """Those of a command that takes a LAUNCH."""
    parser.add_argument("file", nargs="?", metavar="FILE", help="a .cu or .ptx file")
    declare(parser, command, launch={"type": int}, **kinds)


def _opened(rows: str) -> str:
    """Rows with those of each group in place of its name."""
    return re.sub(r"(?m)^@(\w+)$", lambda found: _opened(GROUPS[found[1]]).strip(), rows)


def launch_of_words(words: Sequence[str], command: str) -> argparse.Namespace:
    """A LAUNCH given in words, with the options of a command; InputError sends to its help."""
    parser = _Parser(prog=f"gpuviz {command}", add_help=False)
    declare_launch(parser, command)
    return parser.parse_args(list(words))


class _Parser(argparse.ArgumentParser):
    """Complains in one line."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message} (see {self.prog} --help)")


def _parted(rows: str) -> list[tuple[str, str]]:
    """Of each row what is said of an option, and its help."""
    found = (row.partition("  ") for row in re.split(r"\n+(?=-)", rows.strip()))
    return [(said, " ".join(help.split())) for said, _, help in found]


def _key(said: str) -> str:
    """`dynamic_shared` of `--dynamic-shared BYTES`."""
    found = re.search(r"--([\w-]+)", said)
    assert found is not None, said
    return found[1].replace("-", "_")


def at_least_one(text: str) -> int:
    """A whole number from 1 up."""
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return int(text)


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return value


def _blocks(text: str) -> int | str:
    return text if text in HOW else at_least_one(text)


LEVEL: Kind = {"choices": ("sass", "ptx"), "default": "sass"}
_NAMED = {
    "ways": "|".join((*HOW, "N")),
    "checks": ",".join(CHECKS),
    "found": "; ".join(f"{name} ({check.finds})" for name, check in CHECKS.items()),
}
_ROWS = {_key(said): (said, help) for said, help in _parted(Template(SHARED).substitute(_NAMED))}
_FOREVER: Kind = {"dest": "seconds", "action": "store_const", "const": math.inf}
_KINDS: Mapping[str, Kind] = {
    "allow": {"type": Path},
    "arch": {"default": "sm_90"},
    "assert": {"dest": "claims"},
    "baseline": {"type": Path},
    "blocks": {"type": _blocks, "default": Options.blocks},
    "budget": {"dest": "seconds", "type": _seconds, "default": Options.seconds},
    "check": {"type": chosen},
    "compiler": {"choices": get_args(Compiler), "default": "auto"},
    "device": {"type": int, "default": 0},
    "engine": {"choices": get_args(Engine), "default": Options.engine},
    "go_on": {**_FOREVER, "default": Options.seconds},
    "include": {"type": Path},
    "junit": {"type": Path},
    "language": {"choices": languages(), "default": ENGLISH},
    "level": LEVEL,
    "repeat": {"type": at_least_one, "default": 100},
    "summary": {"type": Path},
}
