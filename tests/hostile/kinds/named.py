"""Pictures, pages and links whose record names files: kernels, headers, data, traces at places that
no stranger should have read. Whatever comes of it, nothing is opened there.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from gpuviz.views.provenance import MARK, Provenance
from tests.hostile import nasty
from tests.hostile.kind import Kind
from tests.hostile.kinds.exported import of_formats
from tests.hostile.kinds.trace import draw

_SUFFIXES = (".png", ".svg", ".html", ".json", ".pdf")
_PLACES = (
    *("\\\\server\\share\\k.cu", "//server/share/k.cu", "\\/server/share/k.cu", "/\\server\\k.cu"),
    *("\\\\?\\UNC\\server\\share\\k.cu", "\\\\.\\pipe\\k.cu", "\\??\\UNC\\server\\share\\k.cu"),
    *("file://server/share/k.cu", "FILE:///etc/passwd", "smb://server/k.cu", " //server/share/k"),
    *("/net/server/k.cu", "/net/../net/server/k.cu", "/../net/server/k.cu", "//net/server/k.cu"),
    *(
        "/afs/server.org/k.cu",
        "/Network/Servers/server/k.cu",
        "/NET/server/k.cu",
        "./../../net/s/k",
    ),
    *("~/../../net/server/k.cu", "~/../../../../../../net/server/k.cu", "~root/../net/server/k.cu"),
    *("/proc/self/root/net/server/k.cu", "/proc/self/environ", "/proc/self/mem", "/proc/kmsg"),
    *(
        "/proc/self/fd/0",
        "/dev/fd/0",
        "/dev/stdin",
        "/dev/tty",
        "/dev/zero",
        "/dev/full",
        "/dev/mem",
    ),
    *("pipe.npy", "./pipe.npy", "link.cu", "loop.cu", "/etc/shadow", "/root/.ssh/id_rsa", ".", "/"),
    *("mine.cu\0.png", "NUL", "CON.cu", "COM1", "k.cu::$DATA", "mine.cu", "mine.ptx", "~nobody/k"),
)
_OPTIONS = (
    *("-I{}", "-I{}/..", "--include-path={}", "-include {}", "--pre-include={}", "-isystem {}"),
    *("@{}", "--options-file={}", "-Xcompiler {}", "-o {}", "--output-file={}", "--keep-dir={}"),
    *("-fatbin {}", "-dlto", "--device-debug", "--time={}", "-split-compile=0", "-D{}=1"),
)
# What no name in a record may have opened; the rest of /proc and /dev is Python's own affair.
_OTHER_HOSTS = re.compile(r"[\\/]{2}|[\\/]\?\?|/(net|afs|network)(/|$)|file:", re.IGNORECASE)
_SECRET = re.compile(r"/proc/(self|\d+)/(root|environ|mem|fd)|/proc/kmsg|/dev/(tty|mem|fd|stdin)")


def make(random: Random) -> bytes:
    """A file of ours whose record names others, or a link that does."""
    launch = _launch(random)
    record = Provenance("kernel-1", {}, "sm_90", width=320, height=200, launch=launch)
    if random.random() < 0.2:  # beside a lesson
        record = Provenance(
            "banks", {}, "sm_90", compare_lesson="kernel-1", compare_launch=launch, width=320
        )
    if random.random() < 0.3:
        from gpuviz.views.link import link

        return link(record).encode(errors="surrogateescape")
    content = random.choice(of_formats(_SUFFIXES))
    at = content.find(MARK)
    _, length = json.JSONDecoder().raw_decode(content[at : at + (1 << 16)].decode("latin-1"))
    return content[:at] + record.text().encode() + content[at + length :]


def _launch(random: Random) -> dict[str, Any]:
    place = random.choice(_PLACES)
    made: dict[str, Any] = {
        "file": "mine.cu",
        "entry": "in_order",
        "name": "in_order",
        "grid": "2,1,1",
        "block": "64,1,1",
        "arguments": "f32[256]=rand f32[256]=zeros",
        "shared": 0,
    }
    match random.randrange(8):
        case 0 | 1 | 2:
            made["file"] = place
        case 3:
            made = {"trace": place}
        case 4:
            made["arguments"] = f"'f32[256]=@{place}' 'f32[256]=zeros'"
        case 5:
            made["options"] = f"'-I{place}'"
        case 6:
            made["options"] = random.choice(_OPTIONS).format(place)
        case _:
            made["defines"] = f"'{nasty.word(random)[:60]}={place}'".replace("\0", "")
    return made


def opened(file: Path) -> None:
    """`gpuviz FILE` and `gpuviz LINK`, as far as the window, and what it would draw."""
    from gpuviz.export.reading import check_files, read_any
    from gpuviz.views.link import parse

    os.symlink("/etc/hostname", "link.cu")
    with watched():
        text = file.read_bytes()
        if text.startswith(b"gpuviz:"):
            wanted = parse(text.decode(errors="surrogateescape"))
            check_files(wanted, "the link")
        else:
            found = read_any(file)
            assert isinstance(found, Provenance)
            wanted = found
        draw(wanted)


def render(file: Path) -> Sequence[str]:
    """The same picture again."""
    return "render", "--from", str(file), "-o", "out.svg"


@contextmanager
def watched() -> Iterator[None]:
    """Files that are opened meanwhile are ordinary ones of this computer."""
    _hook()
    _seen.clear()
    _watching.append(True)
    try:
        yield
    finally:
        _watching.clear()
    if _seen:
        raise AssertionError(f"opened: {_seen}")


_watching: list[bool] = []
_seen: list[str] = []


@cache
def _hook() -> None:
    sys.addaudithook(_audit)  # which nobody can take away again


def _audit(event: str, given: tuple[Any, ...]) -> None:
    if not _watching or event not in ("open", "os.listdir", "os.scandir", "subprocess.Popen"):
        return
    if event == "subprocess.Popen":
        paths = [str(one) for one in given[1]]
    else:
        paths = [os.fsdecode(given[0])] if isinstance(given[0], str | bytes | os.PathLike) else []
    _seen.extend(path for path in paths if _strange(path))


def _strange(path: str) -> bool:
    whole = path if _OTHER_HOSTS.match(path) else os.path.abspath(path)
    if _OTHER_HOSTS.match(whole) or _SECRET.match(whole):
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    usual = whole in ("/dev/null", "/dev/urandom", "/dev/shm")
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or usual)


KIND = Kind("named", 300, ".png", make, (render,), calls=(opened,))
