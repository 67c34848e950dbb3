import math
import sys

import numpy as np
import pytest

from gpuviz.arrays import F64, I32
from gpuviz.machine import prediction, simulation
from gpuviz.machine.device import H200
from gpuviz.machine.native import native
from tests.machine.launches import known

LEAST = 3


def collatz(steps: I32, times: F64, count: int, weight: float) -> float:
    """Steps of each number, up to a limit."""
    total = 0.0
    for n in range(1, count):
        value = n
        taken = 0
        while value != 1:
            if taken > 50:
                break
            value = value // 2 if value % 2 == 0 else 3 * value + 1
            taken += 1
        steps[n] = taken
        if taken < LEAST or n == 7:
            continue
        times[n] += max(float(taken), 4.5) * weight
        total += math.ceil(times[n]) - (taken & 1)
    return total


def test_machine_code_does_what_the_function_does() -> None:
    pytest.importorskip("llvmlite")
    made = native(collatz)
    assert made is not collatz
    results = []
    for function in (collatz, made):
        steps, times = np.zeros(60, np.int32), np.full(60, 0.25)
        results.append((function(steps, times, 60, 0.3), steps.tolist(), times.tolist()))
    assert results[0] == results[1] and results[0][0] > 100


def test_what_is_no_small_python_is_refused() -> None:
    pytest.importorskip("llvmlite")

    def greedy(values: F64, count: int) -> float:
        return sum(values[n] for n in range(count))

    with pytest.raises(TypeError, match="greedy: .* cannot be compiled"):
        native(greedy)
    with pytest.raises(TypeError, match="an array of int64 was passed for I32"):
        native(collatz)(np.zeros(4, np.int64), np.zeros(4), 4, 1.0)


def test_without_llvm_the_function_itself_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    native.cache_clear()
    assert native(collatz) is collatz
    native.cache_clear()


def test_the_simulation_is_the_same_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = prediction.predict(known("copy1_2e18"), H200)
    monkeypatch.setattr(prediction, "native", lambda function: function)
    plain = prediction.predict(known("copy1_2e18"), H200)
    assert plain.cycles == compiled.cycles
    assert np.array_equal(plain.outcome.sums, compiled.outcome.sums)
    assert plain.outcome.sums[simulation.MISSES] > 0
