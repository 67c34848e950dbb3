"""Are the system libraries there that Qt needs? Asked before Qt is imported, and would crash.

The lists are what `objdump -p` names as needed by the libraries and platform plugins of
PySide6-Essentials 6.11 (Linux), less what the wheel or every C++ program brings.
`python -m gpuviz.doctor` prints the advice; with `--packages` just the Debian package names.
"""

import ctypes
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from gpuviz.words.terminal import out

EXIT_CODE = 3

_CORE = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11.so.6": "libx11-6",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libz.so.1": "zlib1g",
    "libzstd.so.1": "libzstd1",
}
_XCB = {
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxcb.so.1": "libxcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
_WAYLAND = {
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
}
_PACKAGES = _CORE | _XCB | _WAYLAND

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
    missing = _missing(_CORE)
    platform = environment.get("QT_QPA_PLATFORM", "").partition(";")[0].partition(":")[0]
    if platform not in ("", "xcb", "wayland"):
        return missing
    if platform != "xcb" and environment.get("WAYLAND_DISPLAY") and not _missing(_WAYLAND):
        return missing
    return missing + _missing(_XCB)


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
