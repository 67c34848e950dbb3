"""Files of one form: a zip with a JSON manifest that names the form, and NumPy arrays.

Nothing in them is ever executed or unpickled.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from gpuviz import __version__, records
from gpuviz.arrays import Array
from gpuviz.errors import FormatError, InputError
from gpuviz.files import whole

Record = TypeVar("Record")
Arrays = dict[str, Array]

MANIFEST = "manifest.json"
# What reading a damaged zip or array raises; RuntimeError: one that claims to be encrypted.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    ValueError,
    KeyError,
    TypeError,
    EOFError,
    AttributeError,
    IndexError,
    RuntimeError,
    struct.error,
)


@dataclass(frozen=True)
class Form:
    """A form of files.

    Attributes
    ----------
    name : as the manifest has it
    version : the one that is written and read
    called : what people call such a file
    arrays : the member that holds the arrays
    largest : bytes that a file may unpack to
    """

    name: str
    version: int
    called: str
    arrays: str
    largest: int


def write(
    path: Path,
    form: Form,
    manifest: object,
    arrays: Mapping[str, Array],
    *,
    indent: int | None = None,
) -> None:
    """Write a file, whole or not at all. The manifest is a record.

    Raises
    ------
    InputError : the file cannot be written
    """
    head = {"format": form.name, "version": form.version, "gpuviz": __version__}
    said = records.text({**head, **records.plain(manifest)}, indent)
    packed = io.BytesIO()
    np.savez_compressed(packed, allow_pickle=False, **arrays)
    with whole(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, said)
        archive.writestr(form.arrays, packed.getvalue(), zipfile.ZIP_STORED)


@contextmanager
def opened(path: Path, form: Form, kind: type[Record]) -> Iterator[tuple[Record, Arrays]]:
    """The manifest of a file and its arrays; what goes wrong with them means it is damaged.

    Raises
    ------
    InputError : the file cannot be read
    FormatError : it is damaged, of another form, or of a newer gpuviz
    """
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(info.file_size for info in archive.infolist()) > form.largest:
                raise FormatError(f"{path} would unpack to more than {form.largest >> 20} MiB")
            name = f"{path} is damaged: {MANIFEST}"
            plain = records.parsed(archive.read(MANIFEST), name)
            _check(path, form, plain)
            manifest = records.record(plain, kind, name)
            arrays = _arrays(archive.read(form.arrays))
        yield manifest, arrays
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except _DAMAGE as error:
        raise FormatError(f"{path} is damaged, or no {form.called} of gpuviz: {error}") from None


def form_of(path: Path) -> str:
    """The name of a file's form, "" when it is no archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            plain = records.parsed(archive.read(MANIFEST), MANIFEST)
    except (FormatError, OSError, *_DAMAGE):
        return ""
    return str(plain.get("format", "")) if isinstance(plain, dict) else ""


def _check(path: Path, form: Form, plain: Any) -> None:
    if not isinstance(plain, dict) or plain.get("format") != form.name:
        raise FormatError(f"{path} is no {form.called} of gpuviz")
    if plain.get("version") != form.version:
        raise FormatError(
            f"{path} is a {form.called} of version {plain.get('version')}, written by gpuviz "
            f"{plain.get('gpuviz', '?')}; this gpuviz ({__version__}) reads version "
            f"{form.version}: update gpuviz"
        )


def _arrays(packed: bytes) -> Arrays:
    with np.load(io.BytesIO(packed), allow_pickle=False) as found:
        made = {name: found[name] for name in found.files}
    for array in made.values():
        array.setflags(write=False)
    return made
