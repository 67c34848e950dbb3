"""A launch on the device: its code loaded, its buffers filled, ready to go again and again."""

from __future__ import annotations

import ctypes
import os
import tempfile
from typing import Any

from gpuviz.arrays import Array
from gpuviz.runners.gpu.buffers import Beginning, Buffers
from gpuviz.runners.gpu.protocol import Load

COPIES_BYTES = 2 << 30  # at most, of buffers to rotate through
_COPIES = 64


class Kernel:
    """One launch. Copy 0 of its buffers is what `run` uses; others only serve timing."""

    def __init__(self, cupy: Any, request: Load, buffers: Buffers) -> None:
        self._cupy, self._request = cupy, request
        self._arguments = [buffers.begun(a, n) for n, a in enumerate(request.arguments)]
        self.module = _module(cupy, request.arrays[0].tobytes(), request.form)
        self._kernel = self.module.get_function(request.entry)
        if request.dynamic_shared:
            self._kernel.max_dynamic_shared_size_bytes = request.dynamic_shared
        self._copies = [self._device_arguments()]

    def _device_arguments(self) -> tuple[Any, ...]:
        """Buffers on the device, scalars as they are."""
        return tuple(a.new() if isinstance(a, Beginning) else a for a in self._arguments)

    @property
    def bytes(self) -> int:
        """Of all buffers together."""
        return sum(buffer.nbytes for _, buffer in self._buffers())

    def _buffers(self) -> list[tuple[Beginning, Any]]:
        """How each buffer begins, and the buffer of copy 0."""
        pairs = zip(self._arguments, self._copies[0], strict=True)
        return [(began, buffer) for began, buffer in pairs if isinstance(began, Beginning)]

    def launch(self, number: int = 0) -> None:
        """Start it, on one of the copies in turn; does not wait."""
        request, copies = self._request, self._copies
        self._kernel(
            request.grid,
            request.block,
            copies[number % len(copies)],
            shared_mem=request.dynamic_shared,
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
        """Fill the buffers as they were given."""
        for began, buffer in self._buffers():
            began.fill(buffer)

    def outputs(self) -> tuple[Array, ...]:
        """The buffers now."""
        return tuple(buffer.get() for _, buffer in self._buffers())

    def rotate(self, beyond: int) -> None:
        """Make as many copies of the buffers as together exceed a number of bytes."""
        size = max(self.bytes, 1)
        wanted = min(beyond // size + 2, _COPIES, max(1, COPIES_BYTES // size))
        while len(self._copies) < wanted:
            self._copies.append(self._device_arguments())
        del self._copies[wanted:]

    def stay(self) -> None:
        """One set of buffers again."""
        del self._copies[1:]

    def point(self, name: str, array: Any) -> None:
        """Set a pointer variable of the module to an array's address."""
        address = ctypes.c_uint64(array.data.ptr)
        place = ctypes.cast(ctypes.byref(address), ctypes.c_void_p)
        self.module.get_global(name).copy_from_host(place, ctypes.sizeof(address))


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
