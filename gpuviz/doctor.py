"""Are the system libraries there that Qt needs? Asked before Qt is imported, and would crash.

`python -m gpuviz.doctor` prints the advice; with `--packages` just the Debian package names.
"""

import ctypes
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from gpuviz.base import resources
from gpuviz.words.terminal import out

EXIT_CODE = 3

_TABLE = resources.table("desktop/libraries.toml")
_PACKAGES = {library: name for found in _TABLE.values() for library, name in found.items()}

# Debian 13 and Ubuntu 24.04 renamed packages for 64-bit time.
_RENAMED = {"libglib2.0-0": "libglib2.0-0t64"}
_RENAMED_SINCE = {"debian": 13.0, "ubuntu": 24.04}


def missing_libraries(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """File names of the libraries Qt needs on this display that cannot be loaded; () on others.

    Drawing without a window (`QT_QPA_PLATFORM=offscreen`) needs the core ones only. A Wayland
    session does with the libraries of either Wayland or X11, as Qt falls back.
    """
    if not sys.platform.startswith("linux"):
        return ()
    missing = _missing(_TABLE["core"])
    platform = environment.get("QT_QPA_PLATFORM", "").partition(";")[0].partition(":")[0]
    if platform not in ("", "xcb", "wayland"):
        return missing
    if platform != "xcb" and environment.get("WAYLAND_DISPLAY") and not _missing(_TABLE["wayland"]):
        return missing
    return missing + _missing(_TABLE["xcb"])


def _missing(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in names if not _loads(name))


def _loads(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def packages(libraries: Iterable[str], release: Mapping[str, str] | None = None) -> list[str]:
    """Debian or Ubuntu packages that hold these libraries, for a release as in /etc/os-release."""
    release = _release() if release is None else release
    since = _RENAMED_SINCE.get(release.get("ID", ""))
    renamed = since is not None and _number(release.get("VERSION_ID", "")) >= since
    names = [_PACKAGES[library] for library in libraries]
    return sorted({_RENAMED.get(name, name) if renamed else name for name in names})


def _release() -> dict[str, str]:
    file = Path("/etc/os-release")
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    pairs = (line.partition("=") for line in lines)
    return {key: value.strip('"') for key, _, value in pairs}


def _number(version: str) -> float:
    try:
        return float(version)
    except ValueError:  # Debian testing has no number: it is newer than any that has
        return float("inf")


def display_advice(environment: Mapping[str, str] = os.environ) -> str:
    """What to do when there is no display to open a window on; "" when there is one."""
    if not sys.platform.startswith("linux") or environment.get("QT_QPA_PLATFORM"):
        return ""
    if environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"):
        return ""
    return (
        "There is no display to open a window on (neither DISPLAY nor WAYLAND_DISPLAY is set).\n"
        "Over ssh, connect with ssh -X; or draw a picture without one: gpuviz render --help\n"
    )


def advice(missing: Iterable[str] | None = None, release: Mapping[str, str] | None = None) -> str:
    """What to do about missing libraries (those of this machine, if none are given).

    One line to type on Debian and Ubuntu, names elsewhere; "" when nothing is missing.
    """
    libraries = missing_libraries() if missing is None else tuple(missing)
    if not libraries:
        return ""
    release = _release() if release is None else release
    head = f"The window needs system libraries that are not here: {', '.join(libraries)}.\n"
    if {"debian", "ubuntu"} & {release.get("ID", ""), *release.get("ID_LIKE", "").split()}:
        names = " ".join(packages(libraries, release))
        return f"{head}Install them, then start again:\n\n    sudo apt-get install -y {names}\n"
    return f"{head}Install the packages of your distribution that hold them, then start again.\n"


def main(arguments: list[str]) -> int:
    """`python -m gpuviz.doctor [--packages]`: exit status 3 when something is missing."""
    missing = missing_libraries()
    if "--packages" in arguments:
        out(" ".join(packages(missing)))
        return 0
    out(advice(missing) or "Every system library that Qt needs is here.")
    return EXIT_CODE if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
