"""What a bundle is unpacked to is never believed, never endless, and not needed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuviz.lectures import bundle
from gpuviz.lectures.bundle import folder_of

FILES = {"lecture": b"text", "kernels/k/k.cu": b"kernel", "kernels/k/deep/k.h": b"header"}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in ("XDG_CACHE_HOME", "WIN_PD_OVERRIDE_LOCAL_APPDATA"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setattr(bundle, "_held", {})
    return tmp_path


def unpack(files: dict[str, bytes] = FILES) -> Path:
    digest = hashlib.sha256(repr(files).encode()).hexdigest()[:20]
    return folder_of(digest, lambda: files.items())


def found(folder: Path) -> dict[str, bytes]:
    every = (file for file in folder.rglob("*") if not file.is_dir() or file.is_symlink())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in every}


def cut(folder: Path) -> None:
    (folder / "lecture").write_bytes(b"")


def change(folder: Path) -> None:
    (folder / "kernels/k/k.cu").write_bytes(b"another")


def remove(folder: Path) -> None:
    (folder / "kernels/k/k.cu").unlink()


def add(folder: Path) -> None:
    (folder / "kernels/k/stdint.h").write_bytes(b"found by an include")


def link(folder: Path) -> None:
    (folder / "kernels/k/k.cu").unlink()
    (folder.parent / "else").write_bytes(b"kernel")
    (folder / "kernels/k/k.cu").symlink_to(folder.parent / "else")


def link_a_folder(folder: Path) -> None:
    os.replace(folder / "kernels/k/deep", folder.parent / "deep")
    (folder / "kernels/k/deep").symlink_to(folder.parent / "deep")


def link_all(folder: Path) -> None:
    os.replace(folder, folder.parent / "all")
    folder.symlink_to(folder.parent / "all")


@pytest.mark.parametrize("spoil", [cut, change, remove, add, link, link_a_folder, link_all])
def test_what_was_changed_there_is_unpacked_again(spoil: Callable[[Path], None]) -> None:
    folder = unpack()
    assert found(folder) == FILES
    spoil(folder)
    again = unpack()
    assert again == folder and found(again) == FILES
    assert not any(file.is_symlink() for file in (again, *again.rglob("*")))


def test_what_is_as_it_was_is_not_written_again() -> None:
    before = (unpack() / "lecture").stat()
    assert (unpack() / "lecture").stat().st_ino == before.st_ino


def test_bundles_are_bounded_in_bytes_and_those_in_use_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bundle, "ROOM", 10_000)
    folders = [unpack({"a": bytes([n]) * 3000}) for n in range(3)]
    for number, folder in enumerate(folders):
        os.utime(folder, (number, number))
    assert all(folder.is_dir() for folder in folders)
    last = unpack({"a": bytes(9000)})
    assert all(folder.is_dir() for folder in (*folders, last))  # this process uses all
    for lock in bundle._held.values():
        lock.close()
    bundle._held.clear()
    another = unpack({"a": b"x" * 3000})
    left = [folder for folder in (*folders, last, another) if folder.is_dir()]
    assert another in left and folders[0] not in left and folders[1] not in left
    assert sum(len(file.read_bytes()) for folder in left for file in folder.iterdir()) <= 10_000


HOLD = """
import sys
from gpuviz.lectures.bundle import folder_of
print(folder_of("a" * 20, lambda: [("a", bytes(9000))]), flush=True)
sys.stdin.read()
"""


def test_what_another_process_uses_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "ROOM", 10_000)
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", HOLD], stdin=pipe, stdout=pipe, text=True) as it:
        assert it.stdin is not None and it.stdout is not None
        theirs = Path(it.stdout.readline().strip())
        os.utime(theirs, (1, 1))
        unpack({"a": bytes(9000)})
        assert theirs.is_dir()
        it.stdin.close()
    unpack({"b": bytes(9000)})
    assert not theirs.exists()


def test_what_was_begun_long_ago_goes(cache: Path) -> None:
    root = unpack().parent
    (root / "old.part").mkdir()
    (root / "new.part").mkdir()
    then = time.time() - 7200
    os.utime(root / "old.part", (then, then))
    unpack({"other": b""})
    assert not (root / "old.part").exists() and (root / "new.part").exists()


def test_without_a_cache_it_is_in_memory(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cache / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache / "file"))
    monkeypatch.setenv("WIN_PD_OVERRIDE_LOCAL_APPDATA", str(cache / "file"))
    folder = unpack()
    assert found(folder) == FILES and not folder.is_relative_to(cache)


def test_a_full_disk_leaves_nothing_half_done(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if path.is_relative_to(cache) and content == b"header":
            raise OSError(28, "No space left on device")
        return real(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    folder = unpack()
    assert found(folder) == FILES and not folder.is_relative_to(cache)
    assert not any(one.is_dir() for one in (cache / "gpuviz" / "lectures").iterdir())
