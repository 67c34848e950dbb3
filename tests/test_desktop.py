"""`gpuviz --integrate`: files by the specifications of freedesktop.org, and none of them after off.

Qt reads the same database of kinds of files that desktops do: it is asked in a process of its own.
"""

import configparser
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpuviz import desktop
from gpuviz.cli import main
from gpuviz.files.folders import LECTURE, RECORDING, TRACE
from gpuviz.processes import programs as processes

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the customs of Linux")
KINDS = {LECTURE: "lecture", RECORDING: "recording", TRACE: "trace"}
ASK = """
import sys
from PySide6.QtCore import QMimeDatabase
for name in sys.argv[1:]:
    print(QMimeDatabase().mimeTypeForFile(name, QMimeDatabase.MatchMode.MatchExtension).name())
"""


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder of shared data, which is not there yet."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data"


def entry(data: Path) -> configparser.SectionProxy:
    """The desktop entry as it is written."""
    parser = configparser.RawConfigParser(delimiters="=")
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(data / desktop.ENTRY, encoding="utf-8")
    return parser["Desktop Entry"]


def kinds_by_qt(folder: Path) -> list[str]:
    """What Qt takes files of gpuviz for."""
    names = [str(folder / f"some{suffix}") for suffix in KINDS]
    command = [sys.executable, "-c", ASK, *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.split()


@LINUX
def test_the_desktop_knows_the_program_and_its_files_until_they_are_withdrawn(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--integrate"]) == 0
    written = {file for file in data.rglob("*") if file.name.startswith("gpuviz.")}
    assert written == {data / place for place in desktop.PLACES.values()}
    wanted = [f"application/x-gpuviz-{kind}" for kind in KINDS.values()]
    assert sorted(entry(data)["MimeType"].strip(";").split(";")) == sorted(wanted)
    assert kinds_by_qt(tmp_path) == wanted
    assert main(["--integrate", "on"]) == 0, "again is no fault"
    assert main(["--integrate", "off"]) == 0
    assert list(data.rglob("gpuviz*")) == []
    assert not any("gpuviz" in kind for kind in kinds_by_qt(tmp_path))
    assert main(["--integrate", "off"]) == 0
    assert "nothing to undo" in capsys.readouterr().out


@LINUX
def test_the_entry_starts_this_gpuviz_whatever_its_folder_is_called(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / 'a b"$`\\%u'
    odd.mkdir()
    (odd / "gpuviz-window").touch()
    monkeypatch.setattr(sys, "executable", str(odd / "python"))
    desktop.integrate()
    said = entry(data)["Exec"].replace("\\\\", "\\")  # a value first, then a command
    words = subprocess.run(  # quoted as a shell would have it
        ["sh", "-c", f"printf '%s\\n' {said}"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert [word.replace("%%", "%") for word in words] == [str(odd / "gpuviz-window"), "%f"]


@LINUX
def test_what_others_put_there_stays(data: Path) -> None:
    own = data / "mime/packages/mine.xml"
    own.parent.mkdir(parents=True)
    own.write_text('<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info"/>')
    desktop.integrate()
    desktop.withdraw()
    assert own.exists() and not (data / "icons").exists()


@LINUX
def test_without_the_tools_of_the_desktop_it_says_so(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(processes, "find", lambda name: None)
    assert main(["--integrate"]) == 0
    assert "update-mime-database and update-desktop-database" in capsys.readouterr().err


@LINUX
def test_a_folder_that_cannot_be_written_is_named(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data.write_text("a file in its place")
    assert main(["--integrate"]) == 2
    assert str(data) in capsys.readouterr().err


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_elsewhere_it_says_what_can_be_done(
    system: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    assert main(["--integrate"]) == 3
    assert "on Linux only" in capsys.readouterr().err


@LINUX
@pytest.mark.skipif(not shutil.which("desktop-file-validate"), reason="no desktop-file-utils here")
def test_the_entry_is_as_the_specification_has_it(data: Path) -> None:
    desktop.integrate()
    command = ["desktop-file-validate", str(data / desktop.ENTRY)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


@LINUX
@pytest.mark.skipif(not shutil.which("xdg-mime"), reason="no xdg-utils here")
def test_the_desktop_opens_each_kind_with_gpuviz(data: Path) -> None:
    desktop.integrate()
    for kind in KINDS.values():
        command = ["xdg-mime", "query", "default", f"application/x-gpuviz-{kind}"]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ})
        assert done.stdout.strip() == "gpuviz.desktop"
