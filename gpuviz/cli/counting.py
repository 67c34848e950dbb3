"""How launches are counted on the command line: at which level, of which blocks, by whom."""

from __future__ import annotations

import argparse
import time
from typing import get_args

from gpuviz.base.waiting import TimeLeft
from gpuviz.cli.launch import add_engine, add_seconds, at_least_one
from gpuviz.ptx.options import Blocks, Options
from gpuviz.words.terminal import passing

_EVERY = 0.2  # seconds


class ProgressLine:
    """Tells of a fraction done, and of the time that is left."""

    def __init__(self) -> None:
        self._left = TimeLeft()
        self._told = time.monotonic()

    def __call__(self, fraction: float) -> None:
        """So much is done."""
        left, now = self._left.at(fraction), time.monotonic()
        if fraction >= 1:
            passing("")
        elif left and now - self._told >= _EVERY:
            self._told = now
            passing(f"emulating: {fraction:.0%}, about {left} left (Ctrl+C stops)")


HOW = get_args(Blocks)


def add_counting(parser: argparse.ArgumentParser) -> None:
    """The arguments that say how a launch is counted."""
    parser.add_argument(
        "--level",
        choices=("sass", "ptx"),
        default="sass",
        help="count what the assembler made of the code, or the PTX as written",
    )
    parser.add_argument(
        "--blocks",
        type=_blocks,
        default=Options.blocks,
        metavar="|".join((*HOW, "N")),
        help="emulate all blocks; one of each class of blocks that provably do the same (exact "
        "counts, at any size); a sample, to estimate from; N spread over the grid; auto, the "
        "default: all if there is time for it, else classes, else a sample",
    )
    add_engine(parser)
    add_seconds(parser)


def _blocks(text: str) -> int | str:
    return text if text in HOW else at_least_one(text)


def options_of(arguments: argparse.Namespace) -> Options:
    """What an engine is told; nothing is recorded or checked."""
    named = arguments.blocks in HOW
    return Options(
        record=(),
        blocks=arguments.blocks if named else "all",
        max_blocks=None if named else arguments.blocks,
        seconds=arguments.seconds,
        progress=ProgressLine(),
        engine=arguments.engine,
    )
