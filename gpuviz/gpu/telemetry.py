"""Clocks, temperature, power of one GPU through NVML; what it does not tell is left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpuviz.recordings.measurement import Telemetry

_SM, _MEMORY, _TEMPERATURE = 1, 2, 0  # NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU

# nvml.h, nvmlClocksEventReasons: why the clock is lower than it could be.
_REASONS = {
    0x4: "power limit",
    0x8: "hardware slowdown",
    0x20: "temperature (driver)",
    0x40: "temperature (hardware)",
    0x80: "power brake",
}


class Sensor:
    """Reads one GPU, named by its PCI bus id. Without NVML every reading is empty."""

    def __init__(self, bus: str) -> None:
        self._nvml, self._handle = _open(bus)

    def read(self) -> Telemetry:
        """The GPU now."""
        memory = self._ask("nvmlDeviceGetMemoryInfo")
        reasons = self._ask("nvmlDeviceGetCurrentClocksThrottleReasons") or 0
        power = self._ask("nvmlDeviceGetPowerUsage")
        return Telemetry(
            sm_clock=self.clock(),
            memory_clock=self._ask("nvmlDeviceGetClockInfo", _MEMORY),
            temperature=self._ask("nvmlDeviceGetTemperature", _TEMPERATURE),
            power=None if power is None else power / 1000,
            memory_used=None if memory is None else int(memory.used),
            throttle=tuple(text for bit, text in _REASONS.items() if reasons & bit),
        )

    def clock(self) -> float | None:
        """Clock of the multiprocessors, MHz."""
        return _number(self._ask("nvmlDeviceGetClockInfo", _SM))

    def memory_clock(self) -> float | None:
        """Highest clock of the memory, MHz."""
        return _number(self._ask("nvmlDeviceGetMaxClockInfo", _MEMORY))

    def highest_clock(self) -> float | None:
        """Highest clock of the multiprocessors, MHz."""
        return _number(self._ask("nvmlDeviceGetMaxClockInfo", _SM))

    def driver(self) -> str:
        """Version of the driver, "" when not told."""
        if self._nvml is None:
            return ""
        try:
            return str(self._nvml.nvmlSystemGetDriverVersion())
        except self._nvml.NVMLError:
            return ""

    def _ask(self, function: str, *arguments: int) -> Any:
        if self._nvml is None:
            return None
        ask: Callable[..., Any] | None = getattr(self._nvml, function, None)
        if ask is None:
            return None
        try:
            return ask(self._handle, *arguments)
        except self._nvml.NVMLError:
            return None


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _open(bus: str) -> tuple[Any, Any]:
    try:
        import pynvml
    except ImportError:
        return None, None
    try:
        pynvml.nvmlInit()
        return pynvml, pynvml.nvmlDeviceGetHandleByPciBusId(bus.encode())
    except pynvml.NVMLError:
        return None, None
