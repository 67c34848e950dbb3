"""The roofline: what bandwidth and arithmetic allow a kernel of a given intensity.

S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for
multicore architectures", Communications of the ACM 52 (2009).
"""

from dataclasses import dataclass

from gpuviz.base.errors import InputError

FLOAT = 4  # bytes


@dataclass(frozen=True)
class Roof:
    """A device's ceilings: bytes a second, and operations a second (None where not given)."""

    bandwidth: float
    peak: float | None = None

    @property
    def ridge(self) -> float | None:
        """Operations a byte from which arithmetic is the limit; None without a peak."""
        return None if self.peak is None else self.peak / self.bandwidth

    def attainable(self, intensity: float) -> float:
        """The most operations a second at so many operations a byte."""
        by_memory = intensity * self.bandwidth
        return by_memory if self.peak is None else min(by_memory, self.peak)

    def of_peak(self, intensity: float) -> float | None:
        """The attainable fraction of the peak; None without one."""
        return None if self.peak is None else self.attainable(intensity) / self.peak


def intensity(operations: float, moved: float) -> float:
    """Operations a byte.

    Raises
    ------
    InputError : nothing is moved
    """
    if moved <= 0:
        raise InputError(
            f"{operations} operations on {moved} bytes: a kernel that moves nothing "
            "has no intensity"
        )
    return operations / moved


def a_float(operations_a_byte: float) -> float:
    """Operations for each 4-byte float: the "compute to global memory access ratio" of teaching."""
    return operations_a_byte * FLOAT
