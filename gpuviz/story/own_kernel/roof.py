"""How high the roof is over a launch: of bytes and rates as the model of time has them, so that it
never contradicts the time predicted, nor what limits it.
"""

import re
from dataclasses import dataclass

from gpuviz.arch import architecture
from gpuviz.arch.roofline import Roof
from gpuviz.base.errors import UnavailableError
from gpuviz.panels.limit_words import few_blocks
from gpuviz.panels.roofline import rate
from gpuviz.run.run import Run
from gpuviz.run.throughput import SECTOR, memory_sectors, work_of
from gpuviz.timing.device import Device, device_of
from gpuviz.words.language import tr

# Instructions that do more a cycle than multiply-adds of 32 bits.
_FASTER = re.compile(r"^\s*(?:@!?%\w+\s+)?(?:w?g?mma\.|\w+\.[\w.]*f16x2)", re.MULTILINE)


@dataclass(frozen=True)
class Under:
    """A launch under its roof: operations, and how many for each byte of memory, and that lanes
    ask for. `roof` is that of the multiprocessors it occupies, None where nothing is known.
    """

    flops: int
    intensity: float
    asked: float
    roof: Roof | None
    device: Device | None
    few: str  # "" where there are blocks for all multiprocessors

    @property
    def by_memory(self) -> bool:
        """Whether memory is the lower of both roofs."""
        ridge = self.roof.ridge if self.roof is not None else None
        return ridge is None or self.intensity < ridge

    @property
    def title(self) -> str:
        """What is allowed, a launch that is too small said first."""
        n = f"{self.intensity:.3g}"
        if self.roof is None:
            return tr("{n} operations for each byte of memory", n=n)
        most = rate(self.roof.attainable(self.intensity))
        said = tr("Memory allows {rate} at most: {n} operations a byte", rate=most, n=n)
        if not self.by_memory:
            said = tr("Arithmetic allows {rate} at most: {n} operations a byte", rate=most, n=n)
        return f"{self.few}. {said}" if self.few else said

    @property
    def said(self) -> str:
        """What is counted, and what the roof is not."""
        return tr(
            "Each byte of memory once, however often lanes ask for it. It may take longer than the "
            "roof allows: what it waits for is in the tab “time”."
        )


def roof_of(run: Run) -> Under | None:
    """Of a launch; None without operations, or without bytes of memory."""
    work, (read, written) = work_of(run), memory_sectors(run)
    blocks, moved = run.trace.launch.blocks, float(SECTOR * (read + written))
    faster = _FASTER.search(run.trace.ptx) is not None
    roof, device, few = None, None, ""
    try:
        device = device_of(architecture(run.arch))
    except UnavailableError:
        peaks = run.measurement.peaks if run.measurement is not None else None
        if peaks is not None:
            roof = Roof(peaks.bytes_per_second, None if faster else peaks.flops_per_second)
    else:
        active = min(blocks, device.multiprocessors)
        moved, seconds = device.memory_work(read, written, active)
        most = None if faster else device.multiply_adds(active)
        roof = Roof(moved / max(seconds, 1e-12), most)
        few = few_blocks(blocks, device.multiprocessors)
    if not (work.flops and moved):
        return None
    asked = work.flops / max(work.asked, 1)
    return Under(work.flops, work.flops / moved, asked, roof, device, few)
