"""Files of a manifest and arrays: there and back, refused with what is wrong with them."""

import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from gpuviz import archive
from gpuviz.archive import Form, form_of, opened
from gpuviz.errors import FormatError, InputError

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
    with opened(file, FORM, Manifest) as (manifest, arrays):
        assert manifest == Manifest("x", (1, 2))
        assert arrays["n"].tolist() == [0, 1, 2] and not arrays["n"].flags.writeable
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
    with pytest.raises(FormatError, match=said), opened(repacked(file, manifest), FORM, Manifest):
        pass


def test_what_its_reader_does_not_find_means_damage(file: Path) -> None:
    with pytest.raises(FormatError, match="damaged"), opened(file, FORM, Manifest) as (_, arrays):
        arrays["absent"]


def test_a_file_that_would_unpack_to_too_much_is_refused(file: Path) -> None:
    small = Form(FORM.name, FORM.version, FORM.called, FORM.arrays, 100)
    with pytest.raises(FormatError, match="unpack to more than"), opened(file, small, Manifest):
        pass


def test_what_is_no_archive_has_no_form(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("text")
    assert form_of(tmp_path / "a") == form_of(tmp_path / "absent") == ""
    with pytest.raises(InputError, match="cannot read"), opened(tmp_path / "b", FORM, Manifest):
        pass
