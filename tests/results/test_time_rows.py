import pytest

from gpuviz.machine.bounds import limits
from gpuviz.machine.explained import Explained
from gpuviz.results.count_columns import Column, Measured, Sheet
from gpuviz.results.residuals import verdict
from gpuviz.results.time_rows import time_rows
from gpuviz.sass import tool
from tests.machine.launches import MEASURED, known, made

pytestmark = pytest.mark.skipif(tool.find() is None, reason="no nvdisasm")


def explained(name: str) -> Explained:
    """A launch with its timeline, nothing mended."""
    prediction, timeline = made(name)
    return Explained(prediction, limits(prediction), (), timeline)


def test_time_and_traffic_stand_beside_what_counters_read() -> None:
    name = "copy1_2e18"
    cold = MEASURED[name]["cold"]
    keys = "duration_ns", "l2_to_l1_sectors", "dram_read_sectors"
    values = {key: float(cold[key]) for key in keys}
    rows = time_rows([None, explained(name)])
    sheet = Sheet(tuple(rows), runs=("a", "b"), measured={"b": Measured("recorded", "", values)})
    by_key = {row.key: row for row in rows}
    residual = Column("residual", run=1)
    assert sheet.residual(by_key["l2_to_l1_sectors"], 1) == 0
    apart = cold["duration_ns"] / (explained(name).prediction.microseconds * 1e3) - 1
    assert sheet.text(by_key["duration_ns"], residual) == f"{apart:+.0%}".replace("-", "−")
    assert sheet.reading(by_key["dram_read_sectors"], 1) == cold["dram_read_sectors"]
    assert sheet.reading(by_key["duration_ns"], 0) is None  # nothing was found out of it
    run = known(name).trace
    assert verdict(sheet, 1, run) is None  # type: ignore[arg-type]  # it is met about, not exactly


def test_what_warps_wait_for_is_predicted_only_and_says_so() -> None:
    rows = [row for row in time_rows([explained("copy1_2e18")]) if row.percent]
    assert rows[0].label == "waits: memory" and 0.5 < (rows[0].values[0] or 0) < 1
    assert "no reasons for stalls" in rows[0].hint
    assert time_rows([None]) == []
