"""gpuviz among the programs of this user's desktop, and its kinds of files as kinds it knows.

By the specifications of freedesktop.org (desktop entries, shared MIME-info, icon themes), in the
user's own folders; nothing is asked of an administrator.
"""

import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gpuviz.base import resources
from gpuviz.base.errors import UnavailableError
from gpuviz.files import bounded, folders
from gpuviz.files import writing as files
from gpuviz.processes import programs as processes

ENTRY = "applications/gpuviz.desktop"
# Where each file of resources/desktop goes, seen from the user's folder of shared data.
PLACES = {
    "gpuviz.desktop": ENTRY,
    "gpuviz.xml": "mime/packages/gpuviz.xml",
    "gpuviz.svg": "icons/hicolor/scalable/apps/gpuviz.svg",
    "gpuviz.png": "icons/hicolor/256x256/apps/gpuviz.png",
}
# What reads the files of a folder into the cache that desktops look into.
_READERS = {"update-mime-database": "mime", "update-desktop-database": "applications"}
_SECONDS = 60.0
_QUOTED = re.compile(r'["`$\\]')


@dataclass(frozen=True)
class Done:
    """What was done: the files written or removed, and programs that are not here to tell it on."""

    files: tuple[Path, ...]
    lacking: tuple[str, ...]


def program() -> tuple[str, ...]:
    """How this gpuviz is started, by absolute names."""
    if getattr(sys, "frozen", False):
        return (sys.executable,)
    windows = sys.platform == "win32"
    window = Path(sys.executable).with_name("gpuviz-window.exe" if windows else "gpuviz-window")
    return (str(window),) if window.is_file() else tuple(processes.python("gpuviz"))


def integrate() -> Done:
    """Register the program, its icon and its kinds of files; again is no fault.

    Raises
    ------
    UnavailableError : this system is not Linux
    InputError : the user's folders cannot be written
    """
    base = _shared()
    for name, place in PLACES.items():
        content = bounded.read(resources.path(f"desktop/{name}"))
        made = _entry(content.decode()).encode() if place == ENTRY else content
        files.write(base / place, made, parents=True)
    return Done(tuple(base / place for place in PLACES.values()), _tell_on(base))


def withdraw() -> Done:
    """Undo `integrate`; folders that are empty then go, too.

    Raises
    ------
    UnavailableError : this system is not Linux
    """
    base = _shared()
    there = tuple(base / place for place in PLACES.values() if (base / place).exists())
    for file in there:
        file.unlink()
    lacking = _tell_on(base) if there else ()
    for file in there:
        with suppress(OSError):  # until one that is not empty
            for folder in file.relative_to(base).parents[:-1]:
                (base / folder).rmdir()
    return Done(there, lacking)


def _shared() -> Path:
    if not sys.platform.startswith("linux"):
        raise UnavailableError(
            "kinds of files are registered on Linux only. Here, start gpuviz with the name of a "
            f"file, or choose this program where the system asks what to open it with: "
            f"{' '.join(program())}"
        )
    return folders.shared()


def _entry(template: str) -> str:
    """The desktop entry, with the program that is running in the place of a name."""
    command = program()
    exact = " ".join(map(_quoted, command))
    return template.replace("Exec=gpuviz %f", f"Exec={exact} %f").replace(
        "TryExec=gpuviz", f"TryExec={_escaped(command[0])}"
    )


def _quoted(word: str) -> str:
    """A word of a command: quoted, without field codes, then escaped as any value is."""
    return _escaped('"' + _QUOTED.sub(r"\\\g<0>", word).replace("%", "%%") + '"')


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


def _tell_on(base: Path) -> tuple[str, ...]:
    """Have the caches read anew; the programs that could, and are not here or failed."""
    lacking = []
    for name, folder in _READERS.items():
        tool = processes.find(name)
        try:
            done = tool and processes.run([str(tool), str(base / folder)], base, _SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            done = None
        if not done or done.returncode:
            lacking.append(name)
    return tuple(lacking)
