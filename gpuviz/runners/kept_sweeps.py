"""Times of all block shapes that a user measured: a file for each GPU, in the user's folder."""

from __future__ import annotations

import re
from pathlib import Path

from gpuviz.errors import Error
from gpuviz.runners import sweep_file
from gpuviz.runners.sweep_file import Times


def file_of(folder: Path, device: str) -> Path:
    """Where the times of a GPU of this name are kept: `block_shape-nvidia-h200.json`."""
    name = re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-")
    return folder / f"block_shape-{name}.json"


def keep(folder: Path, found: Times) -> Path:
    """Keep times in the user's folder, in the place of those before; the file.

    Raises
    ------
    InputError : the file cannot be written
    """
    path = file_of(folder, found.device)
    sweep_file.write(path, found, parents=True)
    return path


def kept(folder: Path, device: str) -> Times | None:
    """The times kept of a GPU of this name; a file that is damaged, or of an older kernel, is none.

    Without a GPU `device` is "", and there are none.
    """
    if not device:
        return None
    try:
        found = sweep_file.read(file_of(folder, device))
    except Error:
        return None
    return found if isinstance(found, Times) and found.device == device else None
