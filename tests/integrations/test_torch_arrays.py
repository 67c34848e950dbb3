"""torch's tensors as arguments: by a double that has what is asked of them.

That torch's own behave so was seen on a GPU (docs/frameworks.md).
"""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import gpuviz
from gpuviz.integrations.arguments import host_array, is_array

TEXT = "__global__ void twice(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }"


class Tensor:
    """A tensor's face around an array; `kind` is bfloat16 where NumPy has no type for it."""

    def __init__(self, array: np.ndarray, device: str = "cpu", kind: str = "") -> None:
        self.array, self.kind = array, kind
        self.device = SimpleNamespace(type=device)
        self.shape = array.shape
        self.data_ptr = lambda: array.ctypes.data
        self.numel, self.element_size = lambda: array.size, lambda: array.itemsize
        self.is_contiguous = lambda: array.flags.c_contiguous
        self.detach = self.cpu = lambda: self

    @property
    def __cuda_array_interface__(self) -> None:
        raise RuntimeError("Can't get __cuda_array_interface__ on Variable that requires grad")

    def __dlpack__(self) -> None:
        raise BufferError("Can't export tensors that require gradient")

    def stride(self) -> tuple[int, ...]:
        return tuple(step // self.array.itemsize for step in self.array.strides)

    def as_strided(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> "Tensor":
        steps = [n * self.array.itemsize for n in strides]
        found = np.lib.stride_tricks.as_strided(self.array, shape, steps)
        return Tensor(found, self.device.type, self.kind)

    def view(self, dtype: str) -> "Tensor":
        return Tensor(self.array.view(dtype), self.device.type)

    def numpy(self) -> np.ndarray:
        if self.kind:
            raise TypeError(f"Got unsupported ScalarType {self.kind}")
        return self.array

    def copy_(self, other: np.ndarray) -> None:
        self.array[...] = other


Tensor.__module__ = "torch"


@pytest.fixture(autouse=True)
def torch(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"uint8": "u1", "int16": "i2", "int32": "i4", "from_numpy": lambda array: array}
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(**names))


def test_a_tensor_is_copied_and_filled_only_where_it_is_asked_for() -> None:
    x = np.ones(64, "f4")
    run = gpuviz.trace(TEXT, 1, 64, (Tensor(x), 40))
    assert (x == 1).all() and run.arrays["x"].sum() == 64 + 40
    gpuviz.trace(TEXT, 1, 64, (Tensor(x), 40), inplace=True)
    assert x.sum() == 64 + 40


def test_a_view_with_gaps_is_the_memory_that_it_spans() -> None:
    whole = np.arange(60, dtype="f4").reshape(10, 6)
    found = host_array(Tensor(whole[:, 2]), "x")
    assert (found.values == np.arange(2, 57)).all() and found.span[1] - found.span[0] == 4 * 55
    assert found.restore is not None
    found.restore(np.zeros(55, "f4"))
    assert whole.sum() == 0 + 1 + 57 + 58 + 59


def test_what_lies_on_a_gpu_is_not_written_to() -> None:
    tensor = Tensor(np.ones(4, "f4"), device="cuda")
    assert is_array(tensor) and host_array(tensor, "x").restore is None


def test_a_type_that_numpy_lacks_is_whole_numbers_of_its_size() -> None:
    bits = np.arange(8, dtype="u2")
    found = host_array(Tensor(bits, kind="BFloat16"), "x")
    assert found.values.dtype == np.int16 and (found.values == np.arange(8)).all()
