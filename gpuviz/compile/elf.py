"""The few facts of a cubin that the compiler's log does not tell: sizes of its ELF sections."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

from gpuviz.compile.program import Resources

_MAGIC = b"\x7fELF\x02\x01"  # 64-bit, little endian
_SIZED, _REGISTERS = 4, 0x2F
_PTX = ".nv_debug_ptx_txt"
_RESERVED = 1024
_CONSTANT = re.compile(r"\.nv\.constant([1-9]\d*)(?:\.(.+))?$")  # bank 0 holds the parameters


@dataclass(frozen=True)
class _Section:
    name: str
    start: int
    size: int
    info: int


def sections(cubin: bytes) -> tuple[tuple[str, int], ...]:
    """Name and size in bytes of every section; none for what is not a 64-bit ELF file."""
    return tuple((one.name, one.size) for one in _sections(cubin))


def _sections(cubin: bytes) -> tuple[_Section, ...]:
    if not cubin.startswith(_MAGIC):
        return ()
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    entry_size, count, name_section = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQII", cubin, table + i * entry_size) for i in range(count)]
    names = headers[name_section][4]
    return tuple(_Section(_text(cubin, names + h[0]), h[4], h[5], h[7]) for h in headers)


def _text(cubin: bytes, start: int) -> str:
    return cubin[start : cubin.index(b"\0", start)].decode()


def constant_bytes(cubin: bytes, kernel: str) -> int:
    """Bytes of constant memory a kernel can reach, its parameters left out."""
    matches = ((_CONSTANT.match(name), size) for name, size in sections(cubin))
    return sum(size for match, size in matches if match and match[2] in (None, kernel))


def resources(cubin: bytes, kernel: str) -> Resources:
    """What a kernel takes, as far as its sections tell: nothing of spills and the stack.

    Registers are in `.nv.info` (attribute 0x2f, by the symbol of the kernel's code). Of shared
    memory what the system reserves (from sm_80 on) is not the kernel's. Neither is documented:
    held against the logs of NVRTC in the tests.
    """
    found = {one.name: one for one in _sections(cubin)}
    code, facts = found.get(f".text.{kernel}"), found.get(".nv.info")
    shared = found.get(f".nv.shared.{kernel}")
    reserved = _RESERVED if ".nv.shared.reserved.0" in found else 0
    info = cubin[facts.start : facts.start + facts.size] if facts else b""
    return Resources(
        _registers(info).get(code.info & 0xFFFFFF, 0) if code else 0,
        static_shared_bytes=max(shared.size - reserved, 0) if shared else 0,
        constant_bytes=constant_bytes(cubin, kernel),
    )


def _registers(info: bytes) -> dict[int, int]:
    """Registers by symbol. An attribute is a form, a number, and two bytes or their count."""
    found, at = {}, 0
    while at + 4 <= len(info):
        form, number, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form == _SIZED:
            if number == _REGISTERS:
                symbol, count = struct.unpack_from("<II", info, at)
                found[symbol] = count
            at += size
    return found


def embedded_ptx(cubin: bytes) -> str:
    """The PTX that machine code with line information was made of; "" where it holds none.

    The assembler keeps its lines, each ended by a zero, without `.loc` and comments: they are the
    lines that the disassembler names.
    """
    try:
        found = next((one for one in _sections(cubin) if one.name == _PTX), None)
    except (ValueError, IndexError, struct.error):
        return ""
    text = cubin[found.start : found.start + found.size] if found else b""
    return text.replace(b"\0", b"\n").decode(errors="replace")
