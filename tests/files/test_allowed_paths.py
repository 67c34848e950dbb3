"""No path that a file or a link names reaches another computer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QUrl

from gpuviz.base.errors import InputError
from gpuviz.cli import main
from gpuviz.files.allowed_paths import local
from gpuviz.lectures.reading import parse as lecture
from gpuviz.qt.export.file_opener import asked_by
from gpuviz.story.kernel_launch import launch_of
from gpuviz.views import link
from gpuviz.views.provenance import Provenance

ELSEWHERE = [
    *("//host/share/k.cu", r"\\host\share\k.cu", r"\/host/k.cu", r"/\host\k.cu", "///host/k.cu"),
    *(r"\\?\UNC\host\share\k.cu", r"\\.\pipe\k.cu", "  //host/k.cu"),
    *(
        r"\??\UNC\host\k.cu",
        "file://host/k.cu",
        "file:/k.cu",
        "FILE:k.cu",
        "http://host/k.cu",
        "smb://host/k.cu",
    ),
]
UP = "../" * 16  # from any folder to the root
MOUNTED = [
    *("/net/host/k.cu", "/afs/cell/k.cu", "/tmp/../net/host/k.cu", f"{UP}net/host/k.cu"),
    *(f"~/{UP}net/host/k.cu", "/NET/host/k.cu", "/System/Volumes/Data/net/host/k.cu"),
    "/proc/self/root/proc/1/task/1/root/net/host/k.cu",
]
POSIX = pytest.mark.skipif(os.name != "posix", reason="folders of automatic mounts")
ALL = [*ELSEWHERE, *(pytest.param(name, marks=POSIX) for name in MOUNTED)]
HERE = [
    "k.cu",
    "a/k.cu",
    "../k.cu",
    "/tmp/k.cu",
    "~/k.cu",
    r"C:\k.cu",
    "C:/k.cu",
    "a:b.cu",
    "nets/k",
]


@pytest.mark.parametrize("name", ALL)
def test_what_leads_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="another computer"):
        local(name)


@pytest.mark.parametrize("name", HERE)
def test_what_is_here_is_not(name: str) -> None:
    assert local(name) == name


@POSIX
def test_a_mount_that_the_naming_file_lies_on_is_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    assert local("k.cu", Path("/net/mine/lectures")) and local(
        "../k.cu", Path("/net/mine/lectures")
    )
    with pytest.raises(InputError):
        local("../../other/k.cu", Path("/net/mine/lectures"))
    monkeypatch.setenv("HOME", "/afs/cell/home/me")
    assert local("/afs/cell/k.cu")


@pytest.fixture
def untouched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks at a file of another host fails."""
    for name in ("stat", "lstat", "open", "readlink"):
        real = getattr(os, name)

        def watched(path: object, *rest: object, real: object = real, **more: object) -> object:
            assert "host" not in str(path), f"{path} was looked for"
            return real(path, *rest, **more)  # type: ignore[operator]

        monkeypatch.setattr(os, name, watched)


@pytest.mark.parametrize("name", ALL)
def test_no_way_in_follows_it(
    name: str, untouched: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for told in ({"file": name}, {"file": "k.cu", "arguments": f"'f32[4]=@{name}'"}):
        with pytest.raises(InputError, match="another computer"):
            launch_of({"entry": "k", "grid": "1", "block": "1", **told})
    quoted = name.replace("\\", "\\\\")
    for kind in (f'trace = "{quoted}"', f'kernel = {{file = "{quoted}", grid = "1"}}'):
        found = lecture(f"gpuviz-lecture = 1\n[[slide]]\n{kind}\n", tmp_path)
        (problem,) = found.slides[0].problems
        assert "another computer" in str(problem)
    view = Provenance("trace-1", {}, "sm_90", launch={"trace": name})
    assert main([link.link(view)]) == 2
    assert "another computer" in capsys.readouterr().err
    data = QMimeData()
    data.setUrls([QUrl(name), QUrl.fromLocalFile(name)])
    assert asked_by(data) is None
