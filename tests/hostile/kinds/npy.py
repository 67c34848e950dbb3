"""Arrays in .npy files: headers that lie, types that are none, pickles, archives."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np

from tests.hostile import nasty
from tests.hostile.arrays import npz
from tests.hostile.kind import Kind
from tests.hostile.mutation import changed_bytes, changed_text, encoded

_HEADER = "{'descr': '<f4', 'fortran_order': False, 'shape': (256,), }"
_DESCRIPTIONS = (
    *("'|O'", "'<f4'", "'>f4'", "'<U99999999'", "'|V2147483647'", "'<M8[s]'", "'x'", "''", "0"),
    *("[('a', '<f4')]", "[('a', '|O')]", "('<f4', (99999999, 99999))", "None", "[]", "'<f4,<f4'"),
    *("[('a', [('b', [('c', '<f4')])])]", "'<f4' * 10**9", "__import__('os')", "'f\\x00'"),
)
_SHAPES = (
    *("(256,)", "()", "(-1,)", "(256, -256)", "(2**62,)", "(4611686018427387904,)", "(0,)", "256"),
    *("(1,) * 99", f"({'1,' * 70})", "(256.0,)", "(True,)", "('a',)", "(99999999999,)", "None"),
    *("(0, 99999999999999)", "(1099511627776, 16777216)", "(" * 300, "{", "(256,", "(16, 16)"),
)


class _Opened:
    """Tells by a file that it was unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, ("../unpickled", "w")


def make(random: Random) -> bytes:
    """What claims to be an array of 256 floats."""
    match random.randrange(8):
        case 0:
            return changed_bytes(random, _packed(_HEADER))
        case 1:
            return pickle.dumps([_Opened()])
        case 2:
            return _packed(_HEADER.replace("<f4", "|O"), data=pickle.dumps(_Opened()))
        case 3:
            return _archive(random)
        case 4:
            return _packed(changed_text(random, _HEADER))
    header = _HEADER.replace("'<f4'", random.choice(_DESCRIPTIONS))
    header = header.replace("(256,)", random.choice((*_SHAPES, f"({nasty.number(random)},)")))
    version = random.choice(((1, 0), (1, 0), (2, 0), (3, 0), (4, 0), (255, 255)))
    length = random.choice((None, None, 0, 1, 2**16 - 1, 2**32 - 1))
    return _packed(header, version, length, bytes(random.choice((0, 3, 1024, 1024))))


def _packed(
    header: str,
    version: tuple[int, int] = (1, 0),
    length: int | None = None,
    data: bytes = bytes(1024),
) -> bytes:
    text = encoded(header) + b"\n"
    size = len(text) if length is None else length
    wide = version != (1, 0)
    counted = struct.pack("<I", size) if wide else struct.pack("<H", size & 0xFFFF)
    return b"\x93NUMPY" + bytes(version) + counted + text + data


def _archive(random: Random) -> bytes:
    made = npz({"a": np.zeros(random.choice((1, 10**6)))})
    return changed_bytes(random, made) if random.random() < 0.5 else made


def argument(file: Path) -> Sequence[str]:
    """The input of a launch."""
    where = ("--entry", "in_order", "--grid", "2", "--block", "64", "--level", "ptx")
    return "count", "mine.ptx", *where, "--arg", f"f32[256]=@{file}", "--arg", "f32[256]=zeros"


KIND = Kind("npy", 120, ".npy", make, (argument,))
