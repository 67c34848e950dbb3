"""What the host code of a file says of a launch, as texts of the launch."""

from __future__ import annotations

import math

from gpuviz.arguments import DTYPES
from gpuviz.compile import Written
from gpuviz.kernels.launch_texts import Kernel, LaunchTexts
from gpuviz.kernels.proposals import SIDE


def proposed_by(launch: Written, kernel: Kernel) -> LaunchTexts:
    """Sizes, numbers, and pointers into buffers (`d_in + 3`), as far as these are constants."""
    given = {}
    threads = math.prod(launch.grid or (1,)) * math.prod(launch.block or (1,))
    offsets = (*launch.offsets, *[0] * len(kernel.taken))
    for taken, value, offset in zip(kernel.taken, launch.values, offsets, strict=False):
        if taken.buffer and offset:
            length = max(threads, SIDE * SIDE) * taken.lanes + 2 * offset
            given[taken.name] = f"{'zeros' if taken.written else 'rand'}({length}) + {offset}"
        elif (
            taken.kind in DTYPES
            and not taken.buffer
            and taken.count == 1
            and isinstance(value, int | float)
        ):
            given[taken.name] = f"{value:g}" if taken.kind[0] == "f" else str(int(value))
    grid, block = (",".join(map(str, one or ())) for one in (launch.grid, launch.block))
    return LaunchTexts(grid, block, str(launch.shared or ""), given)
