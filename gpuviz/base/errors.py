"""The errors gpuviz raises on purpose: one sentence that names the thing, the value and the remedy.

Error
├── InputError           a bad argument, file or launch given by the user
│   ├── Elsewhere        a file that names others outside of its own folder
│   ├── LaunchError      a launch that no device would accept, or whose arguments do not fit
│   └── FormatError      a file that is damaged, foreign or newer than this program
├── CompileError         CUDA C that does not compile (has the diagnostics)
├── UnsupportedError     PTX that the emulator does not execute (names opcode, PTX and CUDA line)
├── KernelFault          the kernel itself did something illegal, or never ends
├── UnavailableError     something this machine lacks (a compiler, a GPU, a permission)
└── Cancelled            the caller asked to stop
"""

import errno
import re
from dataclasses import dataclass
from pathlib import Path

_LONGEST = 4000  # letters of a message
_WORD = 300  # letters of it without a space between
_LONG_WORD = re.compile(rf"\S{{{_WORD},}}")


def shortened(text: str) -> str:
    """A message without the middle of what is too long in it: it may repeat what a file says."""
    text = _LONG_WORD.sub(lambda found: _middle_out(found[0], _WORD), text)
    return text if len(text) <= _LONGEST else _middle_out(text, _LONGEST)


def _middle_out(text: str, most: int) -> str:
    return f"{text[: most * 2 // 3]} … {text[-most // 3 :]}"


class Error(Exception):
    """Any error with a message meant for the user; never a long one."""

    def __init__(self, message: str = "") -> None:
        """Keep the message, `shortened`."""
        super().__init__(shortened(message))


class InputError(Error):
    """A bad argument, file or launch given by the user."""


class Elsewhere(InputError):
    """Files outside of the folder of the one that names them; its reader has not agreed to them."""

    def __init__(self, what: str, files: tuple[Path, ...]) -> None:
        """`what` names the files, by their whole names."""
        names = ", ".join(map(str, files))
        super().__init__(
            f"{what} reads {names}, outside of its lecture's folder. If you know what that is, "
            "agree to it (in the window when the lecture is opened, elsewhere with --allow FILE)"
        )
        self.files = files


class LaunchError(InputError):
    """A launch that no device would accept, or whose arguments do not fit its parameters."""


class FormatError(InputError):
    """A file that is damaged, foreign or newer than this program."""


class UnsupportedError(Error):
    """PTX that the emulator does not execute."""


class KernelFault(Error):
    """An illegal access, a broken barrier or an endless loop in the kernel that runs.

    `finding` is a `gpuviz.traces.trace.Finding` where a check would report it, too; None else.
    `others` are findings of what the kernel did before, which may be why it came to this.
    """

    def __init__(self, message: str, finding: object = None) -> None:
        super().__init__(message)
        self.finding = finding
        self.others: tuple[object, ...] = ()


class UnavailableError(Error):
    """Something this machine lacks."""


class Cancelled(Error):
    """The caller asked to stop."""


@dataclass(frozen=True, eq=False)
class Failure:
    """Why a performance failed: a sentence, and what a developer needs to know of it.

    `expected`: gpuviz raised it on purpose; `elsewhere` are files that the user may agree to.
    """

    message: str
    details: str
    expected: bool
    elsewhere: tuple[Path, ...] = ()


def failure_of(error: BaseException) -> Failure:
    """An exception as something to show."""
    import traceback  # of no use to most commands

    details = "".join(traceback.format_exception(error))
    if lack := _lack(error):
        error = UnavailableError(lack)
    if isinstance(error, Error):
        return Failure(str(error), details, True, getattr(error, "files", ()))
    return Failure(f"{type(error).__name__}: {error}", details, expected=False)


_NO_ROOM = "a temporary file cannot be written ({why}): make room, or set TMPDIR to another folder"
_NO_FILES = "too many files are open at once ({why}): let this user open more (ulimit -n)"
_NO_PROCESS = "no further process can be started ({why}): let this user have more (ulimit -u)"
_LACKS = {
    errno.ENOSPC: _NO_ROOM,
    errno.EDQUOT: _NO_ROOM,
    errno.EFBIG: _NO_ROOM,
    errno.EROFS: _NO_ROOM,
    errno.EMFILE: _NO_FILES,
    errno.ENFILE: _NO_FILES,
    errno.EAGAIN: _NO_PROCESS,
}


def _lack(error: BaseException) -> str:
    """What the machine lacks, where that is what an exception tells of; else ""."""
    said = str(error)
    if isinstance(error, MemoryError) or "failed to map segment" in said:  # of a library
        return "this machine has too little free memory for that"
    if "can't start new thread" in said:
        return _NO_PROCESS.format(why=said)
    if not isinstance(error, OSError):
        return ""
    no_folder = _NO_ROOM if "No usable temporary directory" in said else ""
    return _LACKS.get(error.errno or 0, no_folder).format(why=error.strerror)
