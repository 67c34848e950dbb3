"""Exported pictures, films, pages and data, which are opened again for the view they show."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from gpuviz.views.provenance import MARK
from tests.hostile import nasty, trees
from tests.hostile.kind import Kind
from tests.hostile.mutation import changed_bytes, encoded

_SUFFIXES = (".svg", ".html", ".json", ".png", ".pdf", ".gif", ".apng")
_LAUNCH = {
    "file": "mine.cu",
    "entry": "in_order",
    "name": "in_order",
    "grid": "2,1,1",
    "block": "64,1,1",
    "arguments": "'f32[256]=@data.npy' 'f32[256]=zeros'",
    "shared": 0,
}
_FILES = ("pipe.npy", "loop.cu", "/dev/zero", "~/secret.key", "//host/share/x.cu", "mine.ptx", "..")


@cache
def of_formats(suffixes: tuple[str, ...] = _SUFFIXES) -> tuple[bytes, ...]:
    """One view in each format; small, as there are many."""
    from gpuviz.export.export import Options
    from gpuviz.export.save import save
    from gpuviz.qt.painting.headless import painter
    from gpuviz.views.make_view import timed, view_of
    from gpuviz.views.provenance import Provenance

    made = Provenance("banks", {"stride": 4}, "sm_90", width=320, height=200)
    with TemporaryDirectory() as folder, painter() as painting:
        found = []
        for suffix in suffixes:
            file = Path(folder) / f"x{suffix}"
            save(timed(view_of(made), 1.0, 1.2), file, Options(fps=5), painting)
            found.append(file.read_bytes())
    return tuple(found)


def make(random: Random) -> bytes:
    """A file of ours with another record, or damaged near it."""
    content = random.choice(of_formats())
    at = content.find(MARK)
    if at < 0 or random.random() < 0.15:  # a film has its comment in pieces
        return changed_bytes(random, content)
    record, length = json.JSONDecoder().raw_decode(content[at : at + (1 << 16)].decode("latin-1"))
    if random.random() < 0.15:
        near = changed_bytes(random, content[at - 40 : at + length + 40])
        return content[: at - 40] + near + content[at + length + 40 :]
    return content[:at] + _record(random, record) + content[at + length :]


def _record(random: Random, record: dict[str, object]) -> bytes:
    """The record with other values, or of a launch of a file."""
    if random.random() < 0.4:
        launch = dict(_LAUNCH)
        if random.random() < 0.6:
            launch["file"] = random.choice((*_FILES, nasty.word(random)))
        if random.random() < 0.3:
            launch = {"trace": random.choice((*_FILES, nasty.word(random)))}
        record = {**record, "lesson": "kernel-1", "values": {}, "launch": launch}
    changed = trees.changed(random, record) if random.random() < 0.8 else record
    if isinstance(changed, dict):  # first, or else nobody finds it
        changed = {"gpuviz view": changed.pop("gpuviz view", 1), **changed}
    try:
        return encoded(json.dumps(changed, ensure_ascii=random.random() < 0.7))
    except (RecursionError, ValueError):
        return MARK + b"[" * 9000


def render(file: Path) -> Sequence[str]:
    """The same picture again."""
    return "render", "--from", str(file), "-o", "out.svg"


def opened(file: Path) -> None:
    """`gpuviz FILE`, as far as the window."""
    from gpuviz.cli import COMMANDS
    from gpuviz.cli.link_or_file import link_or_file

    link_or_file([str(file)], COMMANDS)


def pasted(file: Path) -> None:
    """From the clipboard."""
    from gpuviz.export.reading import check_files, read_content

    check_files(read_content(file.read_bytes(), "the picture copied"), "the picture copied")


KIND = Kind("exported", 220, ".png", make, (render,), calls=(opened, pasted))
