"""The one place from which text goes to the terminal: what is in it is shown, never obeyed.

A message may repeat what stands in a stranger's file, and a kernel prints what it likes: sequences
that would colour, clear or retitle the terminal, or type into it, are written as `\\x1b[31m`.
"""

import os
import re
import sys
from contextlib import suppress
from typing import TextIO

from gpuviz.base.errors import InputError

_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"  # but ends of lines and tabs
_TURNS = "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"  # of the reading direction, and lines
_HALVES = "\ud800-\udfff"  # of characters, as which names of files come that are no text
_OBEYED = re.compile(f"[{_CONTROLS}{_TURNS}{_HALVES}]")


def visible(text: str) -> str:
    """A text with what a terminal would obey written out: `\\x1b`, `\\u202e`."""
    return _OBEYED.sub(_written, text.replace("\r\n", "\n"))


def _written(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no text
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def out(text: str) -> None:
    """A line, or several, of what was asked for.

    Raises
    ------
    InputError : it cannot be written, as to a full disk
    BrokenPipeError : nobody reads it any more
    """
    try:
        _write(sys.stdout, visible(text) + "\n")
    except OSError as error:
        forget()
        if isinstance(error, BrokenPipeError):
            raise
        raise InputError(f"cannot write what was asked for: {error.strerror}") from None


def err(text: str) -> None:
    """A line, or several, about it; for nobody where that cannot be written."""
    with suppress(OSError):
        _write(sys.stderr, visible(text) + "\n")


def passing(text: str) -> None:
    """A line that the next one takes the place of, for who is watching; nobody else gets it."""
    if sys.stderr is not None and sys.stderr.isatty():
        with suppress(OSError):
            _write(sys.stderr, f"\r\x1b[K{visible(text)}")


def passed() -> None:
    """The passing line stays, and what comes next begins a new one."""
    if sys.stderr is not None and sys.stderr.isatty():
        err("")


def forget() -> None:
    """What could not be written is not to be tried again by Python when it ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write(stream: TextIO | None, text: str) -> None:
    """Signs that the terminal's encoding lacks are written out, too."""
    if stream is None:  # a program of Windows without a terminal
        return
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()
