"""Recordings, traces, captures and bundles with programs of valid form whose content lies: every
field has its type, every checksum fits, and the numbers are absurd.
"""

from __future__ import annotations

import base64
import io
import json
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np

from tests.hostile import arrays, nasty, zips
from tests.hostile.kind import Kind
from tests.hostile.kinds import bundle, ptx, recording, trace
from tests.hostile.trees import Place

_WHOLE = (0, 1, -1, 2, 31, 32, 33, 1024, 10**6, 2**31 - 1, 2**32, 2**48 - 1, 2**53, 2**63 - 1)
_REAL = (0.0, -1.0, 1e-300, 1e300, -1e300, float("nan"), float("inf"), -float("inf"), 5e-324)
_SAYS = (
    *("\x1b[2J\x1b]0;owned\x07", "<b>bold</b><img src='http://x.org/a.png'>", "\u202egpj.exe"),
    *("sm_90", "sm_75", "sm_1", "", "a" * 5000, "../../x", "%s%n", "&lt;", "k<float>", "_Z1kPf"),
)
_GRIDS = ("1048576", "2147483647,65535,65535", "1", "0", "-1")


def make(random: Random) -> bytes:
    """An archive whose manifest and arrays have the form of ours."""
    which = random.choice(
        ("recording", "recording", "trace", "trace", "capture", "bundle", "bundle")
    )
    if which == "bundle":
        return _bundle(random)
    content = {"recording": recording.ours, "trace": trace.a_trace, "capture": _capture}[which]()
    manifest, name, found = arrays.taken(content)
    if random.random() < 0.75:
        lie(random, manifest)
    if random.random() < 0.4:
        _longer(random, manifest)
    if random.random() < 0.5:
        found = {key: _other(random, one) for key, one in found.items()}
    return zips.plain([("manifest.json", json.dumps(manifest).encode()), (name, arrays.npz(found))])


def lie(random: Random, plain: Any) -> None:
    """Some values exchanged for others of their kind."""
    places = [one for one in _leaves(plain) if one[1] not in ("format", "version", "gpuviz")]
    for holder, key in random.choices(places, k=random.choice((1, 1, 2, 5, 30))):
        held = holder[key]
        if isinstance(held, bool) or held is None:
            continue
        if isinstance(held, str):
            holder[key] = random.choice((*_SAYS, nasty.word(random)[:3000]))
        else:
            holder[key] = random.choice(_WHOLE if isinstance(held, int) else _REAL)


def _leaves(plain: Any) -> Iterator[Place]:
    waiting = [plain]
    while waiting:
        holder = waiting.pop()
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            if isinstance(holder[key], dict | list):
                waiting.append(holder[key])
            else:
                yield holder, key


def _longer(random: Random, plain: Any) -> None:
    """A list of many more of what it has."""
    lists = [
        (holder, key)
        for holder, key in [(plain, key) for key in plain]
        if isinstance(holder[key], list) and holder[key]
    ]
    if lists:
        holder, key = random.choice(lists)
        holder[key] = holder[key] * random.choice((2, 100, 20_000 // len(holder[key]) + 1))


def _other(random: Random, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Numbers of the same kind in the same shape."""
    made = array.copy()
    if not made.size or random.random() < 0.5:
        return made
    pool = _REAL if made.dtype.kind == "f" else _WHOLE
    with np.errstate(all="ignore"):
        numbers = np.array([random.choice(pool) for _ in range(8)])
        if random.random() < 0.3:
            made[...] = numbers[:1].astype(made.dtype)
        else:
            for number in numbers.astype(made.dtype):
                made.flat[random.randrange(made.size)] = number
    return made


@cache
def _capture() -> bytes:
    """A capture of two launches of a kernel of ours."""
    from gpuviz.arguments import parse
    from gpuviz.arguments.specs import ArrayArgument
    from gpuviz.base import resources
    from gpuviz.compile import load_program
    from gpuviz.launch import capture
    from gpuviz.launch.job import Job

    program = load_program(resources.path("kernels/prebuilt/coalescing-971ca003.ptx"))
    given = (ArrayArgument(np.ones(256, np.float32)), parse("f32[256]=zeros"))
    job = Job(program, "in_order", (2, 1, 1), (64, 1, 1), given)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "x.gpucapture"
        capture.write(file, "x.py", (job, job), keep=True, limit=1 << 20)
        return file.read_bytes()


def _bundle(random: Random) -> bytes:
    """A bundle whose programs lie: other PTX, machine code that is none, absurd resources."""
    made = []
    for name, content in bundle.members():
        if name.startswith("programs/"):
            said = json.loads(content)
            cubin = _cubin(random, said)
            lie(random, said["program"])
            if random.random() < 0.6:
                said["program"]["cubin"] = base64.b64encode(cubin).decode()
            if random.random() < 0.4:
                said["program"]["ptx"] = ptx.text(random)
            if random.random() < 0.5:
                for key in ("kernel", "source_hash", "arch", "defines", "headers"):
                    said[key] = json.loads(content)[key]
            content = json.dumps(said).encode()
        elif name.endswith(".gpuviz-lecture") and random.random() < 0.4:
            content = content.replace(
                b'grid = "2"', b'grid = "%s"' % random.choice(_GRIDS).encode()
            )
        made.append((name, content))
    return zips.plain(made)


def _cubin(random: Random, said: Any) -> bytes:
    from tests.hostile.mutation import changed_bytes

    real = base64.b64decode(said["program"]["cubin"])
    match random.randrange(4):
        case 0:
            return random.randbytes(random.choice((0, 1, 64, 4000)))
        case 1:
            return b"\x7fELF" + random.randbytes(2000)
        case 2:
            return real[: random.randrange(len(real) + 1)]
    return changed_bytes(random, real)


def shown(file: Path) -> None:
    """As the window shows each kind; bundles on a machine that cannot compile."""
    from gpuviz.export.reading import read_any
    from gpuviz.recordings.recording import Recording

    with zipfile.ZipFile(io.BytesIO(file.read_bytes())) as archive:
        bundled = "manifest.json" not in archive.namelist()
    if bundled:
        _slides(file)
        return
    found = read_any(file)
    if isinstance(found, Recording):
        recording.shown(file)
    elif isinstance(found, tuple):
        from gpuviz.story.perform import perform

        for lesson in found[:2]:
            perform(lesson, lesson.defaults(), seconds=2)
    else:
        trace.shown(file)


def _slides(file: Path) -> None:
    """The first kernel's slide, of the program that the bundle brought."""
    from gpuviz.compile import nvrtc
    from gpuviz.export.save import save
    from gpuviz.lectures import bundle as bundles
    from gpuviz.results import rows
    from gpuviz.run.session import Session
    from gpuviz.views.make_view import view_of

    session = Session()
    lecture = bundles.opened(file, session)
    library = session.library(file)
    with mock.patch.object(nvrtc, "libraries", lambda *_: ()):
        for slide in lecture.slides[:1]:
            if slide.view is not None:
                view = view_of(slide.view, library)
                rows.table(view.runs)
                save(view, Path("out.svg"))


KIND = Kind("forged", 300, ".forged", make, calls=(shown,))
