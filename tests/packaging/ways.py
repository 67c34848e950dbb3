"""The ways in that the readme names: how each installs from a local index, and what then starts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SCRIPTS = "Scripts" if os.name == "nt" else "bin"


@dataclass(frozen=True)
class Place:
    """Where to install what from, and with which tools."""

    index: Path
    version: str
    folder: Path
    tools: Path

    @property
    def wanted(self) -> str:
        """This very version: a registry may have another of that name."""
        return f"gpuviz=={self.version}"


@dataclass(frozen=True)
class Way:
    """Commands that install, the variables they are given, and the command that is then there."""

    install: tuple[tuple[str, ...], ...]
    command: tuple[str, ...]
    scripts: Path | None  # where the entry points lie; None when they are not kept
    environment: tuple[tuple[str, str], ...] = ()


def pip(place: Place) -> Way:
    """`pip install gpuviz` in a virtual environment of its own."""
    scripts = place.folder / SCRIPTS
    python = str(scripts / "python")
    return Way(
        (
            (sys.executable, "-m", "venv", str(place.folder)),
            (python, "-m", "pip", "install", "-q", "--find-links", str(place.index), place.wanted),
        ),
        (str(scripts / "gpuviz"),),
        scripts,
    )


def uv_tool(place: Place) -> Way:
    """`uv tool install gpuviz`."""
    scripts = place.folder / "scripts"
    uv = str(place.tools / "uv")
    return Way(
        ((uv, "tool", "install", "-q", "--find-links", str(place.index), place.wanted),),
        (str(scripts / "gpuviz"),),
        scripts,
        (("UV_TOOL_DIR", str(place.folder / "tools")), ("UV_TOOL_BIN_DIR", str(scripts))),
    )


def uvx(place: Place) -> Way:
    """`uvx gpuviz`: installs nothing that stays, but for uv's cache."""
    named = f"gpuviz@{place.version}"
    return Way((), (str(place.tools / "uvx"), "-q", "--find-links", str(place.index), named), None)


def pipx(place: Place) -> Way:
    """`pipx install gpuviz`."""
    scripts = place.folder / "scripts"
    index = f"--pip-args=--find-links={place.index}"
    return Way(
        ((str(place.tools / "pipx"), "install", "-q", index, place.wanted),),
        (str(scripts / "gpuviz"),),
        scripts,
        (("PIPX_HOME", str(place.folder / "pipx")), ("PIPX_BIN_DIR", str(scripts))),
    )


WAYS: dict[str, Callable[[Place], Way]] = {
    "pip install": pip,
    "uv tool install": uv_tool,
    "uvx": uvx,
    "pipx install": pipx,
}


def installers(tools: Path) -> dict[str, str]:
    """Variables that have uv use the registry that pip is configured with, and this Python."""
    listed = subprocess.run(
        [str(tools / "python"), "-m", "pip", "config", "list"], capture_output=True, text=True
    ).stdout
    pairs = (line.partition("=") for line in listed.splitlines())
    said = {key.rpartition(".")[2]: value.strip("'\"") for key, _, value in pairs}
    named = {"UV_DEFAULT_INDEX": said.get("index-url"), "SSL_CERT_FILE": said.get("cert")}
    found = {name: value for name, value in named.items() if value and name not in os.environ}
    return {**found, "UV_PYTHON": sys.executable, "PIPX_DEFAULT_PYTHON": sys.executable}
