"""Zip files that lie, or that would unpack to too much."""

import io
import resource
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuviz.base.errors import FormatError
from gpuviz.files import zips

MIB = 1 << 20


@pytest.fixture
def little_memory() -> Iterator[None]:
    """No more than 400 MB above what there is."""
    kept = resource.getrlimit(resource.RLIMIT_AS)
    rows = Path("/proc/self/status").read_text().splitlines()
    used = next(int(row.split()[1]) for row in rows if row.startswith("VmSize:")) << 10
    resource.setrlimit(resource.RLIMIT_AS, (used + 400 * MIB, kept[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, kept)


def packed(path: Path, *members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def lying(file: Path, size: int) -> Path:
    """The zip with another size of its (only) member in its table of contents and before it."""
    data = bytearray(file.read_bytes())
    for mark, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(mark) + place
        data[at : at + 4] = struct.pack("<I", size)
    file.write_bytes(data)
    return file


def test_reads(tmp_path: Path) -> None:
    with zips.opened(packed(tmp_path / "z", ("a", b"one"), ("b/c", b"two")), MIB) as found:
        assert found.sizes == {"a": 3, "b/c": 3}
        assert found.read("a") == b"one"
        with found.opened("b/c") as file:
            assert file.read(2) == b"tw"


@pytest.mark.parametrize(
    ("most", "count", "said"), [(5, 9, "more than 5 bytes"), (99, 1, "holds 2 files; at most 1")]
)
def test_what_unpacks_to_too_much_is_refused(
    tmp_path: Path, most: int, count: int, said: str
) -> None:
    file = packed(tmp_path / "z", ("a", b"one"), ("b", b"two"))
    with pytest.raises(FormatError, match=said), zips.opened(file, most, count):
        pass


@pytest.mark.slow
def test_a_member_that_is_larger_than_it_says_is_cut_there(
    tmp_path: Path, little_memory: None
) -> None:
    """It would unpack to 512 MiB."""
    parts = (bytes(64 * MIB) for _ in range(8))
    with (
        zipfile.ZipFile(tmp_path / "z", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a", "w") as file,
    ):
        for part in parts:
            file.write(part)
    file = lying(tmp_path / "z", 10)
    with pytest.raises(FormatError, match="damaged, .*: Bad CRC"), zips.opened(file, MIB) as found:
        found.read("a")


def test_one_that_is_smaller_is_damaged(tmp_path: Path) -> None:
    file = lying(packed(tmp_path / "z", ("a", b"one")), 1000)
    with pytest.raises(FormatError, match="damaged"), zips.opened(file, MIB) as found:
        found.read("a")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_unpacks_without_a_limit_is_not_read(tmp_path: Path, method: int) -> None:
    file = packed(tmp_path / "z", ("a", bytes(9)), method=method)
    with pytest.raises(FormatError, match="packed in a way"), zips.opened(file, MIB):
        pass


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_is_held_once(tmp_path: Path) -> None:
    file = packed(tmp_path / "z", ("a", b"one"), ("a", b"two"))
    with pytest.raises(FormatError, match="holds 'a' twice"), zips.opened(file, MIB):
        pass


def test_a_table_of_contents_of_millions_of_names_is_not_read(tmp_path: Path) -> None:
    content = bytes(3 * MIB)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 9, 9, len(content), 0, 0)
    (tmp_path / "z").write_bytes(content + end)
    with (
        pytest.raises(FormatError, match="table of contents"),
        zips.opened(tmp_path / "z", 9 * MIB),
    ):
        pass


@pytest.mark.parametrize("content", [b"", b"PK", b"text", b"PK\x05\x06" + bytes(17)])
def test_what_is_no_zip_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "z").write_bytes(content)
    with pytest.raises(FormatError, match="z is damaged, or of"), zips.opened(tmp_path / "z", MIB):
        pass


def test_what_is_not_in_it_is_told(tmp_path: Path) -> None:
    file = io.BytesIO(packed(tmp_path / "z", ("a", b"")).read_bytes())
    with pytest.raises(FormatError, match="no item named 'b'"), zips.within(file, "z", 9) as found:
        found.read("b")
