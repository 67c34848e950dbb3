from types import SimpleNamespace

import numpy as np
import pytest

from gpuviz.recordings.measurement import DeviceFacts, Measurement, Peaks, Timing
from gpuviz.story.measured import badge_of, device_of, time_bars, time_figures, time_of

H200 = DeviceFacts(0, "NVIDIA H200", "9.0", "", "", 132, 0, 0)


def test_a_time_has_its_badge_and_its_device() -> None:
    timing = Timing(np.array([3.0, 1.0, 2.0]))
    run = SimpleNamespace(
        companion=None,
        arch="sm_90",
        measurement=Measurement("recorded", "2026-01-01", H200, timing=timing),
    )
    found = time_of(run)
    assert found is not None
    assert (found.microseconds, found.text, found.badge) == (2.0, "2.00\u202fµs", "recorded")
    assert badge_of([None, found]) == "recorded" and device_of([found]) == "NVIDIA H200, 2026-01-01"


def test_without_a_measurement_there_is_no_time() -> None:
    unmeasured = Measurement("live", "2026-01-01", H200)
    assert time_of(SimpleNamespace(companion=None, arch="sm_90", measurement=None)) is None
    assert time_of(SimpleNamespace(companion=None, arch="sm_90", measurement=unmeasured)) is None
    assert badge_of([None]) == "unavailable" and device_of([]) == "no GPU and no recording"


def test_long_times_are_milliseconds() -> None:
    timing = Timing(np.array([14500.0]))
    run = SimpleNamespace(
        companion=None,
        arch="sm_90",
        measurement=Measurement("live", "2026-01-01", H200, timing=timing),
    )
    found = time_of(run)
    assert found is not None and found.text == "14.5\u202fms"
    assert badge_of([found]) == "live"


@pytest.mark.parametrize(
    ("time", "empty", "said"),
    [
        (4.1, 2.1, "mostly launch overhead (2.10\u202fµs)"),
        (6.2, 2.1, "launch overhead: 2.10\u202fµs of it"),
        (6.4, 2.1, ""),
        (6.2, None, ""),
    ],
)
def test_what_is_below_three_empty_kernels_is_mostly_launching(
    time: float, empty: float | None, said: str
) -> None:
    peaks = Peaks(4e12, 6e13, empty)
    timing = Timing(np.array([time]))
    found = Measurement("live", "2026-01-01", H200, timing=timing, peaks=peaks)
    timed = time_of(SimpleNamespace(companion=None, arch="sm_90", measurement=found))
    assert timed is not None and timed.overhead == found.overhead == said
    (figure,) = time_figures(timed)
    assert (figure.ink == "muted") == bool(said) and (said in figure.text)
    assert (
        figure.texts[-1] == f"launch {time:.2f}\u202fµs"
    )  # the time alone where there is no room for more
    shown = time_bars([("a", timed), ("b", None)])
    assert [bar.quiet for bar in shown.bars] == [bool(said), False]
    assert not said or f"grey: {said}" in shown.where[0]


def test_a_time_on_another_architecture_than_the_one_drawn_names_its_device() -> None:
    timing = Timing(np.array([55.0]))
    measurement = Measurement("recorded", "2026-01-01", H200, timing=timing)
    for arch, figure in (
        ("sm_90", "launch 55.0\u202fµs, NVIDIA H200, 2026-01-01"),
        ("sm_10", "on NVIDIA H200: 55.0\u202fµs"),
    ):
        run = SimpleNamespace(companion=None, arch=arch, measurement=measurement)
        assert time_figures(time_of(run))[0].text == figure
        assert "NVIDIA H200" in time_bars([("a", time_of(run))]).where[-1]
