"""Files read with a limit: what is larger than it can be, or never ends, is refused before it takes
memory.
"""

import errno
import os
import re
import stat
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

from gpuviz.base.errors import FormatError, InputError
from gpuviz.words.language import later, tr

MOST = 16 << 20  # bytes of a source, a lecture's record, a small file of ours
_STEP = 1 << 20  # bytes read at once
_WHY = {
    errno.ENOENT: later("No such file or directory"),
    errno.EACCES: later("Permission denied"),
    errno.EISDIR: later("Is a directory"),
}


@contextmanager
def opened(path: Path, most: int = MOST) -> Iterator[BufferedReader]:
    """A file to read from, of at most so many bytes when it is opened.

    Raises
    ------
    InputError : it cannot be read, or is none (a folder, a device, a pipe: these may wait or never
        end)
    FormatError : it is larger
    """
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise _unread(path, _no_file())
            if found.st_size > most:
                raise _too_large(path, most)
            yield file
    except OSError as error:
        number = error.errno or 0
        why = tr(_WHY[number]) if number in _WHY else error.strerror or str(error)
        raise _unread(path, why) from None
    except ValueError as error:
        if "null" not in str(error):  # a zero byte in a name
            raise
        raise InputError(f"cannot read {str(path)!r}: {error}") from None


def read(path: Path, most: int = MOST) -> bytes:
    """All that is in a file of at most so many bytes; InputError as `opened`."""
    parts, left = [], most
    with opened(path, most) as file:
        while piece := file.read(_STEP):  # of a file that grows, or of /proc, the size says little
            parts.append(piece)
            left -= len(piece)
            if left < 0:
                raise _too_large(path, most)
    return b"".join(parts)


def text(path: Path, most: int = MOST) -> str:
    """A text in UTF-8, whose signs that are none are replaced; InputError as `opened`."""
    decoded = read(path, most).decode("utf-8-sig", "replace")  # some editors write a BOM
    return decoded.replace("\r\n", "\n").replace("\r", "\n")


def amount(size: int) -> str:
    """So many bytes in words: `4 MiB`, `100 bytes`."""
    return f"{size >> 20:,} MiB" if size and not size % (1 << 20) else f"{size:,} bytes"


def _without_waiting(path: str, flags: int) -> int:
    """A pipe or a device is not even opened: that alone can wait, or have an effect. One that took
    the file's place since then does not hold it up.
    """
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise _unread(Path(path), _no_file())
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _no_file() -> str:
    return tr("it is a device or a pipe, not a file")


def _too_large(path: Path, most: int) -> FormatError:
    why = tr("it is larger than {amount}", amount=amount(most))
    return FormatError(tr("cannot read {file}: {why}", file=path, why=why))


def _unread(path: Path, why: object) -> InputError:
    return InputError(tr("cannot read {file}: {why}", file=path, why=why))


_PARTS = 40  # of a key, at most
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
# Such a key, or what may hold something like it and is none: a text, a comment.
_DOTTED = re.compile(
    rf"(?P<key>(?<![\w-])(?:{_PART}){{{_PARTS}}})"
    r"""|'{3}.*?(?:'{3}|\Z)|"{3}(?:\\.|[^\\])*?(?:"{3}|\Z)|'[^'\n]*+'|"(?:\\.|[^"\\\n])*+"|\#[^\n]*+""",
    re.DOTALL,
)


def toml_values(text: str) -> dict[str, Any]:
    """The values of a text.

    Raises
    ------
    TOMLDecodeError : it is no TOML, or has keys such as `a.a.a.a` of more than 40 parts
    ValueError, RecursionError : it has a number of thousands of digits, lists within such lists
    """
    found = next((found for found in _DOTTED.finditer(text) if found["key"]), None)
    if found is not None:
        line = text.count("\n", 0, found.start()) + 1
        raise tomllib.TOMLDecodeError(
            f"A name of more than {_PARTS} parts: take some out (at line {line}, column 1)"
        )
    return tomllib.loads(text)
