"""How a process that asserts was started: where pinned counts lie, and whether they are written."""

import os
from pathlib import Path

_UPDATE, _FOLDER = "GPUVIZ_UPDATE", "GPUVIZ_COUNTS"


def folder() -> Path:
    """What names of files with pinned counts begin from."""
    return Path(os.environ.get(_FOLDER, ""))


def updating() -> bool:
    """Whether counts are pinned in place of compared."""
    return os.environ.get(_UPDATE, "") not in ("", "0")


def use(update: bool, base: Path) -> None:
    """Set both, for this process and those it starts."""
    os.environ.setdefault(_FOLDER, str(base))
    if update:
        os.environ[_UPDATE] = "1"
