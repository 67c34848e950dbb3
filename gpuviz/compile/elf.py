"""The few facts of a cubin that the compiler's log does not tell: sizes of its ELF sections."""

from __future__ import annotations

import re
import struct

_MAGIC = b"\x7fELF\x02\x01"  # 64-bit, little endian
_CONSTANT = re.compile(r"\.nv\.constant([1-9]\d*)(?:\.(.+))?$")  # bank 0 holds the parameters


def sections(cubin: bytes) -> tuple[tuple[str, int], ...]:
    """Name and size in bytes of every section; none for what is not a 64-bit ELF file."""
    if not cubin.startswith(_MAGIC):
        return ()
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    entry_size, count, name_section = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", cubin, table + i * entry_size) for i in range(count)]
    names = headers[name_section][4]
    return tuple((_text(cubin, names + header[0]), header[5]) for header in headers)


def _text(cubin: bytes, start: int) -> str:
    return cubin[start : cubin.index(b"\0", start)].decode()


def constant_bytes(cubin: bytes, kernel: str) -> int:
    """Bytes of constant memory a kernel can reach, its parameters left out."""
    matches = ((_CONSTANT.match(name), size) for name, size in sections(cubin))
    return sum(size for match, size in matches if match and match[2] in (None, kernel))
