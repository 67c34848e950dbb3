"""Files of a manifest and arrays: there and back, refused with what is wrong with them."""

import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from gpuviz.base.errors import FormatError, InputError
from gpuviz.files import archive
from gpuviz.files.archive import Form, form_of, read

FORM = Form("gpuviz-test", 2, "test", "numbers.npz", 1 << 20)


@dataclass(frozen=True)
class Manifest:
    name: str
    rows: tuple[int, ...] = ()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    archive.write(tmp_path / "a", FORM, Manifest("x", (1, 2)), {"n": np.arange(3)})
    return tmp_path / "a"


def repacked(file: Path, manifest: str) -> Path:
    with zipfile.ZipFile(file) as old:
        arrays = old.read(FORM.arrays)
    with zipfile.ZipFile(file, "w") as new:
        new.writestr("manifest.json", manifest)
        new.writestr(FORM.arrays, arrays)
    return file


def test_there_and_back(file: Path) -> None:
    found = read(file, FORM, Manifest)
    assert found.manifest == Manifest("x", (1, 2))
    assert found.arrays["n"].tolist() == [0, 1, 2] and not found.arrays["n"].flags.writeable
    assert form_of(file) == "gpuviz-test"


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ("{", "is damaged: manifest.json: not JSON"),
        ("[]", "is no test of gpuviz"),
        ('{"format": "gpuviz-other"}', "is no test of gpuviz"),
        (
            '{"format": "gpuviz-test", "version": 3, "gpuviz": "9.9"}',
            "is a test of version 3, written by gpuviz 9.9; this gpuviz .* reads version 2: update",
        ),
        (
            '{"format": "gpuviz-test", "version": 2, "name": "x", "rows": [1, "2"]}',
            'a is damaged: manifest.json: rows/1: expected a whole number, got "2"',
        ),
    ],
)
def test_what_is_wrong_is_told(file: Path, manifest: str, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        read(repacked(file, manifest), FORM, Manifest)


def test_arrays_are_of_the_kind_and_shape_asked_for(file: Path) -> None:
    found = read(file, FORM, Manifest)
    assert found.array("n", np.int64, -1) is found.arrays["n"]
    with pytest.raises(FormatError, match="damaged: it holds no array 'absent'"):
        found.array("absent", np.int64, -1)
    with pytest.raises(FormatError, match=r"int64 and shape \(3,\), not of int32 and \(n,\)"):
        found.array("n", np.int32, -1)
    with pytest.raises(FormatError, match=r"not of int64 and \(n, 4\)"):
        found.array("n", np.int64, -1, 4)


def test_the_arrays_within_count_as_what_a_file_unpacks_to(tmp_path: Path) -> None:
    archive.write(tmp_path / "a", FORM, Manifest("x"), {"n": np.zeros(FORM.largest, np.uint8)})
    assert (tmp_path / "a").stat().st_size < 10_000
    with pytest.raises(FormatError, match="numbers.npz would unpack to more than"):
        read(tmp_path / "a", FORM, Manifest)


def test_a_file_that_would_unpack_to_too_much_is_refused(file: Path) -> None:
    small = Form(FORM.name, FORM.version, FORM.called, FORM.arrays, 100)
    with pytest.raises(FormatError, match="unpack to more than"):
        read(file, small, Manifest)


def test_what_is_no_archive_has_no_form(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("text")
    assert form_of(tmp_path / "a") == form_of(tmp_path / "absent") == ""
    with pytest.raises(InputError, match="cannot read"):
        read(tmp_path / "b", FORM, Manifest)
