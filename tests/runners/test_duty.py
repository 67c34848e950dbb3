"""A GPU that measures by itself is busy for a share of the time."""

from __future__ import annotations

import numpy as np
import pytest

from gpuviz.runners.duty import AHEAD_SECONDS, Duty


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("share", [0.1, 0.25, 1.0])
def test_over_long_it_is_busy_for_its_share(share: float) -> None:
    clock, random = Clock(), np.random.default_rng(1)
    duty, busy = Duty(share, clock), 0.0
    for _ in range(2000):
        clock.now += duty.due
        with duty.busy():
            clock.now += (took := float(random.uniform(0.01, 2.0)))
        busy += took
    assert (busy - AHEAD_SECONDS) / (clock.now - 100.0) <= share * 1.001
    assert busy / (clock.now - 100.0) == pytest.approx(share, rel=0.1)


def test_a_rested_gpu_answers_at_once_and_saves_nothing_up() -> None:
    clock = Clock()
    duty = Duty(0.1, clock)
    clock.now += 3600
    with duty.busy():
        clock.now += AHEAD_SECONDS - 0.1
    assert duty.due == 0.0
    with duty.busy():
        clock.now += 1.0
    assert duty.due == pytest.approx((1.0 - 0.1 - 0.1 * 1.0) / 0.1)
