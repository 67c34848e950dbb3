"""`--allow FILE`: files outside of a lecture's folder that it may read all the same."""

from __future__ import annotations

import argparse
from pathlib import Path

from gpuviz.files.allowed_paths import whole_name
from gpuviz.lectures import agreements


def add_allow(parser: argparse.ArgumentParser) -> None:
    """Declare the argument."""
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="let the lecture read this file outside of its folder (may be given again)",
    )


def agreed(arguments: argparse.Namespace, lecture: Path) -> frozenset[Path]:
    """What the user agrees to now, or has agreed to in the window."""
    return agreements.of(lecture) | allowed(arguments)


def allowed(arguments: argparse.Namespace) -> frozenset[Path]:
    """What the user agrees to now: that is also what a bundle may take along."""
    return frozenset(map(whole_name, arguments.allow))
