"""What gpuviz 0.1 and 0.2 wrote, which may have lain about for years: changed here and there."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random

from tests.hostile import arrays, trees, zips
from tests.hostile.kind import Kind
from tests.hostile.kinds import cache as entries
from tests.hostile.kinds import settings, sweep
from tests.hostile.kinds.bundle import _changed as changed_member
from tests.hostile.kinds.lecture import check
from tests.hostile.mutation import changed_bytes, changed_text, encoded

_DATA = Path(__file__).parents[2] / "data"
_SUFFIXES = {
    *(".png", ".svg", ".json", ".html", ".pdf", ".gif", ".gputrace", ".gpuviz-lecture", ".jsonl"),
    *(".ini", ".entry"),
}


@cache
def _files() -> tuple[tuple[str, bytes], ...]:
    found = (file for name in ("made_by_0_1", "made_by_0_2") for file in (_DATA / name).iterdir())
    return tuple((one.suffix, one.read_bytes()) for one in sorted(found) if one.suffix in _SUFFIXES)


@cache
def _sessions() -> tuple[bytes, ...]:
    found = (_DATA / name / "crash" / "window-0.json" for name in ("made_by_0_1", "made_by_0_2"))
    return tuple(one.read_bytes() for one in found)


def make(random: Random) -> bytes:
    """The suffix of a file, and its content."""
    suffix, content = random.choice(_files())
    return suffix.encode() + b"\n" + _CHANGES.get(suffix, changed_bytes)(random, content)


def _settings(random: Random, content: bytes) -> bytes:
    """With the lesson that the window's stand-in for a course has."""
    told = content.decode().replace("banks", "pairs")
    text = encoded(changed_text(random, told).replace("\f", ""))
    left = json.loads(random.choice(_sessions()).replace(b"banks", b"pairs"))
    return text + b"\f" + trees.as_json(random, left)


def _lines(random: Random, content: bytes) -> bytes:
    lines = content.splitlines()
    at = random.randrange(len(lines))
    lines[at] = trees.as_json(random, json.loads(lines[at])).replace(b"\n", b" ")
    return b"\n".join(lines) + b"\n"


def _entry(random: Random, content: bytes) -> bytes:
    return entries.sealed(trees.as_json(random, json.loads(content.partition(b"\n")[2])))


def _lecture(random: Random, content: bytes) -> bytes:
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return encoded(changed_text(random, content.decode()))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    at = random.randrange(len(members))
    members[at] = members[at][0], changed_member(random, *members[at])
    return zips.plain(members)


_CHANGES = {
    ".ini": _settings,
    ".jsonl": _lines,
    ".entry": _entry,
    ".gpuviz-lecture": _lecture,
    ".gputrace": arrays.changed,
    ".json": lambda random, content: trees.as_json(random, json.loads(content)),
    ".svg": lambda random, content: encoded(changed_text(random, content.decode())),
}


def command(file: Path) -> Sequence[str]:
    """By the command that wants such a file, or else as a view."""
    opened = _laid_out(file)
    match opened.suffix:
        case ".gpuviz-lecture":
            return check(opened)
        case ".jsonl":
            return sweep.goes_on(opened)
        case ".entry":
            return entries.forged(opened)
    return "render", "--from", str(opened), "--set", "blocks=64", "-o", "out.json"


def window(file: Path) -> None:
    """By the window, as far as it reads: settings with the session of a crash, any other file."""
    from gpuviz.export.reading import read_any

    opened = _laid_out(file)
    if opened.suffix == ".ini":
        settings.window(opened)
    elif opened.suffix not in (".gpuviz-lecture", ".entry", ".jsonl"):
        read_any(opened)


def _laid_out(file: Path) -> Path:
    suffix, _, content = file.read_bytes().partition(b"\n")
    opened = Path(f"opened{suffix.decode()}").absolute()
    opened.write_bytes(content)
    return opened


KIND = Kind("older", 250, ".older", make, (command,), calls=(window,))
