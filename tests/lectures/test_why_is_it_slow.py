"""What the lecture *Why is it slow?* says in words is what is modelled, counted and recorded."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuviz.compile import nvrtc
from gpuviz.course import lesson
from gpuviz.lectures.bundle import find
from gpuviz.lectures.lecture import Slide
from gpuviz.lectures.over_time import lesson_of
from gpuviz.lectures.reading import read
from gpuviz.memory.counts import Count
from gpuviz.run.run import Run
from gpuviz.timing.explanation import Explanation
from gpuviz.views.make_view import view_of
from gpuviz.views.provenance import Provenance

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed"),
]
SLIDES = {slide.title: slide for slide in read(find("why-is-it-slow")).slides}


def runs(title: str) -> dict[str, Run]:
    slide = SLIDES[title]
    assert slide.view is not None
    return dict(view_of(slide.view, told=lesson_of(slide)).runs)


def explained(title: str) -> Explanation:
    (run,) = runs(title).values()
    assert run.explained is not None
    return run.explained


def becomes(title: str, without: str) -> float:
    """The part of the cycles that is left without what a resource costs."""
    e = explained(title)
    one = next(one for one in e.what_ifs if one.resource == without)
    return one.cycles / e.prediction.cycles


def share(e: Explanation, resource: str) -> float:
    bound = next(b for b in e.limits.bounds if b.resource == resource)
    return bound.cycles / e.limits.cycles


def counted(run: Run, name: str) -> float:
    assert run.measurement is not None
    return run.measurement.values()[name]


def test_the_slow_product_finds_most_in_l1_as_recorded() -> None:
    title = "The slow one: lanes down a column"
    naive = runs(title)["naive"]
    asked, came = naive.counts.totals[Count.GLOBAL_LOAD_SECTORS], counted(naive, "l2_to_l1_sectors")
    assert round(100 * (1 - came / asked)) == 83
    assert round(came / 1e6) == 193 and round(asked / came) == 6
    assert naive.counts.totals[Count.GLOBAL_LOAD_LINES] == pytest.approx(1.1e9, rel=0.01)
    story = story_of(SLIDES[title])
    assert "L1 has 83" in story(0.0)
    found = "20 971 520"  # modelled: a ninth
    assert round(came / int(found.replace(" ", ""))) == 9


def story_of(slide: Slide) -> Callable[[float], str]:
    assert slide.view is not None
    story = view_of(slide.view).story
    assert story.at is not None
    at = story.at
    return lambda t: f"{at(t).title} {at(t).sentence}"


def test_the_fast_product_gets_an_eighth_from_l2() -> None:
    naive = runs("What a cache finds")["naive"]
    asked = naive.counts.totals[Count.GLOBAL_LOAD_SECTORS]
    assert round(asked / 1e6) == 134
    assert counted(naive, "l2_to_l1_sectors") == pytest.approx(16.2e6, rel=0.01)
    assert round(asked / counted(naive, "l2_to_l1_sectors")) == 8
    assert (
        naive.counts.totals[Count.GLOBAL_LOAD_LINES] * 2
        == 3 * naive.counts.totals[Count.GLOBAL_LOAD_REQUESTS]
    )  # three lines in two requests


def test_latency_and_bytes_of_the_chase() -> None:
    told = story_of(SLIDES["More warps fill the wait"])
    assert [latency(told(t)) for t in (3.6, 5.6, 7.8)] == pytest.approx([320] * 3, abs=10)
    assert latency(told(10.0)) == pytest.approx(320, abs=10) and "; 22.1 bytes" in told(10.0)
    assert "1.5" in f"{float(told(11.0).split('; ')[1].split()[0]):.1f}"
    assert "8.8" in f"{float(told(15.0).split('thread: ')[1].split()[0]):.1f}"
    law = told(16.0)
    assert law.split(": ")[1].startswith("bytes under way") and "55 lines" in law
    assert "22.1 bytes a cycle, 318 cycles" in law


def latency(said: str) -> int:
    return int(said.split("takes ")[1].split()[0])


def test_what_would_be_without_is_about_what_is_said() -> None:
    assert becomes("The naive transpose: what limits it?", "lines") == pytest.approx(0.1, abs=0.03)
    title = "Through shared memory: what limits it now?"
    assert becomes(title, "wavefronts") == pytest.approx(0.53, abs=0.05)
    after = next(one for one in explained(title).what_ifs if one.resource == "wavefronts")
    assert after.limiter == "dram"
    assert share(explained(title), "dram") == pytest.approx(0.5, abs=0.1)


def test_nothing_is_at_work_while_four_warps_wait() -> None:
    e = explained("Four warps: what limits them?")
    assert max(bound.cycles for bound in e.limits.bounds) < 0.06 * e.limits.cycles


def test_the_exercise_has_the_answers_that_the_notes_tell() -> None:
    found = {}
    for role in ("global_atomics", "shared_atomics"):
        slide = Slide(view=_histogram(), show="timeline", run=role)
        assert slide.view is not None
        (run,) = view_of(slide.view, told=lesson_of(slide)).runs.values()
        assert run.explained is not None and run.measurement is not None
        assert run.measurement.timing is not None
        found[role] = run.explained.limits.limiter, round(run.measurement.timing.median, 1)
    assert found == {"global_atomics": ("atomics", 159.3), "shared_atomics": ("latency", 9.1)}


def _histogram() -> Provenance:

    return Provenance("histogram", lesson("histogram").defaults(), "sm_90")
