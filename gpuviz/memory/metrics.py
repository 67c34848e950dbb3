"""What the hardware counts of memory accesses, and why it may differ from what is predicted: the
table resources/words/counters.toml.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from gpuviz.words.language import later, texts

RAW = "_raw"  # ends the name of a reading of `Hardware.noisy`
_OPCODES = {
    "load": "ld",
    "store": "st",
    "atomic": "atom",
    "reduction": "red",
    "copy": "ldgsts",
    "matrix": "mma",
}


_UNKNOWN = later("no cause is known: please report it with the copied counts")


@dataclass(frozen=True)
class Hardware:
    """A counter of the hardware; in names of metrics stand `{space}` and `{op}`, the opcode."""

    metric: str  # what should equal the prediction
    # The same, read in one pass with everything else that has such a metric; "" for none.
    live: str = ""
    # The same with arbitration between warps, read beside it under a name with `RAW`.
    noisy: str = ""
    # What is added to `metric`, and to `live`, where the chip has it: matrices are loaded and
    # stored by instructions that these do not count.
    besides: str = ""
    less: str = ""  # what is taken off `metric`, where the chip has it
    panel: bool = False  # `metric` is read besides the live ones while a lesson is explored
    # Copies that bypass L1 are missing, so a launch that has some gets no reading.
    lost_past_l1: bool = False
    cause: str = _UNKNOWN  # why it may differ all the same


def named(metric: str, space: str, op: str) -> str:
    """A metric's name for one kind of access."""
    return metric.format(space=space, op=_OPCODES[op])


COUNTERS: Mapping[str, Hardware] = {
    name: Hardware(**row) for name, row in texts("counters").items()
}
"""By the names that counts know them by."""
