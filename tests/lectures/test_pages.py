"""A lecture on paper: `gpuviz render --lecture`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PIL import Image

from gpuviz.base.errors import InputError
from gpuviz.cli import main
from gpuviz.draw.marks import Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.palette import THEMES
from gpuviz.draw.stage import Stage
from gpuviz.export.reading import read
from gpuviz.lectures.pages import with_notes
from gpuviz.views.make_view import lesson_for
from tests.export.pictures import program, run

TEXT = """gpuviz-lecture = 1
title = "Strides"

[[slide]]
title = "Strides"
words = "One warp."

[[slide]]
lesson = "coalescing"
values = { stride = 2 }
[slide.question]
ask = "How many?"
choices = [4, 8]
count = "global_load_sectors"

[[slide]]
lesson = "nowhere"

[[slide]]
title = "Side by side / both"
lesson = "coalescing"
values = { stride = 1 }
compare = { stride = 32 }
stops = [2]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.gpuviz-lecture"
    path.write_text(TEXT)
    return path


def render(file: Path, out: Path, *more: str) -> int:
    return main(["render", "--lecture", str(file), "-o", str(out), "--size", "800x450", *more])


def test_a_picture_of_every_step(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert render(file, out) == 2
    assert "slide 3: line 17" in capsys.readouterr().err, "what is broken is told"
    assert sorted(path.name for path in out.iterdir()) == [
        "01 Strides.png",
        "02-01 Coalescing.png",
        "02-02 Coalescing.png",
        "04 Side by side both.png",
    ]
    with (
        Image.open(out / "02-01 Coalescing.png") as asked,
        Image.open(out / "02-02 Coalescing.png") as told,
    ):
        assert asked.size == told.size == (800, 450)
        assert asked.tobytes() != told.tobytes()
    view = read(out / "04 Side by side both.png")
    assert (view.values["stride"], view.compare_values["stride"], view.time) == (1, 32, 2.0)
    with pytest.raises(InputError, match="slide of words"):
        lesson_for(read(out / "01 Strides.png"))


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_same_at_every_run(file: Path, tmp_path: Path, suffix: str) -> None:
    for name in "ab":
        render(file, tmp_path / name, "--format", suffix)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_one_pdf_to_hand_out(file: Path, tmp_path: Path) -> None:
    for name in ("a.pdf", "b.pdf"):
        render(file, tmp_path / name)
    content = (tmp_path / "a.pdf").read_bytes()
    assert content == (tmp_path / "b.pdf").read_bytes()
    assert len(re.findall(rb"/Type /Page\b", content)) == 4


def test_options_that_mean_a_lesson_are_refused(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert render(file, tmp_path / "x", "--set", "stride=2") == 2
    assert "leave" in capsys.readouterr().err
    assert main(["render", "--lecture", "absent", "-o", str(tmp_path / "x")]) == 2
    assert "coalescing-and-banks" in capsys.readouterr().err


def test_notes_stand_below_the_last_picture_of_each_slide(file: Path, tmp_path: Path) -> None:
    file.write_text(
        TEXT.replace(
            'lesson = "nowhere"', 'lesson = "banks"\nnotes = """\nSay this.\n\nThen that."""'
        )
    )
    assert render(file, tmp_path / "n.pdf", "--notes") == 0
    content = (tmp_path / "n.pdf").read_bytes()
    assert len(re.findall(rb"/Type /Page\b", content)) == 4
    said = run(tmp_path, program("pdftotext"), tmp_path / "n.pdf", "-")
    assert "Say this." in said and said.index("Say this.") < said.index("Then that.")


@pytest.mark.parametrize("notes", ["", "One line.", "word " * 900, "a\n" * 60])
def test_notes_of_any_length_fit(notes: str) -> None:
    picture = Stage(1280, 720, THEMES["projector"]).frame()
    page = with_notes(picture, notes, THEMES["projector"])
    lines = [mark for mark in page.marks if isinstance(mark, Texts)]
    assert page.height == 1080 and len(lines) >= len(notes.split()) / 60
    for line in lines:
        (x, y), (text,) = line.at[0], line.strings
        assert y - line.size / 2 >= 720 and y + line.size / 2 <= page.height
        assert x > 0 and x + text_width(text, line.size) <= page.width


def test_notes_are_printed_only(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert render(file, tmp_path / "out", "--notes") == 2
    assert "OUT.pdf" in capsys.readouterr().err
