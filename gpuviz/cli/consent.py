"""What the user agrees to: kernels of strangers on the GPU, files that a lecture may read."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from gpuviz.files.allowed_paths import whole_name
from gpuviz.gpu.consent import Code, ConsentList, kept
from gpuviz.lectures import agreements
from gpuviz.words.language import english
from gpuviz.words.terminal import err, passing

OPTION = "--trust"


def settle(codes: Iterable[Code], trust: bool) -> tuple[ConsentList, tuple[Code, ...]]:
    """What the user agrees to, and what of these codes is not among it.

    On a terminal the user is asked, and a yes is remembered; elsewhere the answer is no.
    """
    agreed = kept()
    asked = tuple(code for code in dict.fromkeys(codes) if code.digest not in agreed)
    if not asked:
        return agreed, ()
    if trust:
        agreed.for_now(asked)
    elif _yes(asked):
        agreed.add(asked)
    return agreed, tuple(code for code in asked if code.digest not in agreed)


def refusal(codes: tuple[Code, ...]) -> str:
    """Why these do not run, and how they would."""
    names = ", ".join(dict.fromkeys(code.kernel for code in codes))
    files = ", ".join(dict.fromkeys(code.file for code in codes))
    return f"not run on the GPU: {names} from {files}, not agreed; {OPTION} agrees to it"


def _yes(codes: tuple[Code, ...]) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    files = ", ".join(dict.fromkeys(code.file for code in codes))
    head = english(
        "{files} brings a kernel of its own, which would run on the GPU:",
        "{files} brings {n} kernels of its own, which would run on the GPU:",
        len(codes),
        files=files,
    )
    err("\n".join([head, *(f"  {code.kernel}{code.launch}, {code.what}" for code in codes)]))
    passing("Run on the GPU? [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def agreed(arguments: argparse.Namespace, lecture: Path) -> frozenset[Path]:
    """What the user agrees to now, or has agreed to in the window."""
    return agreements.of(lecture) | allowed(arguments)


def allowed(arguments: argparse.Namespace) -> frozenset[Path]:
    """What the user agrees to now: that is also what a bundle may take along."""
    return frozenset(map(whole_name, arguments.allow))
