"""Reading hardware counters of single kernel launches: CUPTI's range profiler.

Every kernel launched between start and stop is one range; CUPTI repeats it as many times (passes)
as the metrics need, restoring memory in between.
"""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from gpuviz.gpu.cupti.library import Library, unavailable

_RANGE_PROFILER = 0
_COUNTERS, _RATIOS = 0, 1  # CUpti_MetricType
_AUTO_RANGE, _KERNEL_REPLAY = 1, 2  # CUpti_ProfilerRange, CUpti_ProfilerReplayMode
_SUPPORTED = 3  # CUpti_Profiler_Support_Level
_OBSTACLES = {
    "architecture": "the GPU is older than compute capability 7.0",
    "sli": "the GPUs are linked by SLI",
    "vgpu": "the GPU is virtualised without profiling (a vGPU)",
    "confidential": "confidential computing is on",
    "mining": "this is a mining card",
    "wsl": "this Windows Subsystem for Linux does not pass counters on",
}


class Chip:
    """The chip of one device: whether it can be profiled, and which metrics it has."""

    def __init__(self, library: Library, device: int) -> None:
        self.library = library
        library.call("cuptiProfilerInitialize")
        found = library.call("cuptiProfilerDeviceSupported", device=device)
        if found.supported != _SUPPORTED:
            told = [text for name, text in _OBSTACLES.items() if getattr(found, name) != _SUPPORTED]
            raise unavailable("unsupported", "; ".join(told))
        self.name: bytes = library.call("cuptiDeviceGetChipName", device=device).chip

    def metrics(self) -> frozenset[str]:
        """Base names of all counters and ratios of them, without `.sum` and the like."""
        host = _host(self.library, self.name)
        found = self._listed(host, _COUNTERS) | self._listed(host, _RATIOS)
        self.library.call("cuptiProfilerHostDeinitialize", host=host)
        return found

    def _listed(self, host: int, kind: int) -> frozenset[str]:
        listed = self.library.call("cuptiProfilerHostGetBaseMetrics", host=host, kind=kind)
        names = ctypes.cast(listed.names, ctypes.POINTER(ctypes.c_char_p))
        return frozenset(names[i].decode() for i in range(listed.count) if names[i])


def _host(library: Library, chip: bytes) -> int:
    return int(library.call("cuptiProfilerHostInitialize", kind=_RANGE_PROFILER, chip=chip).host)


class Profiler:
    """Reads a fixed set of metrics of kernels launched in one context; set up once, read often.

    `passes` is how many times CUPTI runs each kernel for one reading.
    """

    def __init__(self, chip: Chip, context: int, metrics: Sequence[str], ranges: int = 1) -> None:
        self._library, self.metrics, self._ranges = chip.library, tuple(metrics), ranges
        self._names = (ctypes.c_char_p * len(metrics))(*(m.encode() for m in metrics))
        self._host = _host(self._library, chip.name)
        self._config = self._configuration()
        self.passes = int(
            self._library.call("cuptiProfilerHostGetNumOfPasses", **_image(self._config)).passes
        )
        self._profiler = self._library.call("cuptiRangeProfilerEnable", context=context).profiler
        self._data = self._data_image()

    def _configuration(self) -> ctypes.Array[Any]:
        call, host = self._library.call, self._host
        call("cuptiProfilerHostConfigAddMetrics", host=host, **self._named)
        size = call("cuptiProfilerHostGetConfigImageSize", host=host).size
        image = _bytes(size)
        call("cuptiProfilerHostGetConfigImage", host=host, **_image(image))
        return image

    @property
    def _named(self) -> dict[str, Any]:
        return {"names": ctypes.cast(self._names, ctypes.c_void_p), "count": len(self.metrics)}

    def _data_image(self) -> ctypes.Array[Any]:
        size = self._library.call(
            "cuptiRangeProfilerGetCounterDataSize",
            profiler=self._profiler,
            ranges=self._ranges,
            nodes=self._ranges,
            **self._named,
        ).size
        return _bytes(size)

    def read(self, launch: Callable[[], None]) -> list[dict[str, float]]:
        """Values of the metrics, one dictionary for each kernel that `launch` starts.

        Raises
        ------
        CountersUnavailable : CUPTI refuses
        """
        self._prepare()
        self._library.call("cuptiRangeProfilerStart", profiler=self._profiler)
        try:
            launch()
        finally:
            self._library.call("cuptiRangeProfilerStop", profiler=self._profiler)
        dropped = self._library.call(
            "cuptiRangeProfilerDecodeData", profiler=self._profiler
        ).dropped
        if dropped:
            raise unavailable("failed", f"{dropped} more launched than the one kernel expected")
        info = self._library.call("cuptiRangeProfilerGetCounterDataInfo", **self._decoded)
        return [self._values(number) for number in range(info.ranges)]

    def _prepare(self) -> None:
        """An empty image, or the values of the last reading would stay."""
        data, config = _address(self._data), _address(self._config)
        self._library.call(
            "cuptiRangeProfilerCounterDataImageInitialize",
            profiler=self._profiler,
            size=len(self._data),
            data=data,
        )
        self._library.call(
            "cuptiRangeProfilerSetConfig",
            profiler=self._profiler,
            config=config,
            config_size=len(self._config),
            data=data,
            data_size=len(self._data),
            range=_AUTO_RANGE,
            replay=_KERNEL_REPLAY,
            ranges=self._ranges,
            levels=1,
            first_level=1,
        )

    @property
    def _decoded(self) -> dict[str, Any]:
        return {"data": _address(self._data), "size": len(self._data)}

    def _values(self, number: int) -> dict[str, float]:
        values = (ctypes.c_double * len(self.metrics))()
        self._library.call(
            "cuptiProfilerHostEvaluateToGpuValues",
            host=self._host,
            range=number,
            values=_address(values),
            **self._decoded,
            **self._named,
        )
        return dict(zip(self.metrics, values, strict=True))

    def close(self) -> None:
        """Give the counters back."""
        self._library.call("cuptiRangeProfilerDisable", profiler=self._profiler)
        self._library.call("cuptiProfilerHostDeinitialize", host=self._host)


def _bytes(size: int) -> ctypes.Array[Any]:
    return ctypes.create_string_buffer(size)


def _address(array: ctypes.Array[Any]) -> ctypes.c_void_p:
    return ctypes.cast(array, ctypes.c_void_p)


def _image(array: ctypes.Array[Any]) -> dict[str, Any]:
    return {"size": len(array), "image": _address(array)}
