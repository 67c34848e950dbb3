"""The files that come with gpuviz: kernels, recordings, texts."""

from pathlib import Path

_PACKAGE = Path(__file__).parent.parent


def path(name: str = "") -> Path:
    """Where a file of `resources/` lies, in a checkout or beside the installed package."""
    installed = _PACKAGE / "_resources"
    root = installed if installed.is_dir() else _PACKAGE.parent / "resources"
    return root / name


def text(name: str) -> str:
    """One of them that is a text."""
    return path(name).read_text(encoding="utf-8")
