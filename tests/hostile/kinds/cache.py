"""What can be made again, and was damaged or forged meanwhile: an answer, or a message."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random

from gpuviz.files import folders
from tests.hostile import trees
from tests.hostile.kind import Kind
from tests.hostile.mutation import changed_bytes

_COUNT = (
    *("count", "cached.cu", "--entry", "k", "--grid", "2", "--block", "32"),
    *("--arg", "f32[64]=rand", "--json"),
)
_SOURCE = 'extern "C" __global__ void k(float* out) { out[threadIdx.x] += 1; }\n'


@cache
def _entries() -> tuple[tuple[str, bytes], ...]:
    """What a first run keeps: names below the cache, and contents."""
    from gpuviz.cli import main

    here = Path.cwd()
    before = set(folders.cache().rglob("*"))
    Path("cached.cu").write_text(_SOURCE)
    main(list(_COUNT))
    made = [one for one in folders.cache().rglob("*") if one.is_file() and one not in before]
    os.chdir(here)
    return tuple((str(one.relative_to(folders.cache())), one.read_bytes()) for one in sorted(made))


def make(random: Random) -> bytes:
    """An entry in place of those: cut, or forged with a checksum that is right."""
    plain = {"program": {"ptx": "", "cubin": "", "log": "", "resources": {}}, "reading": {}}
    text = trees.as_json(random, plain)
    if random.random() < 0.3:
        text = changed_bytes(random, text)
    return random.choice((sealed(text), b"0" * 64 + b"\n" + text, b"\n" + text))


def sealed(text: bytes) -> bytes:
    """With the checksum that belongs to it."""
    return hashlib.sha256(text).hexdigest().encode() + b"\n" + text


def forged(file: Path) -> Sequence[str]:
    """All entries are this one."""
    for name, _ in _entries():
        entry = folders.cache() / name
        entry.parent.mkdir(parents=True, exist_ok=True)
        entry.write_bytes(file.read_bytes())
    Path("cached.cu").write_text(_SOURCE)
    return _COUNT


def damaged(file: Path) -> Sequence[str]:
    """All entries are as they were, but for some bytes."""
    random = Random(json.dumps(list(file.read_bytes())))
    for name, content in _entries():
        entry = folders.cache() / name
        entry.parent.mkdir(parents=True, exist_ok=True)
        entry.write_bytes(changed_bytes(random, content))
    Path("cached.cu").write_text(_SOURCE)
    return _COUNT


KIND = Kind("cache", 60, ".entry", make, (forged, damaged))
