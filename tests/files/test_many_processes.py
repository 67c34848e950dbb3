"""Processes that are killed while they save, and several that start at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings

from tests.files.killed_while_saving import KINDS
from tests.qt.test_crash_file import Process

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
KILLS = 200


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are started in another way there")
@pytest.mark.parametrize("kind", KINDS)
def test_killed_while_saving_the_file_is_old_or_new(kind: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.files.killed_while_saving", str(tmp_path), kind, str(KILLS)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    print(f"{kind}: {found}")
    assert found["old"] + found["new"] == KILLS and min(found["old"], found["new"]) > 0
    assert found["left"] == []


def test_windows_that_start_at_once_with_an_empty_home_all_live(tmp_path: Path) -> None:
    looks = ("light", "dark", "projector", "light")
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    windows = [
        Process(tmp_path, f"window.actions_['theme.{theme}'].trigger()\ntold()", **cache)
        for theme in looks
    ]
    told = [window.told() for window in windows]
    assert len({str(one["lesson"]) for one in told}) == 1
    assert not any(one["note"] for one in told), "none takes another for one that crashed"
    assert [window.end() for window in windows] == [0] * len(windows)
    settings = QSettings(
        str(tmp_path / "XDG_CONFIG_HOME/gpuviz/gpuviz.conf"), QSettings.Format.IniFormat
    )
    assert settings.status() == QSettings.Status.NoError
    assert settings.value("lesson") == told[0]["lesson"] and settings.value("arch") == "sm_90"
    assert settings.value("theme") in looks
    entries = [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]
    assert entries and not [file for file in entries if ".part" in file.name]
