"""Buffers of launches as they begin: made in the GPU's process, of the emulator's very bits."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpuviz.arguments import FILLS, BufferSpec, Recipe, materialise
from gpuviz.gpu.buffers import Buffers


class OnDevice(np.ndarray[Any, Any]):
    """Stands in for an array of CuPy's."""

    def set(self, host: np.ndarray[Any, Any]) -> None:
        self[...] = host


uploaded: list[int] = []


def upload(host: np.ndarray[Any, Any]) -> Any:
    uploaded.append(np.asarray(host).nbytes)
    return np.array(host).view(OnDevice)


CUPY = SimpleNamespace(
    ndarray=OnDevice,
    asarray=upload,
    empty=lambda shape, dtype: np.empty(shape, dtype).view(OnDevice),
)


@pytest.mark.parametrize("most", [0, 1 << 20])
@pytest.mark.parametrize("dtype", ["u8", "i32", "f16", "f32", "f64"])
def test_buffers_begin_with_the_bits_that_the_emulator_has(dtype: str, most: int) -> None:
    buffers = Buffers(CUPY, most)
    plain = "-0.0" if dtype[0] == "f" else "7"
    for fill in (*FILLS, "rand(5)", "shuffle(5)", plain):
        for count in (300, 7, 70_000):  # shorter and longer ones than the one that is kept
            for number in (0, 3):
                spec = BufferSpec(dtype, count, fill)
                begun = buffers.begun(Recipe(spec, number))
                made = begun.new()
                wanted = materialise(spec, number)
                assert made.tobytes() == wanted.tobytes()
                made[...] = 1
                begun.fill(made)
                assert made.tobytes() == wanted.tobytes() and made.dtype == wanted.dtype


def test_what_is_there_already_is_not_made_again() -> None:
    buffers = Buffers(CUPY, 1 << 20)
    buffers.begun(Recipe(BufferSpec("f32", 4000, "rand"), 0))
    uploaded.clear()
    for count in (1, 400, 4000):
        buffers.begun(Recipe(BufferSpec("f32", count, "rand"), 0))
    assert uploaded == []
    buffers.begun(Recipe(BufferSpec("f32", 4000, "zeros"), 1))
    assert uploaded == [4]


def test_values_that_are_listed_are_those_of_each_element() -> None:
    made = Buffers(CUPY, 1 << 20).begun(Recipe(BufferSpec("i32", 3, "[4,5,6]"), 0)).new()
    assert made.tolist() == [4, 5, 6]


def test_no_more_is_kept_than_has_room() -> None:
    buffers = Buffers(CUPY, 1000)
    for number in range(3):
        buffers.begun(Recipe(BufferSpec("f32", 100, "rand"), number))
    uploaded.clear()
    buffers.begun(Recipe(BufferSpec("f32", 100, "rand"), 2))
    buffers.begun(Recipe(BufferSpec("f32", 100, "rand"), 1))
    assert uploaded == []
    buffers.begun(Recipe(BufferSpec("f32", 100, "rand"), 0))
    assert uploaded == [400]


def test_arrays_that_were_sent_are_what_they_are() -> None:
    given = np.arange(6, dtype=np.int16).reshape(2, 3)
    assert np.array_equal(Buffers(CUPY, 0).begun(given).new(), given)
