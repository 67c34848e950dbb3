"""The options of subcommands, written as help shows them: a row each, what takes which value, and
what it is for. A row that says nothing more is an option that several subcommands have.
"""

import argparse
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, get_args

from gpuviz.base.errors import InputError
from gpuviz.compile.compiler import Compiler
from gpuviz.ptx.options import Blocks, Engine, Options
from gpuviz.traces.check_table import CHECKS, chosen
from gpuviz.words.language import ENGLISH, languages

Kind = Mapping[str, Any]  # what argparse is told of an option besides its row
HOW = get_args(Blocks)

_CHECKS = "; ".join(f"{name} ({check.finds})" for name, check in CHECKS.items())
_SHARED = f"""
--allow FILE...         let the lecture read this file outside of its folder (may be given again)
--arch sm_XX            architecture to compile for and to count by (default %(default)s)
--annotate              print commands that make GitHub show each failed assertion at its line, and
                        add a summary to the page of the job (where GITHUB_STEP_SUMMARY names one)
--assert CLAIM...       what has to be so, over counts by their names: 'shared_conflicts == 0',
                        'global_load_sectors <= 1.1 * global_load_sectors_ideal', 'races == 0',
                        'line(12).shared_conflicts == 0', 'time_us < 30' (may be given again; status
                        1 when one is not)
--arg SPEC...           once for each parameter, in order, or NAME=SPEC: f32[n]=rand, rand(n*m),
                        @file.npy for a buffer; i32=7, 7, n*m for a scalar; {{n=4, data=rand(n)}}
                        for a structure
--baseline FILE         assert the counts pinned in this file
--blocks {"|".join((*HOW, "N"))}  emulate all blocks; one of each class of blocks that provably do
                        the same (exact counts, at any size); a sample, to estimate from; N spread
                        over the grid; auto, the default: all if there is time for it, else classes,
                        else a sample
--budget SECONDS        how long emulating a launch may take (default %(default)s)
--check NAME[,NAME]     what to look for: all, none, or some of {",".join(CHECKS)}: {_CHECKS}.
                        Without it all are looked for in launches that NumPy runs, and none in large
                        ones that the compiled engine takes. What is found is told on stderr; errors
                        make the exit status 1
--compiler              auto: NVRTC, with host code set aside; nvcc: the whole file (default
                        %(default)s)
--define, -D K=V...     a macro for the compiler
--device N              number of the GPU, from 0 (default %(default)s)
--dynamic-shared BYTES  dynamic shared memory of a block
--engine                emulate with machine code made of the PTX, or with NumPy; what the compiled
                        engine does not take goes to NumPy; auto: by the size of the launch (default
                        %(default)s)
--go-on                 count all blocks, however long it takes: what a budget ended goes on
--include, -I FOLDER...  where headers are, besides the file's own tree
--json                  print JSON
--junit FILE            write the assertions as a JUnit report
--language              language of the texts (default %(default)s)
--level                 count what the assembler made of the code, or the PTX as written
--option FLAG...        an option of the compiler, as in --option=-use_fast_math or
                        --option=-std=c++20
--repeat N              launches to time (default %(default)s)
--scene ID              a lesson (see gpuviz list)
--set K=V...            a parameter of the lesson; of a FILE a __constant__ or __device__ variable,
                        or a name that sizes and arguments use
--summary FILE          write the assertions as a page of Markdown
--trust                 run the kernels that the file brings on the GPU, unasked: they can do there
                        what they like
--update-baseline       pin the counts anew in place of comparing them
"""
BUILDING = """
--define
--include
--option
--compiler
"""
LAUNCH = f"""
--entry NAME            kernel to launch (default: the only one)
--grid X[,Y[,Z]]        blocks of the grid; may be ceil(n / block.x)
--block X[,Y[,Z]]       threads of a block
--dynamic-shared
--cluster X[,Y[,Z]]     blocks of a cluster, of a kernel compiled without __cluster_dims__ (sm_90)
--launch LINE           the launch that the file's host code makes at this line: kernel, grid, block
{BUILDING}
--arg
--scene
--set
--arch
"""
EMULATING = """
--engine
--budget
--go-on
"""
ASSERTING = """
--assert
--baseline
--update-baseline
--junit
--summary
--annotate
"""
COUNTING = f"""
--level
--blocks
{EMULATING}
"""


def declare(parser: argparse.ArgumentParser, rows: str, **kinds: Kind) -> None:
    """Give a parser the options of some rows.

    `--name VALUE` takes a value, which a kind may convert; `VALUE...` may be given again; without a
    value an option is one of the choices of its kind, or else it is said or not.
    """
    for said, help in _parted(rows):
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


def declare_launch(parser: argparse.ArgumentParser, rows: str = "", **kinds: Kind) -> None:
    """Those that make a LAUNCH, and these."""
    parser.add_argument("file", nargs="?", metavar="FILE", help="a .cu or .ptx file")
    declare(parser, LAUNCH + rows, launch={"type": int}, **kinds)


def launch_of_words(words: Sequence[str], rows: str, program: str) -> argparse.Namespace:
    """A LAUNCH given in words, with these options besides; InputError sends to the help of
    `program`.
    """
    parser = _Parser(prog=program, add_help=False)
    declare_launch(parser, rows)
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
_ROWS = {_key(said): (said, help) for said, help in _parted(_SHARED)}
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
