"""Archives of a manifest and arrays, as traces and recordings are, changed at every level."""

from __future__ import annotations

import io
import json
import zipfile
from random import Random
from typing import Any

import numpy as np

from tests.hostile import nasty, trees, zips
from tests.hostile.mutation import changed_bytes

Arrays = dict[str, np.ndarray[Any, Any]]
_TYPES = ("f4", "f8", "i1", "i8", "u8", "u4", "c16", "U3", "S9", "?", "M8[s]", "f2")
_MOST = 100_000  # elements that a changed array may have


def taken(content: bytes) -> tuple[dict[str, Any], str, Arrays]:
    """Manifest, name of the arrays' member, and arrays."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        name = next(one for one in archive.namelist() if one.endswith(".npz"))
        with np.load(io.BytesIO(archive.read(name))) as found:
            return manifest, name, {key: found[key] for key in found.files}


def changed(random: Random, content: bytes) -> bytes:
    """An archive like this one."""
    manifest, name, arrays = taken(content)
    head, body = json.dumps(manifest).encode(), npz(arrays)
    match random.randrange(6):
        case 0 | 1:
            head = trees.as_json(random, manifest)
        case 2 | 3:
            body = npz(_other(random, arrays))
        case 4:
            body = random.choice((_inner, _changed))(random, body)
        case _:
            return zips.packed(random, [("manifest.json", head), (name, body)])
    return zips.plain([("manifest.json", head), (name, body)])


def npz(arrays: Arrays) -> bytes:
    """Arrays as NumPy keeps several; without the time of day that NumPy's own have."""
    return zips.plain((f"{name}.npy", _npy(array)) for name, array in arrays.items())


def _npy(array: np.ndarray[Any, Any]) -> bytes:
    made = io.BytesIO()
    np.save(made, array)
    return made.getvalue()


def _changed(random: Random, body: bytes) -> bytes:
    return changed_bytes(random, body)


def _inner(random: Random, body: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        return zips.packed(random, [(one, archive.read(one)) for one in archive.namelist()])


def _other(random: Random, arrays: Arrays) -> Arrays:
    """Arrays of other types, shapes, values, or none."""
    made = dict(arrays)
    for _ in range(random.randint(1, 3)):
        if not made:
            return made
        name = random.choice(list(made))
        made[name] = _one(random, made[name])
        if random.random() < 0.1:
            del made[name]
    return made


def _one(random: Random, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    match random.randrange(8):
        case 0:
            return np.zeros(array.shape, random.choice(_TYPES))
        case 1:
            return array.reshape(-1)
        case 2:
            return array[: random.choice((0, 1, len(array) // 2))] if array.ndim else array
        case 3:
            return np.repeat(array, random.choice((2, 40)), axis=0)[:_MOST] if array.ndim else array
        case 4:
            return np.zeros(random.choice(((), (0,), (0, 0), (2, 2, 2), (1, 33), (1000, 32))))
        case 5:
            return np.array(nasty.word(random)[:100])
        case _:
            return _values(random, array)


def _values(random: Random, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    made = array.copy()
    if made.size and made.dtype.kind in "iuf":
        for _ in range(random.randint(1, 20)):
            number = random.choice(nasty.INTEGERS) & (2**63 - 1)
            with np.errstate(all="ignore"):
                cast = np.array(number, np.uint64).astype(made.dtype)
                made.flat[random.randrange(made.size)] = random.choice((cast, -cast))
    return made
