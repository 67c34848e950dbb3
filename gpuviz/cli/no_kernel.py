"""A file given as a kernel that gpuviz wrote itself: what it is, and what is wrong with it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gpuviz.base.errors import FormatError, InputError
from gpuviz.files import bounded
from gpuviz.files.folders import CAPTURE, KERNELS, LECTURE, RECORDING, TRACE

_LARGEST = 1 << 34  # bytes of a film, of which only the first are read here
_ZIP = b"PK\x03\x04"

# Readers are imported where a file is theirs: counting needs none of them.


def _trace(path: Path) -> object:
    from gpuviz.traces import file as trace_file

    return trace_file.load(path)


def _recording(path: Path) -> object:
    from gpuviz.recordings import recording

    return recording.read(path)


def _lecture(path: Path) -> object:
    from gpuviz.lectures.bundle import opened
    from gpuviz.run.session import Session

    return opened(path, Session())


def _view(path: Path) -> object:
    from gpuviz.export.reading import read_any

    return read_any(path)


@dataclass(frozen=True)
class _Kind:
    """What a file is called, and who reads it: FormatError where it is damaged."""

    called: str
    read: Callable[[Path], object]


def _capture(path: Path) -> object:
    from gpuviz.launch import capture

    return capture.unpacked(path)


_OWN = {
    TRACE: _Kind("a trace, a run that was saved", _trace),
    RECORDING: _Kind("a recording of what a GPU measured", _recording),
    LECTURE: _Kind("a lecture", _lecture),
    CAPTURE: _Kind("a capture, launches of a program", _capture),
}
_EXPORTED = _Kind("an exported view", _view)


def refuse(path: Path) -> None:
    """Let pass what may be a kernel. The suffix decides, and how a file begins.

    Raises
    ------
    InputError : the file is of another kind, and how it is opened; or it cannot be read
    FormatError : it is of another kind, and damaged
    """
    kind = _OWN.get(path.suffix.lower()) or _exported(path)
    if kind is None:
        return
    try:
        kind.read(path)
    except FormatError as error:
        raise FormatError(f"{error}; by its name it would be {kind.called}") from None
    raise InputError(
        f"{path} is {kind.called}, not a kernel: `gpuviz {path.name}` opens it; what is launched "
        f"is a file that ends with {', '.join(KERNELS)} or .cubin"
    )


def _exported(path: Path) -> _Kind | None:
    with bounded.opened(path, _LARGEST) as file:
        if file.read(len(_ZIP)) == _ZIP:
            return _zipped(path)
    if path.suffix.lower() in (*KERNELS, ".cubin"):
        return None
    from gpuviz.export.formats import FORMATS

    return _EXPORTED if path.suffix.lower() in {one.suffix for one in FORMATS} else None


def _zipped(path: Path) -> _Kind:
    """What a zip file is, whatever it is called."""
    from gpuviz.files.archive import form_of
    from gpuviz.recordings import recording
    from gpuviz.traces import file as trace_file

    named = {trace_file.FORM.name: _OWN[TRACE], recording.FORM.name: _OWN[RECORDING]}
    return named.get(form_of(path), _Kind("a zip file", _view))
