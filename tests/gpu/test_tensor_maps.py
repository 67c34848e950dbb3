"""Tensor maps on their way to a device: what the driver is asked to encode, and where it is put."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from gpuviz.arguments import TensorMapSpec, parse
from gpuviz.base.errors import LaunchError
from gpuviz.gpu.kernel import encoded
from gpuviz.gpu.wire_arguments import wire_arguments

MAP = "tensormap(f16[32,256]=rand, box=16x64, swizzle=128, outside=nan)"


class Driver:
    """Keeps what it was asked for, and writes its own bytes."""

    def __init__(self, status: int = 0) -> None:
        self.status, self.asked = status, list[Any]()

    def cuTensorMapEncodeTiled(self, place: Any, *asked: Any) -> int:
        assert place.value % 64 == 0
        self.asked = [list(x) if hasattr(x, "_length_") else x.value for x in asked]
        ctypes.memset(place.value, 7, 128)
        return self.status


def asked(text: str, driver: Driver) -> list[Any]:
    spec = parse(text)
    assert isinstance(spec, TensorMapSpec)
    assert encoded(spec.map_at(0x7000), driver) == bytes([7]) * 128
    return driver.asked


def test_the_driver_is_asked_as_cuda_has_it() -> None:
    """Data type, rank, address, sizes, strides in bytes, box, steps; fp16 6, 128 bytes 3, NaN 1."""
    found = asked(MAP, Driver())
    assert found == [6, 2, 0x7000, [256, 32], [512], [64, 16], [1, 1], 0, 3, 0, 1]
    found = asked("tensormap(i32[100]=arange, box=32)", Driver())
    assert found == [2, 1, 0x7000, [100], [0], [32], [1], 0, 0, 0, 0]


def test_what_the_driver_refuses_is_told() -> None:
    with pytest.raises(LaunchError, match=r"refused \(error 1\) a tensor of f16"):
        asked(MAP, Driver(1))
    with pytest.raises(LaunchError, match="knows no tensor maps"):
        spec = parse(MAP)
        assert isinstance(spec, TensorMapSpec)
        encoded(spec.map_at(), object())


def test_a_map_travels_with_the_buffer_it_is_of() -> None:
    arguments = wire_arguments(
        (parse(MAP), parse("f32[8]=zeros"), parse("tensormap(f32[8]=&1+0, box=8)"))
    )
    first, _, view = arguments.parameters
    assert first.tensor_map == MAP and view.tensor_map == "tensormap(f32[8]=&1+0, box=8)"
    sizes = [one.spec.count for one in arguments.buffers]  # type: ignore[union-attr]
    assert sizes[view.addresses[0].buffer] == 8 and sizes[first.addresses[0].buffer] == 32 * 256
