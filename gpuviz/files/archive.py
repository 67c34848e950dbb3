"""Files of one form: a zip with a JSON manifest that names the form, and NumPy arrays.

Nothing in them is ever executed or unpickled.
"""

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from gpuviz import __version__
from gpuviz.base import records
from gpuviz.base.arrays import Array
from gpuviz.base.errors import Error, FormatError
from gpuviz.files import bounded, npy, zips
from gpuviz.files.writing import whole
from gpuviz.words.language import tr

Record = TypeVar("Record")
Arrays = Mapping[str, Array]

MANIFEST = "manifest.json"
_MANIFEST_MOST = 32 << 20  # bytes of it
_ANY = 1 << 31  # bytes that a file of any form may unpack to


@dataclass(frozen=True)
class Form:
    """A form of files."""

    name: str  # as the manifest has it
    version: int  # the one that is written and read
    called: str  # what people call such a file
    arrays: str  # the member that holds the arrays
    largest: int  # bytes that a file may unpack to


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
        # Without the time of day, so that the same content is the same file.
        archive.writestr(zipfile.ZipInfo(MANIFEST), said, zipfile.ZIP_DEFLATED)
        archive.writestr(zipfile.ZipInfo(form.arrays), packed.getvalue(), zipfile.ZIP_STORED)


@dataclass(frozen=True, eq=False)
class Content(Generic[Record]):
    """What is in a file: its manifest, and arrays that nobody has looked at yet."""

    path: Path
    manifest: Record
    arrays: Arrays

    def array(self, name: str, kind: type[np.generic], *shape: int) -> Array:
        """An array of that kind of number and that shape; -1 stands for any length.

        Raises
        ------
        FormatError : there is none, or it is another
        """
        found = self.arrays.get(name)
        if found is None:
            raise self.damaged(f"it holds no array {name!r}")
        fits = len(found.shape) == len(shape) and all(
            wanted in (-1, length) for wanted, length in zip(shape, found.shape, strict=True)
        )
        if found.dtype != kind or not fits:
            raise self.damaged(
                f"{name} is an array of {found.dtype} and shape {found.shape}, not of "
                f"{np.dtype(kind)} and {str(shape).replace('-1', 'n')}"
            )
        return found

    def damaged(self, why: str) -> FormatError:
        """The error for what does not fit together."""
        return FormatError(tr("{file} is damaged: {why}", file=self.path, why=why))


def read(path: Path, form: Form, kind: type[Record]) -> Content[Record]:
    """What is in a file.

    Raises
    ------
    InputError : the file cannot be read
    FormatError : it is damaged, of another form, or of a newer gpuviz
    """
    with zips.opened(path, form.largest) as archive:
        name = f"{path} is damaged: {MANIFEST}"
        plain = _manifest(archive, name)
        _check(path, form, plain)
        manifest = records.record(plain, kind, name)
        packed = archive.read(form.arrays)
        left = form.largest - sum(archive.sizes.values())
    arrays = npy.read_all(packed, f"{path} is damaged: {form.arrays}", left)
    return Content(path, manifest, arrays)


def form_of(path: Path) -> str:
    """The name of a file's form, "" when it is no archive."""
    try:
        with zips.opened(path, _ANY) as archive:
            plain = _manifest(archive, MANIFEST)
    except Error:
        return ""
    return str(plain.get("format", "")) if isinstance(plain, dict) else ""


def _manifest(archive: zips.Zip, name: str) -> Any:
    if archive.sizes.get(MANIFEST, 0) > _MANIFEST_MOST:
        raise FormatError(f"{name}: it is larger than {bounded.amount(_MANIFEST_MOST)}")
    return records.parsed(archive.read(MANIFEST), name)


def _check(path: Path, form: Form, plain: Any) -> None:
    if not isinstance(plain, dict) or plain.get("format") != form.name:
        raise FormatError(tr("{file} is no {form} of gpuviz", file=path, form=tr(form.called)))
    if plain.get("version") != form.version:
        raise FormatError(
            tr(
                "{file} is a {form} of version {version}, written by gpuviz {by}; this gpuviz "
                "({own}) reads version {known}: update gpuviz",
                file=path,
                form=tr(form.called),
                version=plain.get("version"),
                by=plain.get("gpuviz", "?"),
                own=__version__,
                known=form.version,
            )
        )
