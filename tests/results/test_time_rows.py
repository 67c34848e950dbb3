from dataclasses import replace

import pytest

from gpuviz.api.tables import Counts
from gpuviz.course import lesson
from gpuviz.recordings.measurement import CounterValue, DeviceFacts, Measurement
from gpuviz.recordings.stall_reasons import KEYS, METRICS, PREFIX
from gpuviz.results.count_columns import Column, Readout, Sheet, readout_of
from gpuviz.results.quantities import Row, folded
from gpuviz.results.residuals import verdict
from gpuviz.results.rows import table
from gpuviz.results.time_rows import WAITS, time_rows
from gpuviz.run.stalls import predicted_waits
from gpuviz.timing.explanation import Explanation, limits
from tests.course.performed import performed
from tests.timing.launches import MEASURED, known, made

pytestmark = pytest.mark.machine_code


def explained(name: str) -> Explanation:
    """A launch with its timeline, nothing mended."""
    prediction, timeline = made(name)
    return Explanation(prediction, limits(prediction), (), timeline)


def test_time_and_traffic_stand_beside_what_counters_read() -> None:
    name = "copy1_2e18"
    cold = MEASURED[name]["cold"]
    keys = "duration_ns", "l2_to_l1_sectors", "dram_read_sectors"
    values = {key: float(cold[key]) for key in keys}
    rows = time_rows([None, explained(name)])
    sheet = Sheet(tuple(rows), runs=("a", "b"), measured={"b": Readout("recorded", "", values)})
    by_key = {row.key: row for row in rows}
    residual = Column("residual", run=1)
    assert sheet.residual(by_key["l2_to_l1_sectors"], 1) == 0
    apart = cold["duration_ns"] / (explained(name).prediction.microseconds * 1e3) - 1
    assert sheet.text(by_key["duration_ns"], residual) == f"{apart:+.0%}".replace("-", "−")
    assert sheet.reading(by_key["dram_read_sectors"], 1) == cold["dram_read_sectors"]
    assert sheet.reading(by_key["duration_ns"], 0) is None  # nothing was found out of it
    run = known(name).trace
    assert verdict(sheet, 1, run) is None  # type: ignore[arg-type]  # it is met about, not exactly


def waiting(found: Readout) -> tuple[Sheet, dict[str, Row]]:
    rows = time_rows([explained("copy1_2e18")])
    sheet = Sheet(tuple(rows), runs=("a",), measured={"a": found})
    return sheet, {row.key: row for row in rows if row.digits}


def test_what_warps_wait_for_stands_beside_what_counters_say() -> None:
    told = MEASURED["copy1_2e18"]["stalls"]["cold"]
    read = dict.fromkeys(METRICS, 0.0) | {PREFIX + reason: n for reason, n in told.items()}
    facts = DeviceFacts(0, "NVIDIA H200", "9.0", "580", "13.0", 132, 1, 1)
    readings = {key: CounterValue(n) for key, n in read.items()}
    sheet, rows = waiting(readout_of(Measurement("recorded", "2026-11-23", facts, readings)))
    assert list(rows) == list(WAITS) and rows.keys() == KEYS.keys()
    memory, drain = rows["waits_memory"], rows["waits_drain"]
    assert sheet.reading(memory, 0) == told["long_scoreboard"]
    apart = told["long_scoreboard"] - (memory.values[0] or 0)
    assert sheet.text(memory, Column("residual")) == f"{apart:+.2f}".replace("-", "−")
    assert sheet.text(memory, Column("measured")) == f"{told['long_scoreboard']:.2f}"
    assert "long_scoreboard, lg_throttle" in memory.hint
    shown = [sheet.text(drain, Column(kind)) for kind in ("predicted", "measured", "residual")]
    assert shown == ["–", f"{told['drain']:.2f}", ""]
    assert time_rows([None]) == []


def test_what_was_not_read_says_why() -> None:
    old = Readout("recorded", "recorded on NVIDIA H200, 2026-11-22", {"instructions": 1.0})
    sheet, rows = waiting(old)
    assert sheet.reading(rows["waits_memory"], 0) is None
    said = "not read: recorded on NVIDIA H200, 2026-11-22"
    assert sheet.why(rows["waits_memory"], 0) == said
    lacking = replace(old, whys={"stalled_wait": "this GPU has no counter for it"})
    sheet, rows = waiting(lacking)
    assert sheet.why(rows["waits_dependence"], 0) == "this GPU has no counter for it"


def test_a_group_is_folded_to_its_heading() -> None:
    rows = time_rows([explained("copy1_2e18")])
    closed, opened = folded(rows, {"waits"}), folded(rows, ())
    assert [row.label for row in opened if not row.values] == [
        "Time and caches",
        "▾ Waiting, cycles an instruction",
    ]
    assert len(opened) == len(rows) and len(closed) == len(rows) - len(WAITS)
    assert closed[-1].label == "▸ Waiting, cycles an instruction"
    assert "find what those left in L2" in closed[-1].hint  # and the prediction is of a cold launch


def test_waits_are_counts_of_the_api_and_rows_of_what_is_exported() -> None:
    told = MEASURED["copy1_2e18"]["stalls"]["cold"]
    readings = {PREFIX + reason: CounterValue(n) for reason, n in told.items()}
    facts = DeviceFacts(0, "NVIDIA H200", "9.0", "580", "13.0", 132, 1, 1)
    measured = Measurement("live", "2026-11-23", facts, readings)
    runs = performed(lesson("coalescing"), {"blocks": 64}).runs
    run = replace(
        next(iter(runs.values())), explained=explained("copy1_2e18"), measurement=measured
    )
    counts = Counts(run)
    by_name = {row[0]: row[1:] for row in counts.rows}
    predicted, read, apart = by_name["waits_memory"]
    made = predicted_waits(explained("copy1_2e18").timeline)["waits_memory"]
    assert predicted == counts["waits_memory"] == round(made, 2)
    assert read == told["long_scoreboard"] and apart == pytest.approx(read - predicted)
    assert by_name["waits_drain"] == (None, told["drain"], None)
    rows = {(row[5], row[7]): row[6] for row in table({"a": run}).rows}
    assert float(rows["waits_memory", "modelled"]) == pytest.approx(predicted, abs=0.01)
    live = "live, NVIDIA H200, 2026-11-23"
    assert float(rows["waits_memory", live]) == float(rows["stalled_long_scoreboard", live]) == read
