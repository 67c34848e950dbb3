"""The table that maps the documents to the lessons: complete, resolvable, up to date."""

from dataclasses import replace

import numpy as np
import pytest

from gpuviz.base.errors import InputError
from gpuviz.cli.launches_to_record import of_the_table, variants
from gpuviz.compile import nvrtc
from gpuviz.course import SCENES, lesson
from gpuviz.recordings.measurement import CounterValue, DeviceFacts, Measurement, Peaks, Timing
from gpuviz.recordings.recording import key_of
from gpuviz.story.lesson import SIZES
from tools.coverage import figure, memory, organisation
from tools.coverage.answers import ANSWERS
from tools.coverage.figure import Figure, systems
from tools.coverage.page import BEYOND, DOCUMENTS, PAGE, TABLES, covered, page

# How many systems each table of the documents has.
SYSTEMS = {"A": 5, "B": 8, "C": 7, "D": 8, "E": 11}


def test_every_system_has_a_row() -> None:
    found = {table: sum(row.table == table for row in systems()) for table in TABLES}
    assert found == SYSTEMS
    assert {name for row in systems() for name in row.documents} == DOCUMENTS.keys()
    assert all(row.figures for row in systems())


def test_every_lesson_shows_something_of_the_documents_or_goes_beyond() -> None:
    there = {lesson.id for lesson in SCENES}
    assert there - covered() - BEYOND.keys() == set()
    assert covered() & BEYOND.keys() == set()


@pytest.mark.slow
@pytest.mark.skipif(not nvrtc.libraries(), reason="some figures need the compiler")
@pytest.mark.timeout(600)  # a minute where nothing else runs
def test_the_page_is_up_to_date_but_for_what_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of lessons as they ship, which takes about a minute."""
    monkeypatch.delenv(SIZES)
    figure.performed.cache_clear()
    made, written = page().splitlines(), PAGE.read_text(encoding="utf-8").splitlines()
    assert [_unmeasured(line) for line in written] == [_unmeasured(line) for line in made], (
        "run python -m tools.coverage"
    )


def _unmeasured(line: str) -> str:
    """A line without what depends on recordings."""
    if line.startswith("Measured:"):
        return ""
    return line.rpartition(" | ")[0] if line.startswith("| ") else line


@pytest.mark.skipif(not nvrtc.libraries(), reason="some figures need the compiler")
def test_figures_that_the_documents_publish_come_out_alike() -> None:
    """Those whose number is the same today, by system."""
    rows = {row.name: row for row in systems()}

    def predicted(system: str) -> list[str]:
        return [figure.prediction() for figure in rows[system].figures]

    shapes = predicted("Occupancy of block shapes, with what limits each")
    assert [text.split(",")[0] for text in shapes] == [
        ".33",
        "1.0",
        ".66",
        ".66",
        ".66",
        ".33",
        ".33",
        ".83",
    ]
    cliff = predicted("Registers, and the cliff where one more costs a block")
    assert [text.split()[0] for text in cliff] == ["6", "5", "3", "2", "10"]
    halves = predicted("Coalescing as the first GPUs do it, by half warps in order")
    assert [text.split()[0] for text in halves] == ["1", "1", "2", "1", "16", "16"]
    assert predicted("Tiling, phase by phase")[:2] == ["traffic / 2", "traffic / 16"]


def test_a_figure_that_leads_nowhere_is_told() -> None:
    with pytest.raises(InputError, match="no lesson 'coalesce'"):
        Figure("coalesce").shown()
    with pytest.raises(InputError, match="no preset 'Stride 3'; it has: Stride 1"):
        Figure("coalescing", preset="Stride 3").shown()
    with pytest.raises(InputError, match="no answer 'sectrs'; it has: predicted_ratio"):
        Figure("coalescing", "sectrs", preset="Stride 1").prediction()


def test_every_answer_is_asked_for() -> None:
    given = [
        named if isinstance(named, str) else named[0]
        for system in systems()
        for one in system.figures
        for named in (one.predicted, one.measured)
        if named
    ]
    assert set(given) == ANSWERS.keys()


def test_a_count_is_measured_by_the_formula_it_is_predicted_by() -> None:
    ratio = ["global_load_sectors", "global_load_requests", "sectors a request"]
    both = ["predicted_ratio", *ratio], ["measured_ratio", *ratio]
    figure = Figure("coalescing", *both, preset="Stride 1")
    assert figure.prediction() == "4 sectors a request"
    assert figure.measurement() in (figure.prediction(), "not measured")
    other = Figure("coalescing", *both, preset="Stride 1", arch="sm_10")
    assert other.measurement() == "no GPU of CC 1.0"


class Recorded:
    """Stands in for a lesson of which this was recorded."""

    def __init__(self, measurement: Measurement | None) -> None:
        self._measurement = measurement

    def measurement(self, role: str = "") -> Measurement | None:
        return self._measurement


def test_what_only_a_gpu_tells_is_read_from_recordings() -> None:
    device = DeviceFacts(0, "NVIDIA X", "9.0", "", "", 1, 1, 1)
    counters = {
        "branch_targets": CounterValue(400.0),
        "branch_targets_uniform": CounterValue(300.0),
    }
    found = Recorded(Measurement("recorded", "2026-01-01", device, counters, registers=32))
    nothing = Recorded(Measurement("recorded", "2026-01-01", device))
    for told, said in (
        (memory.branch_efficiency, "branch efficiency 75 %"),
        (organisation.drivers_registers, "32 registers by the driver"),
    ):
        assert told(found) == said  # type: ignore[arg-type]
        assert told(nothing) == told(Recorded(None)) == ""  # type: ignore[arg-type]


def test_a_time_says_how_big_its_launch_is() -> None:
    run = Figure("banks", preset="Stride 1").shown().run("warp")
    device = DeviceFacts(0, "NVIDIA X", "9.0", "", "", 1, 1, 1)
    slow, peaks = Timing(np.array([123.0])), Peaks(1e12, 1e12, 2.0)
    measured = Measurement("recorded", "2026-01-01", device, timing=slow, peaks=peaks)
    alone = replace(run, measurement=measured, companion=None)
    assert figure._time(alone) == f"123 µs ({run.size_words})".replace("\u202f", " ")
    assert run.companion is not None
    beside = replace(run, companion=replace(run.companion, measurement=measured))
    assert figure._time(beside).endswith(f"({run.companion.size})".replace("\u202f", " "))
    quick = replace(measured, timing=Timing(np.array([5.0])))
    assert "launch overhead: 2.00 µs of it" in figure._time(replace(alone, measurement=quick))
    assert figure._time(replace(alone, measurement=None)) == ""


def test_what_the_table_shows_is_recorded() -> None:
    ours = {key for *_, key in (*variants(SCENES), *of_the_table())}
    for shown in (one for row in systems() for one in row.figures):
        assert {key_of(plan) for plan in lesson(shown.lesson).plan(shown.values)} <= ours
