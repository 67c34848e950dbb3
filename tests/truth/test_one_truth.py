"""One truth: what a lesson says in words is what its own launches counted and took.

Quick tests read the launches that lessons plan and the recordings of them; slow ones read every
sentence of every preset against the story's own tables (`tests.truth.sentences`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest

from gpuviz.base import resources
from gpuviz.course import SCENES, lesson
from gpuviz.recordings.measurement import Measurement
from gpuviz.run import session
from gpuviz.story.lesson import Lesson, Plan, Values, check_values
from gpuviz.story.perform import perform
from tests.course.performed import real
from tests.truth.sentences import QUOTED, Facts, Told, facts_of, numbers, told_by

CASES = [(one.id, number) for one in SCENES for number in range(-1, len(one.presets))]
IDS = [f"{name}-{number + 1}" for name, number in CASES]
every = pytest.mark.parametrize(("name", "preset"), CASES, ids=IDS)
# Texts whose numbers a model or a sweep says that no panel of the story holds, by lesson.
ELSEWHERE = {
    "caches": r"L1|L2|memory sends|sectors$|^\d[\d\u202f.]* [GM]B|by arithmetic|less, and need",
    "block-shape": r"median place|one thread more or less",  # all 1,023 shapes, in a file
    "ilp-tlp": r"lines are under way|a load|lanes idle for|from global memory|warps needed$",
    "latency": r"lines are under way|a hop took|cycles a hop",
    "divergence": r"instructions, \d+ lanes|machine instructions",  # the way of a warp
    "reduction": r"lanes add",  # a round's requests, of several lines
    "coalescing": r"of the rest, and find it in L1",  # what others of the block use
    "alignment": r"of them are padding",
    "ladder": r"PTX instructions; busiest",  # for 64 products of a lane: tests/course/test_ladder
    "occupancy": r"achieved occupancy",
}
PRODUCT = "P = M N"  # what kernels of the matrix product say they do


def _values(one: Lesson, preset: int) -> Values:
    return check_values(one, one.presets[preset].values if preset >= 0 else {})


def _plans() -> Iterator[tuple[str, Plan]]:
    for name, preset in CASES:
        one = real(lesson(name))
        for plan in one.plan(_values(one, preset)):
            yield name, plan


def _measured(plan: Plan) -> Measurement | None:
    return session.shipped().recordings.find(plan).measurement


@cache
def _says(kernel: str) -> str:
    return (resources.path("kernels") / kernel).read_text(encoding="utf-8")


def test_one_name_of_a_product_is_one_kernel_and_one_time_across_the_course() -> None:
    found: dict[tuple[str, str, object], set[object]] = defaultdict(set)
    for _, plan in _plans():
        size = re.match(r"(?:N = )?(\d{3,})", plan.size)
        if size is None or PRODUCT not in _says(plan.kernel):
            continue
        called = re.sub(r"^tiled \d+", "tiled", plan.role.removesuffix(", real size"))
        shared = plan.dynamic_shared if "taken" not in plan.size else 0
        measured = _measured(plan)
        time = round(measured.timing.median) if measured and measured.timing else None
        launch = plan.kernel, plan.entry, plan.options, shared, time
        # "taken" and MULTI are among what a lesson says the size of.
        said = size[1] if "taken" not in plan.size else plan.size
        said += str([one for one in plan.defines if one[0] == "MULTI"])
        found[called, said, plan.block].add(launch)
    several = {key: launches for key, launches in found.items() if len(launches) > 1}
    assert not several
    assert len(found) > 10


def test_a_time_is_mostly_that_of_launching_only_where_more_than_half_of_it_is() -> None:
    said = 0
    for name, plan in _plans():
        measured = _measured(plan)
        if measured is None or measured.timing is None or not measured.overhead:
            continue
        said += 1
        empty = measured.overhead_us or 0.0
        assert ("mostly" in measured.overhead) == (2 * empty > measured.timing.median), name
    assert said > 20


@cache
def _told(name: str, preset: int) -> tuple[Told, Facts]:
    one = real(lesson(name))
    values = _values(one, preset)
    made = perform(one, values, level="sass")
    told = told_by(made.story)
    return told, facts_of(one, values, made, told)


@pytest.mark.slow
def test_a_number_that_is_no_value_of_the_launch_is_found() -> None:
    told, facts = _told("coalescing", 1)
    said = [number for text in told.sentences for number in numbers(text)]
    assert len(said) > 5 and all(map(facts.binds, said))
    wrong = [replace(one, value=one.value + 41) for one in said if one.kind != "ratio"]
    assert sum(map(facts.binds, wrong)) < len(wrong) / 4


@pytest.mark.slow
@every
def test_every_number_of_a_sentence_is_a_value_of_its_launches(name: str, preset: int) -> None:
    told, facts = _told(name, preset)
    elsewhere = re.compile(ELSEWHERE.get(name, "(?!)")).search
    unbound = [
        f"{number.text}: {text}"
        for text in told.sentences
        if not QUOTED.search(text) and not elsewhere(text)
        for number in numbers(text)
        if not facts.binds(number)
    ]
    assert not unbound


@pytest.mark.slow
@every
def test_no_sentence_contradicts_the_table_beside_it(name: str, preset: int) -> None:
    told, _ = _told(name, preset)
    texts = (*told.sentences, *told.figures)
    assert not [*_of_lanes(texts), *_grows(told), *_rates(told, texts), *_rounded(told)]


def _of_lanes(texts: tuple[str, ...]) -> Iterator[str]:
    """A share of the lanes of a warp is a whole number of them; what is counted has a number."""
    for text in texts:
        if re.search(r"\b(few|several|(?<!as )many) (banks|sectors|lines|wavefronts)\b", text):
            yield text
        for share in re.findall(r"(\d+) % of the lanes", text):
            if not any(round(100 * n / 32) == int(share) for n in range(33)):
                yield text


def _grows(told: Told) -> Iterator[str]:
    """What a sentence says to grow with every row grows with every row."""
    for text in told.sentences:
        more = re.match(r"The more (\w+), the more (\w+)", text)
        own = re.search(r"every load .* in a (register) of its own", text)
        for noun in (more[2],) if more else (own[1],) if own else ():
            for column in told.columns:
                cells = [float(c.replace("\u202f", "")) for c in column.cells if c[:1].isdigit()]
                falls = any(a >= b for a, b in pairwise(cells))
                if noun in column.titles[0] and falls:
                    yield f"{text} {column.titles[0]}: {', '.join(column.cells)}"


def _rates(told: Told, texts: tuple[str, ...]) -> Iterator[str]:
    """Rates beside times of 1024 × 1024 products, both published, are of one launch."""
    columns = {column.titles[0]: column for column in told.columns}
    rate, time = columns.get("GFLOP/s"), columns.get("N = 1024")
    for one, other in zip(rate.cells, time.cells, strict=True) if rate and time else ():
        if one[:1].isdigit() and other.endswith("ms"):
            due = 2 * 1024**3 / float(other.split("\u202f")[0].split()[0]) / 1e6
            if abs(due / float(one) - 1) > 0.02:
                yield f"{one} GFLOP/s beside {other}, which are {due:.0f}"


def _rounded(told: Told) -> Iterator[str]:
    """An occupancy in two digits is the one in per cent that the title says."""
    title = next(iter(told.sentences))
    share = re.search(r"blocks of (\d+) threads: (\d+) % of the warp slots", title)
    threads = next((c for c in told.columns if c.titles[0] == "threads"), None)
    here = next((c for c in told.columns if c.titles[0].startswith("CC 9")), None)
    for count, cell in zip(threads.cells, here.cells, strict=True) if threads and here else ():
        if share and count == share[1] and 0.5 < abs(100 * float(cell) - int(share[2])) < 2:
            yield f"{title}: {cell}"
