"""A launch on the device: its code loaded, its buffers filled, ready to go again and again."""

import ctypes
import os
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from gpuviz.arguments import ImageSpec, TensorMap, TensorMapSpec, parse
from gpuviz.arguments.tensor_maps import SIZE
from gpuviz.base.arrays import Array
from gpuviz.base.errors import LaunchError
from gpuviz.gpu.buffers import Buffers, DeviceImage, InitialContent
from gpuviz.gpu.protocol import Load
from gpuviz.gpu.wire_arguments import Address, Parameter

COPIES_BYTES = 2 << 30  # at most, of buffers to rotate through
_COPIES = 64


class _Copy:
    """Buffers on the device, and the parameters with their addresses."""

    def __init__(self, cupy: Any, request: Load, beginnings: Sequence[InitialContent]) -> None:
        self._cupy, self._beginnings = cupy, beginnings
        self.buffers = [one.new() for one in beginnings]
        self.images: list[DeviceImage] = []
        self.variables = {name: self._held(one) for name, one in request.variables}
        self._parameters = [self._held(one) for one in request.parameters]
        places = [ctypes.addressof(one) for one in self._parameters]
        self._places = (ctypes.c_void_p * len(places))(*places)

    @property
    def parameters(self) -> int:
        """As the driver wants them: the address of an array of theirs."""
        return ctypes.addressof(self._places)

    def _held(self, parameter: Parameter) -> ctypes.Array[ctypes.c_char]:
        if parameter.tensor_map:
            content = bytearray(self._tensor_map(parameter))
        else:
            content = bytearray(parameter.bytes)
            for one in parameter.addresses:
                address = self._address(one).to_bytes(8, "little")
                content[one.at : one.at + 8] = address
        return (ctypes.c_char * len(content)).from_buffer(content)

    def _tensor_map(self, parameter: Parameter) -> bytes:
        spec, (start,) = parse(parameter.tensor_map), parameter.addresses
        assert isinstance(spec, TensorMapSpec)
        return encoded(spec.map_at(self._address(start)))

    def _address(self, one: Address) -> int:
        buffer = self.buffers[one.buffer]
        if not one.image:
            return int(buffer.data.ptr) + one.offset
        spec = parse(one.image)
        assert isinstance(spec, ImageSpec)
        self.images.append(DeviceImage(self._cupy, spec, one.use, buffer))
        return self.images[-1].handle

    def reset(self) -> None:
        """Fill the buffers as they were given."""
        for began, buffer in zip(self._beginnings, self.buffers, strict=True):
            began.fill(buffer)
        for image in self.images:
            image.fill()

    def outputs(self) -> tuple[Array, ...]:
        """The buffers now."""
        for image in self.images:
            image.written_back()
        return tuple(buffer.get() for buffer in self.buffers)


class Kernel:
    """One launch. Copy 0 of its buffers is what `run` uses; others only serve timing."""

    def __init__(self, cupy: Any, request: Load, buffers: Buffers) -> None:
        self._cupy, self._request = cupy, request
        self._beginnings = [buffers.begun(one) for one in request.buffers]
        self.module = _module(cupy, request.arrays[0].tobytes(), request.form)
        self._kernel = self.module.get_function(request.entry)
        if request.dynamic_shared:
            self._kernel.max_dynamic_shared_size_bytes = request.dynamic_shared
        self._copies = [self._copy()]
        self._set_variables()

    def _copy(self) -> _Copy:
        return _Copy(self._cupy, self._request, self._beginnings)

    @property
    def bytes(self) -> int:
        """Of all buffers together."""
        return sum(buffer.nbytes for buffer in self._copies[0].buffers)

    def launch(self, number: int = 0) -> None:
        """Start it, on one of the copies in turn; does not wait."""
        request, copies = self._request, self._copies
        self._cupy.cuda.driver.launchKernel(
            self._kernel.kernel.ptr,
            *request.grid,
            *request.block,
            request.dynamic_shared,
            self._cupy.cuda.get_current_stream().ptr,
            copies[number % len(copies)].parameters,
            0,
        )

    def resident_blocks(self) -> int | None:
        """How many of its blocks the driver says fit on one multiprocessor; None: it won't say."""
        driver, (x, y, z) = self._cupy.cuda.driver, self._request.block
        try:
            return int(
                driver.occupancyMaxActiveBlocksPerMultiprocessor(
                    self._kernel.kernel.ptr, x * y * z, self._request.dynamic_shared
                )
            )
        except driver.CUDADriverError:  # a shape that it would not launch either
            return None

    def registers(self) -> int:
        """How many the driver gives a thread."""
        return int(self._kernel.num_regs)

    def reset(self) -> None:
        """Fill the buffers, and the variables that were set, as they were given."""
        self._copies[0].reset()
        self._set_variables()

    def _set_variables(self) -> None:
        for name, held in self._copies[0].variables.items():
            self._hold(name, held)

    def outputs(self) -> tuple[Array, ...]:
        """The buffers now."""
        return self._copies[0].outputs()

    def rotate(self, beyond: int) -> None:
        """Make as many copies of the buffers as together exceed a number of bytes."""
        size = max(self.bytes, 1)
        wanted = min(beyond // size + 2, _COPIES, max(1, COPIES_BYTES // size))
        while len(self._copies) < wanted:
            self._copies.append(self._copy())
        del self._copies[wanted:]

    def stay(self) -> None:
        """One set of buffers again."""
        del self._copies[1:]

    def point(self, name: str, array: Any) -> None:
        """Set a pointer variable of the module to an array's address."""
        self._hold(name, ctypes.c_uint64(array.data.ptr))

    def _hold(self, name: str, value: Any) -> None:
        place = ctypes.cast(ctypes.byref(value), ctypes.c_void_p)
        self.module.get_global(name).copy_from_host(place, ctypes.sizeof(value))


def _module(cupy: Any, code: bytes, form: str) -> Any:
    """A loaded module; CuPy reads it from a file, which is gone afterwards."""
    handle, path = tempfile.mkstemp(suffix="." + form)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(code)
        module = cupy.RawModule(path=path)
        module.compile()
        return module
    finally:
        os.unlink(path)


# Tensor maps: CUDA Driver API, "Tensor Map Object Management", cuTensorMapEncodeTiled.
_ALIGNMENT = 64  # of the map, where the driver writes it
# CUtensorMapDataType; what has no type of its own there travels as whole numbers of its size.
_FLOATS = {"f16": 6, "f32": 7, "f64": 8, "bf16": 9}
_WHOLE = {1: 0, 2: 1, 4: 2, 8: 4}
_SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}  # CUtensorMapSwizzle


def driver_name() -> str:
    """The file of the driver's library."""
    return "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"


def encoded(one: TensorMap, driver: Any = None) -> bytes:
    """The CUtensorMap of a tensor; `driver` is the driver's library where it is open already.

    Raises
    ------
    LaunchError : the driver does not take it, or is too old to know tensor maps
    """
    library = ctypes.CDLL(driver_name()) if driver is None else driver
    if not hasattr(library, "cuTensorMapEncodeTiled"):
        raise LaunchError("this driver knows no tensor maps: they need one of CUDA 12 or newer")
    room = ctypes.create_string_buffer(SIZE + _ALIGNMENT)
    start = -ctypes.addressof(room) % _ALIGNMENT
    status = library.cuTensorMapEncodeTiled(
        ctypes.c_void_p(ctypes.addressof(room) + start),
        ctypes.c_int(_FLOATS[one.dtype] if one.dtype in _FLOATS else _WHOLE[one.unit]),
        ctypes.c_uint32(len(one.sizes)),
        ctypes.c_void_p(one.address),
        _array_of(ctypes.c_uint64, one.sizes),
        _array_of(ctypes.c_uint64, one.strides),
        _array_of(ctypes.c_uint32, one.box),
        _array_of(ctypes.c_uint32, one.step),
        ctypes.c_int(0),  # not interleaved
        ctypes.c_int(_SWIZZLES[one.swizzle]),
        ctypes.c_int(0),  # nothing more is brought into the second cache than was asked for
        ctypes.c_int(int(one.nan)),
    )
    if status:
        raise LaunchError(
            f"cuTensorMapEncodeTiled refused (error {status}) a tensor of {one.dtype}, sizes "
            f"{one.sizes}, box {one.box}, bytes from line to line {one.strides}"
        )
    return room.raw[start : start + SIZE]


def _array_of(kind: Any, values: Sequence[int]) -> Any:
    return (kind * max(1, len(values)))(*values)
