"""The folders that gpuviz is lent while inputs come in: nothing of the real user's is near."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from gpuviz.base import resources

SECRET = b"what nobody gave away"
_KEPT = ("compile", "machine-code", "libraries")  # of the cache: true to the texts they are of


def move_in(root: Path) -> None:
    """Make a home under a folder, where this process and those it starts live from now on."""
    for name in ("home", "cache", "data", "state", "config", "tmp", "in"):
        (root / name).mkdir()
    (root / "home" / "secret.key").write_bytes(SECRET)
    os.environ |= {
        "HOME": str(root / "home"),
        "XDG_CACHE_HOME": str(root / "cache"),
        "XDG_DATA_HOME": str(root / "data"),
        "XDG_STATE_HOME": str(root / "state"),
        "XDG_CONFIG_HOME": str(root / "config"),
        "TMPDIR": str(root / "tmp"),
        "QT_QPA_PLATFORM": "offscreen",
        "GPUVIZ_DEBUG": "1",
        "GPUVIZ_SIZES": "small",
        "PYTHONPATH": str(Path.cwd()),
    }
    tempfile.tempdir = str(root / "tmp")


@contextmanager
def folder() -> Iterator[Path]:
    """The home, with an empty folder `in` that is the current one; what was left behind goes."""
    base = Path(os.environ["HOME"]).parent
    place = base / "in"
    place.mkdir(exist_ok=True)
    os.chdir(place)
    try:
        yield base
    finally:
        os.chdir("/")
        for one in _strange(base):
            shutil.rmtree(one) if one.is_dir() else one.unlink()
        (base / "home" / "secret.key").write_bytes(SECRET)
        for name in ("in", "state", "config", "data", "tmp"):
            shutil.rmtree(base / name, ignore_errors=True)
            (base / name).mkdir()
        for one in (base / "cache" / "gpuviz").glob("*"):
            if one.name not in _KEPT:
                shutil.rmtree(one, ignore_errors=True)


def shelve(place: Path) -> None:
    """Files that inputs speak of: a kernel, its PTX, data, and what is no ordinary file."""
    for name, content in _shelf().items():
        (place / name).write_bytes(content)
    os.mkfifo(place / "pipe.npy")
    (place / "loop.cu").symlink_to("loop.cu")


@cache
def _shelf() -> dict[str, bytes]:
    import io

    import numpy as np

    data = io.BytesIO()
    np.save(data, np.arange(256, dtype=np.float32))
    return {
        "mine.cu": resources.path("kernels/coalescing.cu").read_bytes(),
        "mine.ptx": resources.path("kernels/prebuilt/coalescing-971ca003.ptx").read_bytes(),
        "data.npy": data.getvalue(),
    }


def strange(base: Path) -> str:
    """What lies where it does not belong, "" when nothing does."""
    return ", ".join(str(one.relative_to(base)) for one in _strange(base)[:5])


def _strange(base: Path) -> list[Path]:
    known = {"home", "cache", "data", "state", "config", "tmp", "in"}
    found = [one for one in base.iterdir() if one.name not in known]
    found += [one for one in (base / "home").rglob("*") if one.name != "secret.key"]
    found += [one for one in base.rglob("*.part") if not one.is_symlink()]
    if (base / "home" / "secret.key").read_bytes() != SECRET:
        found.append(base / "home" / "secret.key")
    return found
