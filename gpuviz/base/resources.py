"""The files that come with gpuviz: kernels, recordings, texts."""

import tomllib
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).parent.parent


def path(name: str = "") -> Path:
    """Where a file of `resources/` lies, in a checkout or beside the installed package."""
    installed = _PACKAGE / "_resources"
    root = installed if installed.is_dir() else _PACKAGE.parent / "resources"
    return root / name


def text(name: str) -> str:
    """One of them that is a text."""
    return path(name).read_text(encoding="utf-8")


def table(name: str) -> dict[str, Any]:
    """One of them that is TOML; OSError or ValueError where it is damaged."""
    return tomllib.loads(text(name))
