"""What can be made again is kept within bounds, whatever happens to the disk meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpuviz.files import disk_cache
from gpuviz.files.disk_cache import DiskCache, Kept, surplus


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DiskCache:
    for variable in ("XDG_CACHE_HOME", "WIN_PD_OVERRIDE_LOCAL_APPDATA"):
        monkeypatch.setenv(variable, str(tmp_path))
    return DiskCache("some", 10_000)


def size(kept: DiskCache) -> int:
    return sum(file.stat().st_size for file in kept.folder.iterdir())


def aged(kept: DiskCache, name: str, hours: float) -> None:
    then = time.time() - 3600 * hours
    os.utime(kept.folder / name, (then, then))


def test_what_was_used_longest_ago_goes(kept: DiskCache) -> None:
    for number in range(4):
        kept.store(str(number), bytes(2000))
        aged(kept, str(number), 10 - number)
    assert kept.load("0") is not None  # used now
    kept.store("4", bytes(2000))
    kept.store("5", bytes(2000))
    assert size(kept) <= kept.room
    assert [kept.load(name) is not None for name in "012345"] == [
        True,
        False,
        False,
        True,
        True,
        True,
    ]


def test_what_alone_is_too_large_is_not_kept(kept: DiskCache) -> None:
    kept.store("small", b"x")
    kept.store("large", bytes(20_000))
    assert kept.load("large") is None and kept.load("small") == b"x"


def test_a_folder_is_not_listed_at_every_entry(
    kept: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    listed = disk_cache._listed
    monkeypatch.setattr(disk_cache, "_listed", lambda f: looks.append(f) or listed(f))
    for number in range(100):
        kept.store(str(number), b"x")
    assert 0 < len(looks) < 20


def test_what_a_killed_process_began_goes_but_not_what_is_being_written(kept: DiskCache) -> None:
    kept.store("one", b"x")
    for name, hours in (("old.part", 2.0), ("ahead.part", -2.0), ("new.part", 0.0)):
        (kept.folder / name).write_bytes(bytes(9000))
        aged(kept, name, hours)
    for number in range(3):
        kept.store(str(number), bytes(700))
    assert [one.name for one in kept.folder.glob("*.part")] == ["new.part"]
    assert kept.load("one") == b"x"


def test_nothing_goes_while_all_fit() -> None:
    every = [Kept(Path(str(n)), 10, float(n)) for n in range(10)]
    assert surplus(every, 100) == []
    assert surplus(every, 99) == [Path("0"), Path("1"), Path("2")]


@pytest.mark.skipif(os.name == "nt", reason="permissions of folders")
def test_a_folder_that_cannot_be_made_is_no_error(
    kept: DiskCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    kept.store("a", b"x")
    assert kept.load("a") is None


AT_ONCE = """
import sys
from gpuviz.files.disk_cache import DiskCache
kept, name = DiskCache("some", 10_000), sys.argv[1]
for turn in range(150):
    kept.store(f"{name}{turn}", bytes(900))
    kept.store("both", turn.to_bytes(900))
    found = kept.load("both")
    assert found is None or len(found) == 900
    assert kept.load(f"{name}{turn}") in (None, bytes(900))
"""


def test_two_processes_at_once(kept: DiskCache) -> None:
    running = [subprocess.Popen([sys.executable, "-c", AT_ONCE, name]) for name in "ab"]
    assert [one.wait(60) for one in running] == [0, 0]
    assert size(kept) <= kept.room * 1.2
