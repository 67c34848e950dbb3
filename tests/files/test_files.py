"""Files are written whole or not at all, with the permissions that the user's files have."""

import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuviz.base.errors import InputError
from gpuviz.files.writing import check_place, make_folder, whole, write

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_content_is_replaced_whole(tmp_path: Path) -> None:
    file = tmp_path / "a"
    for content in ("first ñ", b"second"):
        write(file, content)
        assert file.read_bytes() == (content.encode() if isinstance(content, str) else content)
        assert os.listdir(tmp_path) == ["a"]


@POSIX
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_permissions_of_new_files(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        write(tmp_path / "a", "x")
    finally:
        os.umask(before)
    assert mode(tmp_path / "a") == 0o666 & ~mask


@POSIX
@pytest.mark.parametrize("kept", [0o600, 0o644, 0o666, 0o755])
def test_a_file_keeps_its_permissions(tmp_path: Path, kept: int) -> None:
    (tmp_path / "a").touch()
    (tmp_path / "a").chmod(kept)
    write(tmp_path / "a", "x")
    assert mode(tmp_path / "a") == kept


def linked(place: Path, target: str) -> Path:
    try:
        place.symlink_to(target)
    except OSError:
        pytest.skip("links cannot be made here")
    return place


def test_a_link_stays_and_its_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("old")
    first = linked(tmp_path / "first", "there/file")
    second = linked(tmp_path / "second", "first")
    write(second, "new")
    assert first.is_symlink() and second.is_symlink()
    assert (tmp_path / "there" / "file").read_text() == "new"
    assert os.listdir(tmp_path / "there") == ["file"]


def test_a_link_to_what_is_not_there_yet_makes_it(tmp_path: Path) -> None:
    write(linked(tmp_path / "link", "new"), "x")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "new").read_text() == "x"


@pytest.mark.parametrize("error", [ValueError("broken"), KeyboardInterrupt()])
def test_what_breaks_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, error: BaseException
) -> None:
    write(tmp_path / "a", "old")
    with pytest.raises(type(error)), whole(tmp_path / "a") as file:
        file.write(b"half")
        raise error
    assert (tmp_path / "a").read_text() == "old" and os.listdir(tmp_path) == ["a"]


def test_what_cannot_be_written_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    for place in ("folder", "none/a", "file/a", "x" * 300):
        with pytest.raises(InputError, match=f"cannot write .*{place[:40]}"):
            write(tmp_path / place, "x")
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]
    with pytest.raises(InputError, match="cannot write"), whole(tmp_path / "a"):
        raise OSError(28, "No space left on device")
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


def left(folder: Path, hold: bool = False, then: float = 1.0) -> str:
    """What a process leaves that is killed while it writes into a folder, or has there still."""
    code = """
import os, sys
from collections.abc import Callable
from pathlib import Path
from gpuviz.files.writing import whole
with whole(Path(sys.argv[1]) / "film") as file:
    file.write(b"half")
    file.flush()
    print(flush=True)
    sys.stdin.read()
    os._exit(9)
"""
    with subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        (name,) = (file.name for file in folder.glob(".*.part"))
        os.utime(folder / name, (1, 1))
        if hold:
            write(folder / "a", "x")
            assert (folder / name).exists(), "another process is writing it"
        process.kill()
    return name


def test_what_a_killed_process_was_writing_is_removed_by_the_next(tmp_path: Path) -> None:
    name = left(tmp_path, hold=True)
    (tmp_path / "mine.part").touch()
    assert (tmp_path / name).exists()
    write(tmp_path / "b", "x")
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "mine.part"]


@pytest.mark.parametrize("use", [lambda folder: check_place(folder / "a"), make_folder])
def test_it_is_removed_before_the_next_begins_to_work(
    use: Callable[[Path], None], tmp_path: Path
) -> None:
    left(tmp_path, hold=False)
    left(tmp_path, hold=False, then=time.time() + 1e6)  # the clock was set back since
    use(tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_missing_folder_is_named_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder .*none; make it first"):
        write(tmp_path / "none" / "a", "x")
    assert os.listdir(tmp_path) == []


def test_folders_are_made_when_asked_for(tmp_path: Path) -> None:
    write(tmp_path / "new" / "deep" / "a", "x", parents=True)
    assert (tmp_path / "new" / "deep" / "a").read_text() == "x"
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write"):
        write(tmp_path / "file" / "a", "x", parents=True)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_what_is_no_file_is_written_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write(pipe, "through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode) and os.listdir(tmp_path) == ["pipe"]
