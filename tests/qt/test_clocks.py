"""Clocks that jump, and dates of files that no clock gave: nothing is lost, and nothing stays."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gpuviz.files import folders
from gpuviz.files import writing as files
from gpuviz.files.disk_cache import DiskCache, Kept, surplus
from gpuviz.launch import versions
from gpuviz.qt.history.crash_file import CrashFile
from gpuviz.qt.window.window import Window
from tests.qt.test_crash_file import crash

DATES = {"1970": 0.0, "before 1970": -86_400.0, "2106": 4_294_967_296.0}
every_date = pytest.mark.parametrize("date", DATES.values(), ids=list(DATES))
NOW = time.time()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cache", "state", "data"):
        monkeypatch.setattr(folders, name, lambda: tmp_path)


@every_date
def test_a_cache_answers_whatever_its_files_date_from(date: float, tmp_path: Path) -> None:
    kept = DiskCache("c")
    kept.store("name", b"content")
    os.utime(tmp_path / "c" / "name", (date, date))
    assert kept.load("name") == b"content"
    assert abs((tmp_path / "c" / "name").stat().st_mtime - time.time()) < 60


def test_what_a_clock_that_was_ahead_kept_goes_first() -> None:
    """Otherwise it filled the cache for a hundred years, and what is new went at once."""
    ahead = [Kept(Path(f"old{n}"), 10, DATES["2106"] + n) for n in range(10)]
    new = Kept(Path("new"), 10, NOW)
    gone = surplus([*ahead, new], 100)
    assert gone and new.path not in gone


@every_date
def test_what_was_half_written_goes_whatever_it_dates_from(date: float, tmp_path: Path) -> None:
    part = tmp_path / f".gpuviz-{'0' * 16}.part"
    part.write_text("half")
    os.utime(part, (date, date))
    files.write(tmp_path / "whole", "text")
    assert not part.exists()


def test_what_is_being_written_stays_while_the_clock_jumps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with files.whole(tmp_path / "slow") as slow:
        slow.write(b"first ")
        for date in DATES.values():
            monkeypatch.setattr(time, "time", lambda date=date: date)
            files.write(tmp_path / "other", "text")
        slow.write(b"second")
    assert (tmp_path / "slow").read_bytes() == b"first second"


def test_earlier_texts_keep_their_order_while_the_clock_jumps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "k.cu"
    texts = [f"// {n}" for n in range(6)]
    for text, date in zip(texts, [*DATES.values(), NOW, 0.0, NOW], strict=True):
        monkeypatch.setattr(time, "time", lambda date=date: date)
        versions.keep(file, text)
    assert [one.text() for one in versions.versions(file)] == texts
    assert all(one.said for one in versions.versions(file))


def test_a_text_whose_name_is_no_date_has_a_name_all_the_same(tmp_path: Path) -> None:
    assert versions.Version(tmp_path / "x.cu", 10**30).said == str(10**30)


@pytest.mark.slow
@every_date
def test_what_a_crash_left_is_found_whatever_it_dates_from(date: float, tmp_path: Path) -> None:
    crash(tmp_path, "gpuviz://pairs?stride=7")
    for file in tmp_path.iterdir():
        os.utime(file, (date, date))
    found = CrashFile(tmp_path)
    assert found.left is not None and found.left.view == "gpuviz://pairs?stride=7"
    for file in tmp_path.iterdir():
        os.utime(file, (date, date))
    assert CrashFile(tmp_path).left is None  # that place is held: a window is open for days


@pytest.mark.slow
def test_a_window_works_and_keeps_its_view_while_the_clock_jumps(
    make: Callable[..., Window], qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = make(state=tmp_path / "state")
    kept = tmp_path / "state" / "window-0.json"
    for stride, date in enumerate(DATES.values(), 3):
        monkeypatch.setattr(time, "time", lambda date=date: date)
        for file in (tmp_path / "state").iterdir():
            os.utime(file, (date, date))
        window.view.set_values({"stride": stride})
        said = f"stride={stride}"
        qtbot.waitUntil(lambda said=said: said in kept.read_text(), timeout=20_000)
        qtbot.waitUntil(lambda: not window.director.performer.busy, timeout=20_000)
    window.actions_["edit.undo"].trigger()
    assert window.view.now.values["stride"] == 4
