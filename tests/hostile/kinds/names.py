"""Names of files that hold controls, turn around, or look like options."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

from tests.hostile import nasty
from tests.hostile.kind import Kind
from tests.hostile.mutation import encoded

_SUFFIXES = (".cu", ".ptx", ".gpuviz-lecture", ".png", ".gpurec", ".gputrace", "", ".npy")
_BODIES = {
    ".cu": 'extern "C" __global__ void k(float* out) { out[0] = %s; }',
    ".ptx": ".version 9.0\n.target sm_90\n.visible .entry k() { ret; %s",
    ".gpuviz-lecture": "gpuviz-lecture = 1\n[[slide]]\nlesson = %s",
}


def make(random: Random) -> bytes:
    """A name."""
    parts = [random.choice((*nasty.CONTROLS, *nasty.LETTERS, "a b", "-", "-o", "--help", "$(id)"))]
    parts += [nasty.word(random)[:80] for _ in range(random.randrange(2))]
    name = encoded("".join(parts).replace("/", "_").replace("\0", "_"))[:200]
    name = name + b"\xff" if random.random() < 0.15 else name
    return (name or b"x") + random.choice(_SUFFIXES).encode()


def check(file: Path) -> Sequence[str]:
    """A kernel of that name, which has a mistake."""
    return "check", _named(file)


def lecture(file: Path) -> Sequence[str]:
    """A lecture of that name."""
    return "present", _named(file), "--check"


def opened(file: Path) -> None:
    """`gpuviz FILE`, as far as the window."""
    from gpuviz.cli import COMMANDS
    from gpuviz.cli.link_or_file import link_or_file

    link_or_file([_named(file)], COMMANDS)


def _named(file: Path) -> str:
    """A file of the name, with what its suffix promises; its path as a shell gives it."""
    name = os.fsdecode(file.read_bytes())
    body = _BODIES.get(Path(name).suffix, "%s") % ascii(name)
    with suppress(OSError):  # no file can have some names
        Path(name).write_text(body)
    return name


KIND = Kind("names", 120, ".name", make, (check, lecture), calls=(opened,))
