"""Other programs as gpuviz starts them: found by absolute path, bounded in memory and time.

Nothing is looked for in the current folder, which may be that of a stranger's download.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO

import gpuviz
from gpuviz.base.errors import Cancelled
from gpuviz.base.waiting import unwanted

HOME = Path(gpuviz.__file__).resolve().parent.parent  # the folder that gpuviz is imported from
GIB = 2**30
_POLL_SECONDS = 0.05


def find(name: str) -> Path | None:
    """A program of the folders of PATH that are absolute, None when none has it."""
    windows = sys.platform == "win32"
    for folder in map(Path, os.get_exec_path()):
        file = folder / (f"{name}.exe" if windows else name)
        if folder.is_absolute() and file.is_file() and os.access(file, os.X_OK):
            return file
    return None


def python(module: str, *arguments: str) -> list[str]:
    """The command of a Python process that runs a module of this very gpuviz."""
    return [sys.executable, "-P", "-m", module, *arguments]


def environment() -> dict[str, str]:
    """For a Python process: it finds this gpuviz, and imports nothing from the current folder."""
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    paths = [str(HOME), *(part for part in named if Path(part).is_absolute())]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}


def nvidia_folders() -> list[Path]:
    """Folders of the `nvidia` namespace package, which all of NVIDIA's wheels share."""
    return package_folders("nvidia")


def package_folders(name: str) -> list[Path]:
    """Folders of an installed package, of which nothing is run; none where it is not there."""
    spec = importlib.util.find_spec(name)
    folders = map(Path, (spec and spec.submodule_search_locations) or ())
    return [folder for folder in folders if folder.absolute().parent != Path.cwd()]


def start(
    command: Sequence[str],
    *,
    folder: Path = HOME,
    environment: dict[str, str] | None = None,
    memory: int = 0,
    seconds: float = 0.0,
    words: IO[bytes] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a program with three pipes, in a folder and a group of its own.

    Its standard error goes to the file `words`, if there is one, in place of a pipe.
    `memory` bounds its address space in bytes, `seconds` the time it computes, where the system can
    do that; 0 does not. It keeps to them though gpuviz be killed.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=words or subprocess.PIPE,
        cwd=folder,
        env=environment,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        start_new_session=True,
    )
    if sys.platform == "linux":
        _bound(process.pid, memory, int(seconds) + 1 if seconds else 0)
    return process


def _bound(process: int, memory: int, seconds: int) -> None:
    import resource

    for kind, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds)):
        with suppress(OSError, ValueError):
            if most:
                resource.prlimit(process, kind, (most, most))
                resource.prlimit(process, resource.RLIMIT_CORE, (0, 0))


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process at once, with those that it started."""
    if process.returncode is not None:
        return  # its number may be another's by now
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


def ended(code: int | None) -> str:
    """How a process ended, in words: `by SIGKILL`, `with exit status 1`."""
    if code is None:
        return "not at all"
    with suppress(ValueError):
        return f"by {signal.Signals(-code).name}"
    return f"with exit status {code}"


def run(
    command: Sequence[str], folder: Path, seconds: float, memory: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, what it writes as text.

    Raises
    ------
    OSError : it cannot be started
    subprocess.TimeoutExpired : it took longer, and was ended with all that it started
    Cancelled : it is not wanted any more (`stopping.stopped_by`), and was ended
    """
    with start([*_leash(), *command], folder=folder, memory=memory, seconds=seconds) as process:
        try:
            said = _all_it_says(process, time.monotonic() + seconds)
        except BaseException:
            kill(process)
            raise
    texts = (x.replace(b"\0", b"").decode(errors="replace").replace("\r\n", "\n") for x in said)
    return subprocess.CompletedProcess(list(command), process.returncode, *texts)


def _all_it_says(process: subprocess.Popen[bytes], end: float) -> tuple[bytes, bytes]:
    while True:
        try:
            return process.communicate(timeout=_POLL_SECONDS)
        except subprocess.TimeoutExpired:
            if unwanted():
                raise Cancelled("stopped") from None
            if time.monotonic() > end:
                raise


@cache
def _leash() -> tuple[str, ...]:
    """What a program is started with so that it ends when the thread that waits for it does, be
    gpuviz killed: a tool of util-linux, where it is.
    """
    tool = find("setpriv") if sys.platform == "linux" else None
    return (str(tool), "--pdeathsig", "KILL", "--") if tool else ()
