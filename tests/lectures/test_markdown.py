"""Words in Markdown: what they are read as, how they are set, what of a stranger's is refused."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpuviz.base.errors import InputError
from gpuviz.draw.marks import Boxes, Frame, Lines, Outlines, Raster, Texts
from gpuviz.draw.palette import THEMES
from gpuviz.draw.spoken import lines as spoken
from gpuviz.draw.stage import Stage
from gpuviz.export.svg import document
from gpuviz.files.allowed_paths import Reach
from gpuviz.lectures import bundle
from gpuviz.lectures.bundle_contents import gather, write
from gpuviz.lectures.cues import Cue
from gpuviz.lectures.lecture import Lecture, Slide
from gpuviz.lectures.markdown import pictures
from gpuviz.lectures.markdown.blocks import Code, Formula, Paragraph, Picture, Rule, Table, blocks
from gpuviz.lectures.markdown.files import carry, place, taken
from gpuviz.lectures.markdown.formulas import LONGEST, drawn, trouble
from gpuviz.lectures.picture import SlideState, frame
from gpuviz.lectures.slide_fields import plain_of, slide_of
from gpuviz.run.session import Session
from tests.course.pictures import misplaced, same, words

TEXT = r"""
# A head

Some **bold**, *stressed*, `int x` and a [link](http://example.com/), $\frac{1}{s}$ of it.
A second line.

- one
- two
  1. inner
  2. next

> quoted

```cuda
y[i] = x[i * stride];  // one
```

$$\sum_{i=0}^{31} x_i$$

| stride | sectors |
|-------:|---------|
| 2      | **8**   |

---
![two dies](photo.png)
"""


WORDS = TEXT.rpartition("---")[0]  # without the picture


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Image.new("RGB", (400, 300), (200, 40, 40)).save(tmp_path / "photo.png")
    return tmp_path


def slide(folder: Path, text: str = WORDS, title: str = "T") -> Slide:
    made, faults = slide_of({"title": title, "words": text, "markdown": True}, Reach(folder))
    assert faults == ()
    return made


def shown(made: Slide, width: float = 1920, height: float = 1080) -> Frame:
    return frame(SlideState(made), Cue(), 0.0, Stage(width, height, THEMES["light"], 1.15))


def test_blocks_are_what_is_written() -> None:
    found = blocks(TEXT)
    kinds = [type(block) for block in found]
    assert kinds == [Paragraph] * 7 + [Code, Formula, Table, Rule, Picture]
    head, first, one, two, inner, following, quoted, code, formula, table, _, picture = found
    assert isinstance(head, Paragraph) and head.level == 1
    assert isinstance(first, Paragraph)
    looks = [(s.text, s.kind) for s in first.spans if s.strong or s.stressed or s.kind != "text"]
    assert looks == [
        ("bold", "text"),
        ("stressed", "text"),
        ("int x", "code"),
        (r"\frac{1}{s}", "formula"),
        ("", "break"),
    ]
    assert [s.text for s in first.spans if s.link] == ["link"]
    assert [(b.mark, b.depth) for b in (one, two, inner, following)] == [
        ("•", 1),
        ("•", 1),
        ("1.", 2),
        ("2.", 2),
    ]
    assert quoted.quoted
    assert isinstance(code, Code) and code.language == "cuda" and "stride" in code.text
    assert isinstance(formula, Formula) and formula.tex.startswith(r"\sum")
    assert isinstance(table, Table) and len(table.rows) == 2 and table.right == (True, False)
    assert isinstance(picture, Picture) and (picture.name, picture.instead) == (
        ("photo.png", "two dies")
    )


def test_html_stays_text() -> None:
    (one,) = blocks('<script>alert(1)</script> <b onclick="x">b</b>')
    assert isinstance(one, Paragraph)
    assert "".join(span.text for span in one.spans).startswith("<script>alert(1)</script>")


@pytest.mark.parametrize("size", [(960, 540), (1920, 1080)])
def test_all_of_it_is_in_the_picture_and_apart(folder: Path, size: tuple[int, int]) -> None:
    made = slide(folder)
    picture = shown(made, *size)
    assert [*misplaced(picture)] == []
    text = " ".join(words(picture))
    for said in ("A head", "bold", "link", "•", "1.", "quoted", "stride"):
        assert said in text
    assert {Texts, Boxes, Outlines, Lines} <= {type(mark) for mark in picture.marks}
    for mark in picture.marks:
        if isinstance(mark, Outlines):
            assert (mark.points >= 0).all()
            assert (mark.points < np.array([picture.width, picture.height])).all()
    assert all(map(same, picture.marks, shown(made, *size).marks))


def test_a_picture_takes_the_room_that_words_leave(folder: Path) -> None:
    text = "Two dies:\n\n![two dies](photo.png)\n\nOne package."
    sizes = []
    for made in (slide(folder, text), slide(folder, text + "\n\nwords" * 6)):
        picture = shown(made)
        (photo,) = (mark for mark in picture.marks if isinstance(mark, Raster))
        x, y, w, h = photo.rect
        assert photo.photo and x >= 0 and x + w <= picture.width and y + h <= picture.height
        assert w / h == pytest.approx(4 / 3, rel=0.01)
        sizes.append(h)
    assert sizes[0] > 0.5 * 1080 and 0.2 * 1080 < sizes[1] < sizes[0]


def test_code_has_the_colours_of_its_language(folder: Path) -> None:
    told = "```{}\nint x = 2; // seen\n```"
    inks = {
        language: {
            tuple(mark.color.tolist())
            for mark in shown(slide(folder, told.format(language))).marks
            if isinstance(mark, Texts) and mark.mono
        }
        for language in ("cuda", "nolanguage")
    }
    assert len(inks["cuda"]) >= 3 and len(inks["nolanguage"]) == 1


def test_a_formula_is_outlines_in_every_export_and_read_aloud(folder: Path) -> None:
    picture = shown(slide(folder, "$$\\frac{1}{s}$$"))
    outlines = [mark for mark in picture.marks if isinstance(mark, Outlines)]
    assert len(outlines) == 1 and len(outlines[0].begins) == 3  # 1, s, and the bar
    assert any(r"\frac{1}{s}" in line for line in spoken(picture))
    svg = document(picture)
    assert r"<title>\frac{1}{s}</title>" in svg and svg.count("<path") >= 1


def test_a_wall_of_formulas_costs_no_more_than_some() -> None:
    found = blocks("$x_1 + x_2$ and " * 900 + "\n\n$$y$$")
    (words, last) = found
    assert isinstance(words, Paragraph) and isinstance(last, Code)
    drawn_letters = sum(len(span.text) for span in words.spans if span.kind == "formula")
    assert 2900 < drawn_letters <= 3000


def test_what_no_wall_has_room_for_is_left_out() -> None:
    table, *_ = blocks("|a" * 300 + "\n" + "|-" * 300 + "\n|b" * 300)
    assert isinstance(table, Table) and len(table.rows) == 60
    assert max(map(len, table.rows)) == 20
    assert len(blocks("- a\n" * 3000)) <= 400


def test_formulas_stand_on_the_line(folder: Path) -> None:
    above = drawn("x^2").above
    assert above > drawn("x").above > 0.3
    assert drawn("y").below > 0.1 and drawn("x").below < 0.05


@pytest.mark.parametrize(
    "tex",
    [
        "\\frac{",
        "{" * 290 + "}" * 290,
        r"\def\a{\b\b}\def\b{\a\a}\a",
        r"\newcommand{\a}{\a\a}\a",
        "x" * (LONGEST + 1),
        "x^" * 250,
        r"\left(" * 90,
        "]]>&x;<a>",
    ],
)
def test_what_is_no_formula_stands_as_it_was_written(folder: Path, tex: str) -> None:
    with pytest.raises(InputError):
        drawn(tex)
    made = slide(folder, f"$$\n{tex}\n$$\nand more")
    assert trouble(made.words)
    assert [*misplaced(shown(made))] == [] or len(tex) > 60  # a long one is wider than a wall


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd.png",
        "../photo.png",
        "a/../../photo.png",
        "http://x.org/a.png",
        "~/a.png",
        "file:///a.png",
        "//host/a.png",
        "\\\\host\\a.png",
        "c:a.png",
        "%2e%2e/photo.png",
        "data:image/png;base64,AAAA",
        "secret.txt",
        "none.png",
        "a" * 300 + ".png",
    ],
)
def test_pictures_from_elsewhere_are_refused(folder: Path, name: str) -> None:
    inner = folder / "talk"
    inner.mkdir()
    (inner / "secret.txt").write_text("x")
    made, faults = slide_of({"words": f"![here]({name})", "markdown": True}, Reach(inner))
    assert made.pictures == () and made.playable
    if blocks(made.words) and isinstance(blocks(made.words)[0], Picture):
        assert [fault.key for fault in faults] == ["words"]
        assert "▲ here" in words(shown(made))


def test_a_link_to_elsewhere_is_refused(folder: Path) -> None:
    inner = folder / "talk"
    inner.mkdir()
    os.symlink(folder / "photo.png", inner / "mine.png")
    with pytest.raises(InputError, match="elsewhere"):
        place("mine.png", inner)


def test_pictures_have_a_bound_and_are_told_when_damaged(folder: Path) -> None:
    wide = folder / "wide.png"
    Image.new("1", (6000, 3000)).save(wide)
    with pytest.raises(InputError, match="6000"):
        pictures.pixels(wide)
    bad = folder / "bad.png"
    bad.write_bytes((folder / "photo.png").read_bytes()[:60])
    with pytest.raises(InputError, match=r"bad\.png"):
        pictures.pixels(bad)
    icon = folder / "icon.png"
    Image.new("RGB", (16, 16)).save(icon, format="ICO")  # a kind whose reader is not wanted here
    with pytest.raises(InputError):
        pictures.pixels(icon)


def test_a_picture_is_taken_and_carried_along(folder: Path, tmp_path: Path) -> None:
    talk, other = tmp_path / "talk", tmp_path / "other"
    talk.mkdir(), other.mkdir()
    name = taken(folder / "photo.png", talk)
    assert name == "pictures/photo.png" and (talk / name).is_file()
    assert taken(folder / "photo.png", talk) == name  # the same one once
    Image.new("RGB", (9, 9)).save(other / "photo.png")
    assert taken(other / "photo.png", talk) == "pictures/photo-2.png"
    assert taken(talk / name, talk) == name
    made = slide(talk, f"![x]({name})")
    carry(made.pictures, other)
    assert (other / name).read_bytes() == (talk / name).read_bytes()


def test_a_picture_goes_into_the_bundle_and_comes_out(folder: Path, tmp_path: Path) -> None:
    packing = gather(Lecture("T", (slide(folder, "![x](photo.png)"),)), Reach(folder))
    assert "pictures/photo.png" in [file.name for file in packing.files]
    assert packing.outside == ()
    file = tmp_path / "other" / "all.gpuviz-lecture"
    file.parent.mkdir()
    write(packing, file)
    (found,) = bundle.opened(file, Session()).slides
    assert found.problems == () and "photo" in found.words
    assert any(isinstance(mark, Raster) for mark in shown(found).marks)


def test_plain_words_stay_as_they_are(folder: Path) -> None:
    plain, _ = slide_of({"title": "T", "words": "2*3*4 **no**\n# no head\n- dash"}, Reach(folder))
    assert not plain.markdown and "markdown" not in plain_of(plain, folder)
    said = words(shown(plain))
    assert said == ["T", "2*3*4 **no**", "# no head", "- dash"]
    marked = replace(plain, markdown=True)
    assert plain_of(marked, folder)["markdown"] is True


def test_what_does_not_fit_is_cut_and_says_so(folder: Path) -> None:
    picture = shown(slide(folder, "word\n\n" * 200))
    assert "…" in words(picture) and [*misplaced(picture)] == []
