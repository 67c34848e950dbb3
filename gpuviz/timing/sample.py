"""Which multiprocessors are looked at, and which of their blocks: all would take too long.

Where nobody noted which multiprocessor runs which block, they are as an H200 dealt them out.
"""

from __future__ import annotations

from dataclasses import dataclass

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


REQUESTS = 130_000  # that are kept of all blocks looked at
STEPS = 150_000  # instructions of one warp, times blocks: the NumPy engine runs them one by one
_SPREAD = (0, 28, 57, 85)  # hundredths of the dealing order


@dataclass(frozen=True)
class Sample:
    """Blocks looked at of some multiprocessors, `each` at most; the first runs `most` in all."""

    shares: tuple[tuple[int, ...], ...]
    each: int
    most: int
    blocks: int

    @property
    def recorded(self) -> tuple[int, ...]:
        """All of them."""
        return tuple(sorted({block for share in self.shares for block in share}))

    @property
    def whole(self) -> bool:
        """Whether all blocks of the first multiprocessor are looked at."""
        return len(self.shares[0]) == self.most


def sample(device: Device, blocks: int, resident: int, requests: float, steps: float) -> Sample:
    """What to look at of a launch whose blocks make so many requests and steps each.

    A multiprocessor's blocks are cut after so many as are `resident` at once, or a multiple. Where
    even these are far too much, fewer stand for them.
    """
    room = int(min(REQUESTS / max(requests, 1.0), STEPS / max(steps, 1.0)))
    most = -(-blocks // device.multiprocessors)
    fewest = max(1, min(resident, 2 * room))
    each = min(most, max(fewest, room // resident * resident))
    positions = [p * device.multiprocessors // 100 for p in _SPREAD]
    found = [p for p in positions if p < blocks][: max(1, room // each)]
    shares = tuple(tuple(blocks_of(device, p, blocks)[:each]) for p in found)
    return Sample(shares, each, most, blocks)


def each_alone(blocks: int) -> Sample:
    """All blocks, each alone on a multiprocessor."""
    return Sample(tuple((block,) for block in range(blocks)), 1, 1, blocks)


def looked_at(device: Device, blocks: int) -> tuple[int, ...]:
    """All blocks of the multiprocessors that are looked at, where these are few."""
    every = (blocks_of(device, p * device.multiprocessors // 100, blocks) for p in _SPREAD)
    return tuple(sorted({block for some in every for block in some if block < blocks}))
