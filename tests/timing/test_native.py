from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import pytest

from gpuviz.base.arrays import F64, I32
from gpuviz.timing import prediction
from gpuviz.timing.caches import come, leave, renew
from gpuviz.timing.device import H200
from gpuviz.timing.multiprocessor import Sum
from gpuviz.timing.native import native, with_constants
from tests.timing.launches import known

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


def swap(a: int, b: int, values: I32) -> None:
    """Two values change places."""
    kept = values[a]
    values[a] = values[b]
    values[b] = kept


def turn(a: int, b: int, values: I32) -> None:
    """Those between two places are turned around."""
    while a < b:
        swap(a, b, values)
        a += 1
        b -= 1


def turned(count: int, steps: I32) -> float:
    """Turned around, and half of it back."""
    a = 1
    kept = 7
    turn(0, count - a, steps)
    turn(0, count // 2 - 1, steps)
    return float(a + kept)


def test_a_call_is_replaced_by_what_the_function_does() -> None:
    pytest.importorskip("llvmlite")
    results = []
    for function in (turned, native(turned)):
        steps = np.arange(9, dtype=np.int32)
        results.append((function(9, steps), steps.tolist()))
    assert results[0] == results[1] == (8.0, [5, 6, 7, 8, 4, 3, 2, 1, 0])


STEP = 1


class Way(IntEnum):
    UP = 0
    DOWN = 1


@dataclass
class Stack:
    """A pile of numbers; its name is nothing that can be compiled."""

    values: I32
    height: int
    name: str = "pile"


@dataclass
class Table:
    piles: Stack
    sums: F64
    factor: float


@dataclass
class Turn:
    way: int
    moved: int = 0
    weight: float = 0.5


def top(stack: Stack) -> int:
    """The topmost number, -1 of none."""
    if stack.height == 0:
        return -1
    return int(stack.values[stack.height - 1])


def moved(table: Table, turn: Turn) -> float:
    """Take some down, or put one more there."""
    stack = table.piles
    if turn.way == Way.DOWN:
        while stack.height > 0:
            if top(stack) < 3:
                return turn.weight
            stack.height -= STEP
            turn.moved += 1
    else:
        stack.values[stack.height] = 5
        stack.height += 1
    return 2.0 * turn.weight


def played(table: Table, turns: int) -> float:
    """Turns up and down; what they weigh."""
    found = 0.0
    for n in range(turns):
        turn = Turn(n % 2, weight=table.factor)
        found += moved(table, turn)
        table.sums[n] = float(turn.moved) + turn.weight
    return found + float(table.piles.height)


def _played(function: Callable[..., float]) -> tuple[float, list[int], list[float]]:
    table = Table(Stack(np.array([1, 4, 9, 0, 0], np.int32), 3), np.zeros(4), 0.75)
    return function(table, 4), table.piles.values.tolist(), table.sums.tolist()


def test_records_go_into_functions_and_results_come_out() -> None:
    pytest.importorskip("llvmlite")
    assert _played(played) == _played(native(played))
    assert _played(played) == (5.5, [1, 5, 9, 5, 0], [0.75, 3.75, 0.75, 1.75])


def test_constants_are_others_in_what_is_called_too() -> None:
    pytest.importorskip("llvmlite")
    other = with_constants(played, STEP=3)
    assert _played(other) == _played(native(other)) != _played(played)


def test_a_field_that_is_no_number_is_refused() -> None:
    pytest.importorskip("llvmlite")

    def named(stack: Stack) -> float:
        return float(stack.name)

    with pytest.raises(TypeError, match="stack.name' cannot be compiled"):
        native(named)


def test_lines_go_in_the_order_in_which_they_were_asked_for() -> None:
    rng = np.random.default_rng(3)
    older, newer = np.zeros(9, np.int32), np.zeros(9, np.int32)
    wanted: list[int] = []
    for node in rng.integers(1, 9, 300).tolist():
        if node in wanted and rng.random() < 0.3:
            leave(node, older, newer)
            wanted.remove(node)
            continue
        (renew if node in wanted else come)(node, older, newer)
        wanted = [*(n for n in wanted if n != node), node]
        ring = [int(newer[0])]
        while ring[-1]:
            ring.append(int(newer[ring[-1]]))
        assert ring == [*wanted, 0] and older[0] == node


def test_without_llvm_the_function_itself_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    native.cache_clear()
    assert native(collatz) is collatz
    native.cache_clear()


@pytest.mark.machine_code
def test_the_simulation_is_the_same_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = prediction.predict(known("copy1_2e14"), H200)
    monkeypatch.setattr(prediction, "native", lambda function: function)
    plain = prediction.predict(known("copy1_2e14"), H200)
    assert plain.cycles == compiled.cycles
    assert np.array_equal(plain.outcome.sums, compiled.outcome.sums)
    assert plain.outcome.sums[Sum.MISSES] > 0
