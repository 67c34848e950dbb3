"""Memory of a GPU by its address alone, through NVIDIA's bindings (cuda.bindings)."""

from __future__ import annotations

import numpy as np

from gpuviz.base.errors import UnavailableError
from gpuviz.integrations.host_arrays import HostArray


def at(address: int, size: int | None = None) -> HostArray | None:
    """The bytes from an address on, copied: `size` of them, or to the end of what was allocated
    there; None where the driver knows of no memory.

    Raises
    ------
    UnavailableError : it cannot be read
    """
    from cuda.bindings import driver

    wrong, base, whole = driver.cuMemGetAddressRange(address)
    if wrong:
        return None
    left = int(base) + int(whole) - address
    values = np.empty(left if size is None else min(size, left), np.uint8)
    (wrong,) = driver.cuMemcpyDtoH(values.ctypes.data, address, values.nbytes)
    if wrong:
        raise UnavailableError(f"{values.nbytes:,} bytes at {address:#x} cannot be read: {wrong}")
    return HostArray(values, span=(address, address + values.nbytes))
