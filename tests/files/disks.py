"""Small disks that are full, or cannot be written, for tests."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

KINDS = {"full": "No space left", "read-only": "Read-only file system"}
OLD = "what was there before"


@contextmanager
def mounted(folder: Path) -> Iterator[Path]:
    """A file system of its own in memory, of 1 MiB; skips the test where none can be mounted."""
    folder.mkdir()
    try:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)],
            capture_output=True,
            check=False,
        )
    except OSError:
        pytest.skip("no mount here")
    if done.returncode:
        pytest.skip(f"no file system can be mounted: {done.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def spoil(folder: Path, kind: str) -> None:
    """Fill it to the last byte, or let nothing be written any more."""
    if kind == "full":
        with suppress(OSError), (folder / "filler").open("wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                pass
    else:
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)


def content(folder: Path) -> dict[str, bytes]:
    """Everything that lies there."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }
