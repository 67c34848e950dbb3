"""What the lecture *From tiles to tensor cores* says in words is what is counted and recorded."""

from __future__ import annotations

import re

import pytest

from gpuviz.compile import nvrtc
from gpuviz.course import lesson
from gpuviz.course.matrix_products.ladder.rungs import RUNGS
from gpuviz.draw.marks import Texts
from gpuviz.draw.palette import THEMES
from gpuviz.draw.stage import Stage
from gpuviz.lectures.bundle import find
from gpuviz.lectures.reading import read
from gpuviz.memory.counts import Count
from gpuviz.run.run import Run
from gpuviz.views.lesson_view import View
from gpuviz.views.make_view import view_of
from gpuviz.views.provenance import Provenance

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed"),
]
LECTURE = read(find("tiles-to-tensor-cores"))


def view(id: str, **values: int | str) -> View:
    return view_of(Provenance(id, {**lesson(id).defaults(), **values}, "sm_90"))


def table(rung: int) -> list[str]:
    """The words of the last picture of a rung."""
    story = view("ladder", rung=rung, size=2048).story
    marks = story.frame(story.duration, Stage(1920, 1080, THEMES["light"])).marks
    return [word for mark in marks if isinstance(mark, Texts) for word in mark.strings]


@pytest.mark.parametrize(
    ("rung", "name", "told"),
    [
        (1, "down a column", ("2112", "391")),
        (2, "coalesced", ("2112", "320")),
        (3, "tiles", ("320", "16", "100", "reading")),
        (5, "8 × 8 cells a thread", ("4", "multiplying", "85.7", "174")),
        (13, "ldmatrix", ("6.38",)),
        (14, "swizzle", ("6.38", "1.38", "5.3")),
        (15, "ring for mma", ("1.5", "3", "3.5")),
        (17, "wgmma", ("3.6", "1.6", "multiplying", "–")),
        (18, "TMA", ("1.6", "1.3", "multiplying")),
    ],
)
def test_rungs_have_the_counts_that_the_notes_tell(
    rung: int, name: str, told: tuple[str, ...]
) -> None:
    assert RUNGS[rung - 1].name == name and len(RUNGS) == 18
    words = re.findall(r"[\w.]+|–", " ".join(table(rung)).replace("\N{NARROW NO-BREAK SPACE}", ""))
    assert [one for one in told if one not in words] == []


def wavefronts(run: Run) -> float:
    """Of the load of A."""
    rows = [r for r in run.counts.rows if r.counts.get(Count.SHARED_LOAD_REQUESTS)]
    return float(rows[0].counts[Count.SHARED_LOAD_WAVEFRONTS])


def time_of(run: Run) -> float:
    """Recorded, at the size people run."""
    assert run.companion is not None and run.companion.measurement is not None
    assert run.companion.measurement.timing is not None
    return run.companion.measurement.timing.median


@pytest.mark.parametrize(("pitch", "count"), [(80, 4), (96, 8), (128, 32), (144, 4)])
def test_pitches_take_the_wavefronts_that_are_told(pitch: int, count: int) -> None:
    found = view("fragments", form="m16n8k16 f16", pitch=pitch).runs["warp"]
    assert wavefronts(found) == count
    if pitch in (128, 144):
        assert time_of(found) == pytest.approx({128: 59.2, 144: 11.4}[pitch], rel=0.01)


def test_stages_take_the_times_that_are_told() -> None:
    runs = view("pipeline", stages=3, fault="none", tiles=8).runs
    times = [time_of(runs[f"{n} stage" + "s" * (n > 1)]) for n in (1, 2, 3, 4)]
    assert times == pytest.approx([70.5, 67.2, 41.8, 32.0], rel=0.005)
    said = next(s.notes for s in LECTURE.slides if s.title == "What stages give")
    assert "70.5, 67.2, 41.8 and 32.0" in said
    runs = view("producer-consumer", stages=3, fault="none", tiles=8).runs
    times = [time_of(runs[f"{n} stage" + "s" * (n > 1)]) for n in (1, 2, 3, 4)]
    assert times == pytest.approx([72.7, 42.3, 32.8, 28.0], rel=0.005)
    said = next(s.notes for s in LECTURE.slides if s.title == "One warp brings, the others take")
    assert "72.7, 42.3, 32.8 and 28.0" in said
