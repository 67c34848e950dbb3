"""Every count that is predicted: one row each, with what the hardware has of it.

To add one: its row here; what measures it, in `request_counts`; and for a quantity of a new kind
its words, in `units`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Literal, TypeVar, cast

from gpuviz.base import resources
from gpuviz.memory.metrics import COUNTERS, Hardware, named
from gpuviz.traces.trace import MemoryInstruction

Quantity = Literal[
    "requests",
    "sectors",
    "lines",
    "sectors_ideal",
    "bytes",
    "wavefronts",
    "wavefronts_ideal",
    "replays",
    "sectors_least",
    "sectors_most",
    "instructions",
]
Value = TypeVar("Value")
Kind = tuple[str, str]
"""Space and operation: ("global", "load")."""


def parts(name: str) -> tuple[str, str, str]:
    """`global_load_sectors` as space, operation and quantity."""
    space, op, quantity = name.split("_", 2)
    return space, op, quantity


class Count(StrEnum):
    """A count by its name, `<space>_<op>_<quantity>`: the same in tables, files and lectures.

    `kind` is its space and operation, `quantity` what is counted of such accesses, `on_gpu` what a
    GPU counts that should equal it; None where there is nothing such.
    """

    kind: Kind
    quantity: Quantity
    on_gpu: Hardware | None

    def __new__(cls, name: str, on_gpu: str = "") -> Count:
        """A row of the table below."""
        self = str.__new__(cls, name)
        self._value_ = name
        space, op, counted = parts(name)
        self.kind = (space, op)
        self.quantity = cast(Quantity, counted)
        self.on_gpu = COUNTERS[on_gpu] if on_gpu else None
        return self

    GLOBAL_LOAD_REQUESTS = "global_load_requests", "requests"
    GLOBAL_LOAD_SECTORS = "global_load_sectors", "sectors"
    GLOBAL_LOAD_LINES = "global_load_lines", "lines"
    GLOBAL_LOAD_SECTORS_IDEAL = "global_load_sectors_ideal"
    GLOBAL_LOAD_BYTES = "global_load_bytes"
    GLOBAL_STORE_REQUESTS = "global_store_requests", "requests"
    GLOBAL_STORE_SECTORS = "global_store_sectors", "sectors"
    GLOBAL_STORE_LINES = "global_store_lines", "lines"
    GLOBAL_STORE_SECTORS_IDEAL = "global_store_sectors_ideal"
    GLOBAL_STORE_BYTES = "global_store_bytes"
    GLOBAL_ATOMIC_REQUESTS = "global_atomic_requests", "requests"
    GLOBAL_ATOMIC_SECTORS = "global_atomic_sectors", "atomic_sectors"
    GLOBAL_ATOMIC_LINES = "global_atomic_lines", "atomic_lines"
    GLOBAL_ATOMIC_SECTORS_IDEAL = "global_atomic_sectors_ideal"
    GLOBAL_ATOMIC_BYTES = "global_atomic_bytes"
    GLOBAL_REDUCTION_REQUESTS = "global_reduction_requests", "requests"
    GLOBAL_REDUCTION_SECTORS = "global_reduction_sectors", "atomic_sectors"
    GLOBAL_REDUCTION_LINES = "global_reduction_lines", "atomic_lines"
    GLOBAL_REDUCTION_SECTORS_IDEAL = "global_reduction_sectors_ideal"
    GLOBAL_REDUCTION_BYTES = "global_reduction_bytes"
    GLOBAL_COPY_REQUESTS = "global_copy_requests", "copy_requests"
    GLOBAL_COPY_SECTORS = "global_copy_sectors", "copy_sectors"
    GLOBAL_COPY_LINES = "global_copy_lines"
    GLOBAL_COPY_SECTORS_IDEAL = "global_copy_sectors_ideal"
    GLOBAL_COPY_BYTES = "global_copy_bytes"
    TEXTURE_LOAD_REQUESTS = "texture_load_requests"
    TEXTURE_LOAD_SECTORS = "texture_load_sectors"
    TEXTURE_LOAD_LINES = "texture_load_lines"
    TEXTURE_LOAD_SECTORS_IDEAL = "texture_load_sectors_ideal"
    TEXTURE_LOAD_BYTES = "texture_load_bytes"
    LOCAL_LOAD_REQUESTS = "local_load_requests", "local_requests"
    LOCAL_LOAD_SECTORS = "local_load_sectors", "local_sectors"
    LOCAL_LOAD_LINES = "local_load_lines", "local_lines"
    LOCAL_LOAD_SECTORS_IDEAL = "local_load_sectors_ideal"
    LOCAL_LOAD_BYTES = "local_load_bytes"
    LOCAL_STORE_REQUESTS = "local_store_requests", "local_requests"
    LOCAL_STORE_SECTORS = "local_store_sectors", "local_sectors"
    LOCAL_STORE_LINES = "local_store_lines", "local_lines"
    LOCAL_STORE_SECTORS_IDEAL = "local_store_sectors_ideal"
    LOCAL_STORE_BYTES = "local_store_bytes"
    SHARED_LOAD_REQUESTS = "shared_load_requests", "shared_loads"
    SHARED_LOAD_WAVEFRONTS = "shared_load_wavefronts", "shared_load_wavefronts"
    SHARED_LOAD_WAVEFRONTS_IDEAL = "shared_load_wavefronts_ideal"
    SHARED_STORE_REQUESTS = "shared_store_requests", "shared_stores"
    SHARED_STORE_WAVEFRONTS = "shared_store_wavefronts", "shared_store_wavefronts"
    SHARED_STORE_WAVEFRONTS_IDEAL = "shared_store_wavefronts_ideal"
    SHARED_ATOMIC_REQUESTS = "shared_atomic_requests", "shared_atomics"
    SHARED_ATOMIC_WAVEFRONTS = "shared_atomic_wavefronts", "shared_atomic_wavefronts"
    SHARED_ATOMIC_WAVEFRONTS_IDEAL = "shared_atomic_wavefronts_ideal"
    SHARED_COPY_REQUESTS = "shared_copy_requests", "copies_issued"
    SHARED_COPY_WAVEFRONTS = "shared_copy_wavefronts", "copy_wavefronts"
    SHARED_COPY_WAVEFRONTS_IDEAL = "shared_copy_wavefronts_ideal"
    SHARED_MATRIX_REQUESTS = "shared_matrix_requests", "matrix_requests"
    SHARED_MATRIX_WAVEFRONTS = "shared_matrix_wavefronts", "matrix_wavefronts"
    CONSTANT_LOAD_REQUESTS = "constant_load_requests"
    CONSTANT_LOAD_WAVEFRONTS = "constant_load_wavefronts"
    CONSTANT_LOAD_REPLAYS = "constant_load_replays", "replays"
    BULK_LOAD_REQUESTS = "bulk_load_requests", "bulk_requests"
    BULK_LOAD_SECTORS = "bulk_load_sectors", "bulk_read"
    BULK_LOAD_BYTES = "bulk_load_bytes"
    BULK_STORE_REQUESTS = "bulk_store_requests", "bulk_requests"
    BULK_STORE_SECTORS = "bulk_store_sectors", "bulk_written"
    BULK_STORE_BYTES = "bulk_store_bytes"
    BULK_REDUCTION_REQUESTS = "bulk_reduction_requests", "bulk_requests"
    BULK_REDUCTION_SECTORS = "bulk_reduction_sectors", "bulk_written"
    BULK_REDUCTION_BYTES = "bulk_reduction_bytes"
    TENSOR_MATRIX_INSTRUCTIONS = "tensor_matrix_instructions", "tensor"
    L2_LOAD_SECTORS_LEAST = "l2_load_sectors_least"
    L2_LOAD_SECTORS_MOST = "l2_load_sectors_most"

    @property
    def ideal(self) -> Count | None:
        """What it would be at best; None where that is not predicted."""
        return find(f"{self}_ideal")


CountValues = Mapping[Count, float] | Mapping[str, float]
"""CountValues by name: predicted, or measured, where there are others beside them."""

_BY_NAME: dict[str, Count] = {count.value: count for count in Count}

PART_OF: Mapping[Kind, Kind] = {
    ("texture", "load"): ("global", "load"),
    ("global", "copy"): ("global", "load"),
}
"""Kinds whose accesses count in another kind as well, as they do on the hardware."""


def find(name: str) -> Count | None:
    """The count of this name; None when nothing such is predicted."""
    return _BY_NAME.get(name)


def by_name(values: Mapping[Count, int]) -> dict[str, float]:
    """Predicted values by plain names, as measured ones are."""
    return {count.value: value for count, value in values.items()}


def count_of(kind: Kind, quantity: Quantity) -> Count:
    """The count of a quantity of accesses of a kind.

    Raises
    ------
    ValueError : it is not predicted
    """
    return Count("_".join((*kind, quantity)))


def of_kind(kind: Kind, found: Mapping[Quantity, Value]) -> dict[Count, Value]:
    """The counts of a kind of access, from the quantities found of it.

    Raises
    ------
    KeyError : one was not found
    """
    return {count: found[count.quantity] for count in counts_of(kind)}


@cache
def counts_of(kind: Kind) -> tuple[Count, ...]:
    """All that is counted of accesses of a kind; nothing of kinds that there are not."""
    return tuple(count for count in Count if count.kind == kind)


def kind_of(instruction: MemoryInstruction) -> Kind:
    """What an instruction counts as: in shared memory a reduction is an atomic."""
    shared_reduction = (instruction.space, instruction.op) == ("shared", "reduction")
    return instruction.space, "atomic" if shared_reduction else instruction.op


def cost_of(space: str) -> Quantity:
    """What requests to a space take."""
    return "wavefronts" if space in ("shared", "constant") else "sectors"


def requests_of(instruction: MemoryInstruction) -> Count:
    """The count of an instruction's requests."""
    return count_of(kind_of(instruction), "requests")


def costs_of(instruction: MemoryInstruction) -> Count:
    """The count of what an instruction's requests take: sectors or wavefronts."""
    return count_of(kind_of(instruction), cost_of(instruction.space))


_SECTOR = 32


@dataclass(frozen=True)
class DerivedCount:
    """`value` of the quantities `of`, which a GPU counts, and `known`, which it does not.

    `share` says that it is a fraction, no count.
    """

    of: Quantity
    known: Quantity
    value: Callable[[float, float], float | None]
    share: bool = False

    def fits(self, kind: Kind) -> bool:
        """Whether accesses of a kind have both quantities."""
        return {self.of, self.known} <= {count.quantity for count in counts_of(kind)}

    def from_counts(self, kind: Kind, values: CountValues) -> float | None:
        """The number of a kind of accesses; None where it means nothing.

        Raises
        ------
        KeyError : a count is missing
        """
        return self.value(values[count_of(kind, self.of)], values[count_of(kind, self.known)])


def _share(sectors: float, asked: float) -> float | None:
    return asked / (sectors * _SECTOR) if sectors else None


DERIVED: Mapping[str, DerivedCount] = {
    "conflicts": DerivedCount("wavefronts", "wavefronts_ideal", lambda taken, ideal: taken - ideal),
    "used": DerivedCount("sectors", "bytes", _share, share=True),
}


# --- what profilers call them --------------------------------------------------------------------


@dataclass(frozen=True)
class Names:
    """What a quantity is called: by nvprof, by the profiler before it, by Nsight Compute.

    `key` is gpuviz's own name. Where a name is missing the sources have none.
    """

    key: str
    nvprof: str = ""
    before: str = ""
    metric: str = ""

    @property
    def today(self) -> str:
        """The metric of Nsight Compute, "" where none counts it."""
        count = find(self.key)
        if self.metric or count is None or count.on_gpu is None:
            return self.metric
        return f"{named(count.on_gpu.metric, *count.kind)}.sum"


_PROFILERS = resources.table("profilers.toml")
SOURCES: Sequence[str] = _PROFILERS["sources"]
NAMES = tuple(Names(key, **row) for key, row in _PROFILERS["quantity"].items())
"""Quantities that profilers of old have a name for."""

_BY_KEY: Mapping[str, Names] = {one.key: one for one in NAMES}


def names_of(key: str) -> Names:
    """What profilers call a count; of others than the table's, what Nsight Compute does."""
    return _BY_KEY.get(key, Names(key))
