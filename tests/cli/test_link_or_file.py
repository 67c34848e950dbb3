"""`gpuviz LINK` and `gpuviz FILE`: what the window is to begin with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gpuviz import app
from gpuviz.cli import main
from gpuviz.export.svg import document
from gpuviz.story.kernel_launch import KernelLaunch, record_of
from gpuviz.story.lesson import Story
from gpuviz.views.lesson_view import View
from gpuviz.views.link import link
from gpuviz.views.provenance import Provenance


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What the window was asked to show."""
    asked: list[object] = []

    def window(argv: object = (), wanted: object = None) -> int:
        asked.append(wanted)
        return 0

    monkeypatch.setattr(app, "main", window)
    return asked


def test_nothing_opens_the_window_as_it_was(opened: list[object]) -> None:
    assert main([]) == 0
    assert opened == [None]


def test_a_link_opens_that_view(opened: list[object]) -> None:
    assert main(["gpuviz://coalescing?stride=7&.t=2&.arch=sm_80"]) == 0
    (view,) = opened
    assert isinstance(view, Provenance)
    assert (view.lesson, view.values["stride"], view.time, view.arch) == (
        "coalescing",
        7,
        2.0,
        "sm_80",
    )


def test_a_picture_opens_the_view_it_shows(opened: list[object], tmp_path: Path) -> None:
    made = Provenance("banks", {"stride": 4}, "sm_90", time=1.5)
    story = Story("", "", (), lambda t, stage: stage.frame())
    picture = tmp_path / "banks.svg"
    picture.write_text(document(View(story, {}, made).still, made, "banks"))
    assert main([str(picture)]) == 0
    (view,) = opened
    assert isinstance(view, Provenance)
    assert (view.lesson, view.values["stride"], view.time) == ("banks", 4, 1.5)


@pytest.mark.parametrize("name", ["mine.cu", "MINE.PTX"])
def test_a_kernel_opens_its_form(opened: list[object], tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text("")
    assert main([str(file)]) == 0
    assert opened == [file]


@pytest.mark.parametrize("name", ["-x.cu", "--version.ptx", "list"])
def test_behind_two_dashes_everything_is_a_file(
    opened: list[object], tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).with_suffix(".cu").write_text("")
    Path(name).with_suffix(".ptx").write_text("")
    name = name if "." in name else f"{name}.cu"
    assert main(["--", name]) == 0
    assert opened == [Path(name)]


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("gpuviz://coalesing", "there is no lesson 'coalesing'"),
        ("gpuviz://coalescing?stride=99", "from 1 to 32"),
        ("gpuviz://coalescing?.arch=sm_1", "sm_1"),
        ("gpuviz:coalescing", "no link to a view"),
        ("gone.png", "there is no file gone.png"),
        ("folder/gone", "there is no file folder/gone"),
        ("a" * 300 + ".png", "there is no file aaa"),
        ("{here}", "is a folder"),
        ("{here}/foreign.png", "does not say which view it shows"),
        ("{here}/empty.svg", "it is empty"),
        ("coalescing", "invalid choice: 'coalescing'"),
        ("", "invalid choice: ''"),
    ],
)
def test_what_is_wrong_is_said_before_a_window_opens(
    argument: str,
    said: str,
    opened: list[object],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "foreign.png").write_bytes(b"\x89PNG no record")
    (tmp_path / "empty.svg").write_text("")
    assert main([argument.format(here=tmp_path)]) == 2
    assert opened == []
    told = capsys.readouterr()
    assert told.out == "" and said in told.err
    assert told.err.startswith("gpuviz: ") and told.err.count("\n") == 1


def test_a_link_to_a_kernel_whose_file_is_gone(
    opened: list[object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    launch = KernelLaunch(tmp_path / "gone.cu", "k", "k", (1, 1, 1), (32, 1, 1), ())
    view = Provenance("kernel-0", {}, "sm_90", launch=record_of(launch))
    assert main([link(view)]) == 2
    assert opened == []
    assert "there is no file" in capsys.readouterr().err
    far = replace(view, launch={**view.launch, "file": "a" * 5000})
    assert main([link(far)]) == 2
    assert "there is no file aaa" in capsys.readouterr().err
