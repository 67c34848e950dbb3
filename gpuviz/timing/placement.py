"""Which multiprocessor runs which block, where nobody noted it: as an H200 dealt them out."""

from __future__ import annotations

from gpuviz.timing.device import Device


def blocks_of(device: Device, position: int, blocks: int) -> list[int]:
    """The blocks that the multiprocessor at a `position` of the dealing order runs, in order.

    Blocks are dealt out in rounds, one to each multiprocessor; in a second and last round those in
    `device.skipped` are left out first.
    """
    count = device.multiprocessors
    if not count < blocks < 2 * count:
        return list(range(position, blocks, count))
    order = [p for p in range(count) if p not in device.skipped]
    order += [p for p in range(count) if p in device.skipped]
    second = sorted(order[: blocks - count])
    found = [position]
    if position in second:
        found.append(count + second.index(position))
    return found
