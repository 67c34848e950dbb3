"""Files saved again and again by a process that is killed at any moment: old or new, never half.

    python -m tests.files.killed_while_saving FOLDER KIND KILLS    prints what was found, as JSON

A process that has loaded everything forks one for each kill, so that hundreds take seconds.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QSettings

from gpuviz.base import records
from gpuviz.files import bounded
from gpuviz.files import writing as files
from gpuviz.lectures.reading import parse, read
from gpuviz.lectures.writing import write as write_lecture
from gpuviz.qt.history.crash_file import CrashFile, LastView
from gpuviz.recordings import recording
from tests.run.test_recording import recording as a_recording

QT_PART = re.compile(r"a\.ini\.[A-Za-z]{6}")  # what Qt writes settings to before it renames it
LONG = "words " * 4_000  # more than goes to the disk in one piece


@dataclass(frozen=True)
class Kind:
    """How something is saved in one of two states, and how the state is told again."""

    file: str
    save: Callable[[Path, str], None]
    state: Callable[[Path], str]


def _save_lecture(path: Path, state: str) -> None:
    head = f'gpuviz-lecture = 1\ntitle = "{state}"\n\n'
    write_lecture(parse(f'{head}[[slide]]\nwords = "{LONG}{state}"\n', path.parent), path)


def _lecture(path: Path) -> str:
    found = read(path)
    (slide,) = found.slides
    assert not found.all_problems and slide.words == f"{LONG}{found.title}"
    return found.title


def _save_settings(path: Path, state: str) -> None:
    settings = QSettings(str(path), QSettings.Format.IniFormat)
    for number in range(40):
        settings.setValue(f"key{number}", state * 100)
    settings.sync()


def _settings(path: Path) -> str:
    settings = QSettings(str(path), QSettings.Format.IniFormat)
    (found,) = {str(settings.value(f"key{number}")) for number in range(40)}
    return found[:3] if found in ("old" * 100, "new" * 100) else found


def _save_recording(path: Path, state: str) -> None:
    made = a_recording()
    entries = made.entries * (1 if state == "old" else 2)
    recording.write(path, recording.Recording(made.device, entries))


def _recording(path: Path) -> str:
    return "old" if len(recording.read(path).entries) == len(a_recording().entries) else "new"


def _save_session(path: Path, state: str) -> None:
    file = CrashFile(None)
    file._file = path  # without its lock, which is another one's affair
    file.keep(state)


def _session(path: Path) -> str:
    return records.read(bounded.read(path), LastView, str(path)).view


KINDS = {
    "lecture": Kind("a.gpuviz-lecture", _save_lecture, _lecture),
    "settings": Kind("a.ini", _save_settings, _settings),
    "recording": Kind("a.gpurec", _save_recording, _recording),
    "session": Kind("window-0.json", _save_session, _session),
}


def main(folder: Path, name: str, kills: int) -> int:
    """Kill so many processes that save without end."""
    kind, dice = KINDS[name], random.Random(name)
    path, found = folder / kind.file, Counter[str]()
    kind.save(path, "old")
    began = time.monotonic()
    for state in ("new", "old"):
        kind.save(path, state)
    longest = time.monotonic() - began
    locks = {f"{kind.file}.lock{more}" for more in ("", ".rmlock")}  # which Qt takes from the dead
    names = {*os.listdir(folder), *locks}
    for _ in range(kills):
        works, tell = os.pipe()
        child = os.fork()
        if not child:
            while True:
                for state in ("new", "old"):
                    kind.save(path, state)
                os.write(tell, b".")
        os.read(works, 1)  # its first savings take longer than any other
        time.sleep(dice.uniform(0, 2 * longest))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(works)
        os.close(tell)
        for lock in locks:  # killed before it wrote its number into it, Qt waits 30 s for its end
            (folder / lock).unlink(missing_ok=True)
        found[kind.state(path)] += 1
    found["half written"] = len(set(os.listdir(folder)) - names)
    time.sleep(2.1)  # until what lies there counts as left
    files.remove_left(folder)
    left = {name for name in os.listdir(folder) if not QT_PART.fullmatch(name)} - names
    print(json.dumps({**found, "left": sorted(left)}))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
