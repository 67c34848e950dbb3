"""Which sweep over block shapes is told of: the user's of the GPU in use, or the shipped one."""

from __future__ import annotations

import re
from pathlib import Path

from gpuviz.errors import Error
from gpuviz.runners import sweep
from gpuviz.runners.sweep import Predictions, Times

_own: list[Times | None] = [None]


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
    sweep.write(path, found, parents=True)
    return path


def use(folder: Path, device: str) -> bool:
    """Tell of the times of this GPU in the folder, if there are any; whether that is news.

    A file that is damaged, or of an older kernel, counts as none. Without a GPU `device` is "".
    """
    before, _own[0] = _own[0], _read(file_of(folder, device), device) if device else None
    return before is not _own[0]


def _read(path: Path, device: str) -> Times | None:
    try:
        found = sweep.read(path)
    except Error:
        return None
    return found if isinstance(found, Times) and found.device == device else None


def known() -> tuple[Predictions | None, Times | None]:
    """The sweeps to tell of, as `sweep.shipped`."""
    predictions, times = sweep.shipped()
    return predictions, _own[0] or times
