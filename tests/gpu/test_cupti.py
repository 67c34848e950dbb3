"""CUPTI at its C boundary: a library made up of functions that read and write the structures."""

import ctypes
from typing import Any

import pytest

from gpuviz.gpu.counters import (
    FORMS,
    LIVE_FORMS,
    STALLS,
    all_metrics,
    combine,
    metrics_for,
    readings_of,
)
from gpuviz.gpu.cupti import library
from gpuviz.gpu.cupti.library import Library, failure
from gpuviz.gpu.cupti.profiler import Chip, Profiler
from gpuviz.gpu.faults import CountersUnavailable
from gpuviz.memory.counts import Count


class FakeCupti:
    """Functions with CUPTI's names; `codes` gives the status a function returns."""

    def __init__(self, codes: dict[str, int] | None = None, supported: int = 3) -> None:
        self.codes, self.supported, self.calls = codes or {}, supported, []
        self.names = [b"gpu__time_duration", b"smsp__inst_executed"]
        self.text = (ctypes.c_char_p * 2)(*self.names)

    def __getattr__(self, function: str) -> Any:
        if function not in library.FIELDS:
            raise AttributeError(function)

        def entry(reference: Any) -> int:
            given = reference._obj
            assert given.struct_size == library.size_of(function) and not given.private
            self.calls.append(function)
            fill = getattr(self, "_" + function.removeprefix("cupti"), None)
            if fill is not None:
                fill(given)
            return self.codes.get(function, 0)

        return entry

    def _ProfilerDeviceSupported(self, given: Any) -> None:
        given.supported = self.supported
        for name in ("architecture", "sli", "confidential", "mining", "wsl"):
            setattr(given, name, 3)
        given.vgpu = self.supported

    def _DeviceGetChipName(self, given: Any) -> None:
        given.chip = b"GH100"

    def _ProfilerHostGetBaseMetrics(self, given: Any) -> None:
        given.names, given.count = ctypes.cast(self.text, ctypes.c_void_p), 2

    def _ProfilerHostInitialize(self, given: Any) -> None:
        assert given.chip == b"GH100"
        given.host = 11

    def _ProfilerHostGetConfigImageSize(self, given: Any) -> None:
        given.size = 64

    def _RangeProfilerGetCounterDataSize(self, given: Any) -> None:
        given.size = 128

    def _ProfilerHostGetNumOfPasses(self, given: Any) -> None:
        given.passes = 3

    def _RangeProfilerGetCounterDataInfo(self, given: Any) -> None:
        given.ranges = 1

    def _ProfilerHostEvaluateToGpuValues(self, given: Any) -> None:
        values = ctypes.cast(given.values, ctypes.POINTER(ctypes.c_double))
        for number in range(given.count):
            values[number] = 10.0 + number


def test_sizes_are_those_of_the_c_headers() -> None:
    """As a C compiler gives them for CUpti_..._Params_STRUCT_SIZE of CUDA 13.0, on 64 bits."""
    sizes = {
        "cuptiProfilerInitialize": 16,
        "cuptiProfilerDeviceSupported": 52,
        "cuptiDeviceGetChipName": 32,
        "cuptiProfilerHostInitialize": 48,
        "cuptiProfilerHostGetBaseMetrics": 48,
        "cuptiProfilerHostEvaluateToGpuValues": 72,
        "cuptiRangeProfilerEnable": 32,
        "cuptiRangeProfilerGetCounterDataSize": 64,
        "cuptiRangeProfilerSetConfig": 90,
        "cuptiRangeProfilerStop": 41,
        "cuptiRangeProfilerGetCounterDataInfo": 40,
    }
    assert {name: library.size_of(name) for name in sizes} == sizes


def test_a_reading() -> None:
    dll = FakeCupti()
    chip = Chip(Library(dll), 0)
    assert chip.metrics() == {"gpu__time_duration", "smsp__inst_executed"}
    profiler = Profiler(chip, 5, ("a.sum", "b.sum"))
    dll.calls.clear()
    launched: list[int] = []
    assert profiler.read(lambda: launched.append(1)) == [{"a.sum": 10.0, "b.sum": 11.0}]
    assert launched == [1] and profiler.passes == 3
    assert dll.calls == [
        "cuptiRangeProfilerCounterDataImageInitialize",
        "cuptiRangeProfilerSetConfig",
        "cuptiRangeProfilerStart",
        "cuptiRangeProfilerStop",
        "cuptiRangeProfilerDecodeData",
        "cuptiRangeProfilerGetCounterDataInfo",
        "cuptiProfilerHostEvaluateToGpuValues",
    ]


def test_counters_are_given_back_when_a_kernel_fails() -> None:
    dll = FakeCupti()
    profiler = Profiler(Chip(Library(dll), 0), 5, ("a.sum",))

    def fails() -> None:
        raise RuntimeError("kernel")

    with pytest.raises(RuntimeError, match="kernel"):
        profiler.read(fails)
    assert dll.calls[-1] == "cuptiRangeProfilerStop"


@pytest.mark.parametrize(
    "code, reason, words",
    [
        (35, "denied", "may not read"),
        (40, "denied", "may not read"),
        (26, "busy", "close other"),
        (39, "busy", "close other"),
        (27, "unsupported", "compute capability 7.0"),
        (45, "unsupported", "Linux does not pass"),
        (999, "failed", "timings do not need"),
    ],
)
@pytest.mark.parametrize(
    "function", ["cuptiProfilerInitialize", "cuptiRangeProfilerEnable", "cuptiRangeProfilerStart"]
)
def test_a_refusal_is_told_with_its_remedy(
    function: str, code: int, reason: str, words: str
) -> None:
    library = Library(FakeCupti({function: code}))
    with pytest.raises(CountersUnavailable, match=words) as caught:
        Profiler(Chip(library, 0), 5, ("a.sum",)).read(lambda: None)
    assert caught.value.reason == reason


def test_a_device_that_cannot_be_profiled() -> None:
    with pytest.raises(CountersUnavailable, match="vGPU") as caught:
        Chip(Library(FakeCupti(supported=1)), 0)
    assert caught.value.reason == "unsupported"


def test_an_old_cupti_lacks_the_range_profiler() -> None:
    class Old:
        pass

    with pytest.raises(CountersUnavailable, match="has no cuptiProfilerInitialize"):
        Chip(Library(Old()), 0)


def test_every_status_makes_a_sentence() -> None:
    for code in (*range(1, 47), 999):
        text = str(failure("cuptiX", code, "CUPTI_ERROR_X"))
        assert text.startswith("hardware counters are ") and text.count("\n") == 0


def test_keys_are_those_of_the_predictions_or_said_not_to_be() -> None:
    from gpuviz.gpu.counters import NOT_COMPARED

    known = set(Count) | set(NOT_COMPARED) | set(STALLS) | {"constant_load_replays"}
    assert {key.removesuffix("_raw") for key in FORMS} <= known
    assert LIVE_FORMS.keys() <= FORMS.keys()


def test_keys_whose_metrics_a_chip_lacks_are_left_out() -> None:
    found = metrics_for({"a": ("x",), "b": ("y", "z"), "c": ("y",), "d": ("x+z",)}, frozenset("xz"))
    assert found == {"a": ("x.sum",), "b": ("z.sum",), "d": ("x.sum", "z.sum")}
    assert combine(found, {"x.sum": 2.0, "z.sum": float("nan")}) == {"a": 2.0}


def test_a_ratio_is_read_on_its_own() -> None:
    groups = readings_of({"a": ("x.sum",), "achieved_occupancy": ("y.avg",), "b": ("z.sum",)})
    assert groups == ({"a": ("x.sum",), "b": ("z.sum",)}, {"achieved_occupancy": ("y.avg",)})
    assert readings_of({"a": ("x.sum",)}) == ({"a": ("x.sum",)},)


def test_a_metric_may_name_its_rollup() -> None:
    found = metrics_for({"a": ("x.avg.pct",), "b": ("y.avg.pct",)}, frozenset("x"))
    assert found == {"a": ("x.avg.pct",)} and all_metrics(found, frozenset("x")) == ("x.avg.pct",)
    assert combine(found, {"x.avg.pct": 61.5}) == {"a": 61.5}


@pytest.mark.parametrize("bypassing, known", [(0.0, True), (8.0, False)])
def test_copies_past_l1_leave_no_reading_behind(bypassing: float, known: bool) -> None:
    available = frozenset(p for forms in FORMS.values() for p in forms) | {
        "smsp__sass_inst_executed_op_ldgsts_cache_bypass"
    }
    chosen = metrics_for(FORMS, available)
    values = dict.fromkeys(all_metrics(chosen, available), 1.0)
    values["smsp__sass_inst_executed_op_ldgsts_cache_bypass.sum"] = bypassing
    assert ("global_copy_sectors" in combine(chosen, values)) is known
