"""Whatever is wrong with a slide is that slide's: the others play, and its text stays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gpuviz.lectures.pages import MissingPage, handout, pages
from gpuviz.lectures.reading import parse, read
from gpuviz.lectures.writing import text_of
from gpuviz.run.session import shipped
from gpuviz.views.provenance import Provenance

HEAD = 'gpuviz-lecture = 1\ntitle = "T"\n\n[[slide]]\ntitle = "good"\nwords = "w"\n\n'
LAST = '\n[[slide]]\ntitle = "last"\nwords = "w"\n'
KERNEL = '[[slide]]\n[slide.kernel]\nfile = "k.cu"\nentry = "k"\ngrid = "1"\nblock = "32"\n'
BANKS = '[[slide]]\nlesson = "banks"\n'
MANY, HEX = "9" * 5000, "0x" + "f" * 9000
ASKED = BANKS + '[slide.question]\nask = "a"\ncount = "shared_load_wavefronts"\n'
BAD = {
    "a quotation without its end": KERNEL + 'arguments = "don\'t"\n',
    "lists for a text": KERNEL + 'arguments = [["a"]]\n',
    "arguments of no kind": KERNEL + 'arguments = "f99[2]=zeros"\n',
    "a count of many digits": KERNEL + f'arguments = "f32[{MANY}]=1"\n',
    "a value of many digits": KERNEL + f'arguments = "i32={MANY}"\n',
    "a shared size of many digits": KERNEL + f"shared = {HEX}\n",
    "a grid of many digits": KERNEL.replace('"1"', f'"{MANY}"'),
    "a grid in hexadecimal": KERNEL.replace('"1"', HEX),
    "a name with a null": KERNEL.replace("k.cu", "a\\u0000b"),
    "somebody's home": KERNEL.replace("k.cu", "~nobody-of-that-name/k.cu"),
    "brackets": BANKS + "stops = " + "[" * 3000 + "]" * 3000 + "\n",
    "fewer brackets": BANKS + "values = { stride = " + "[" * 300 + "]" * 300 + " }\n",
    "digits": BANKS + f"values = {{ stride = {MANY} }}\n",
    "hexadecimal digits": BANKS + f"values = {{ stride = {HEX} }}\n",
    "stops": BANKS + f"stops = [{HEX}]\n",
    "numbers": BANKS + f"numbers = [{HEX}]\n",
    "a title": f"[[slide]]\ntitle = {HEX}\n",
    "choices": ASKED + f"choices = [{HEX}, 1]\n",
    "a line": ASKED + f"choices = [1, 2]\nline = {HEX}\n",
    "a date": BANKS + "values = { stride = 2020-01-01 }\n",
    "a dotted key": "[[slide]]\n" + ".".join("a" * 200) + " = 1\n",
    "a lesson there is not": '[[slide]]\nlesson = "nope"\n',
    "half a character": '[[slide]]\ntitle = "\\ud800"\n',
    "a trace that is a folder": '[[slide]]\ntrace = "."\n',
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "k.cu").write_text('extern "C" __global__ void k(float* x) {}\n')
    return tmp_path


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_slide_breaks_no_other(bad: str, folder: Path) -> None:
    text = HEAD + BAD[bad] + LAST
    lecture = parse(text, folder)
    first, broken, last = lecture.slides
    assert first.words == last.words == "w" and not first.problems + last.problems
    assert broken.problems and all(len(p.text) < 500 for p in broken.problems)
    assert 8 <= broken.problems[0].line <= 7 + BAD[bad].count("\n")
    assert text_of(lecture, folder) == text
    noted = lecture.change(0, lambda slide: replace(slide, notes="Say this."))
    assert BAD[bad].strip() in text_of(noted, folder)
    shown = list(pages(lecture, Provenance("", {}, "sm_90")))
    assert [type(page) is MissingPage for page in shown] == [False, True, False]


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_slide_is_mended_by_editing_it(bad: str, folder: Path) -> None:
    lecture = parse(HEAD + BAD[bad] + LAST, folder)
    view = Provenance("banks", {"stride": 2}, "sm_90")
    mended = lecture.change(1, lambda slide: replace(slide, view=view, title="", problems=()))
    again = parse(text_of(mended, folder), folder)
    assert len(again.slides) == 3 and again.slides[1].view is not None
    assert again.slides[1].view.values["stride"] == 2


def test_what_nobody_thought_of_is_told_on_its_slide(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble(*_: object) -> None:
        raise ZeroDivisionError("nobody thought of this")

    monkeypatch.setattr("gpuviz.lectures.slide_fields.check_values", stumble)
    lecture = parse(HEAD + BANKS + LAST, folder)
    assert "nobody thought of this" in str(lecture.slides[1].problems[0])
    monkeypatch.setattr("gpuviz.lectures.pages.view_of", stumble)
    good = replace(lecture.slides[0], view=Provenance("banks", {}, "sm_90"))
    (page,) = pages(replace(lecture, slides=(good,)), Provenance("", {}, "sm_90"))
    assert isinstance(page, MissingPage) and "nobody thought of this" in page.why


class _Painter:
    """Counts pages."""

    def pdf(self, frames: list[object], title: str) -> bytes:
        return bytes(len(frames))


def test_a_handout_has_a_page_for_a_bad_slide(folder: Path) -> None:
    path = folder / "a.gpuviz-lecture"
    path.write_text(HEAD + BAD["a quotation without its end"] + LAST)
    made = handout(read(path), shipped(), _Painter(), lambda share: None, lambda: False)  # type: ignore[arg-type]
    assert len(made) == 3
