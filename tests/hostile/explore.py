"""A search for PTX that breaks the reader, the decoder or the machine, guided by coverage.

    pip install atheris
    python -m tests.hostile.explore FOLDER --minutes 60

libFuzzer keeps what reaches new code and changes it further, by our own changes as well as its own.
A find does not end the search: it goes into FOLDER/finds once for each place that it comes from,
and what was covered into FOLDER/corpus, from which the next search begins.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import FrameType

import atheris

with atheris.instrument_imports(include=["gpuviz.ptx", "gpuviz.compile.program"]):
    from gpuviz.ptx import emulator
    from gpuviz.ptx.decode import decoder
    from gpuviz.ptx.text import parser
    from gpuviz.traces.check_table import ALL

from gpuviz.arguments import materialise
from gpuviz.arguments import parse as argument
from gpuviz.base.errors import Error
from tests.hostile.kinds import ptx, ptx_made
from tests.hostile.mutation import changed_text, encoded

_SECONDS = 5.0  # of processor time that an input may take
_MEMORY = 2 << 30
_LARGEST = 20_000  # bytes
_OPTIONS = emulator.Options(
    max_blocks=1, instructions=20_000, memory=64 << 20, path=True, checks=ALL
)


class _Slow(Exception):
    """It takes too long."""


class Search:
    """What one search does, and what it finds."""

    def __init__(self, folder: Path, minutes: float) -> None:
        self._folder = folder
        self._end = time.monotonic() + 60 * minutes
        self._seen: dict[str, int] = {}
        self.executions = self.read = self.ran = 0
        (folder / "finds").mkdir(parents=True, exist_ok=True)

    def once(self, content: bytes) -> None:
        """Try one input."""
        if time.monotonic() > self._end:
            self.tell()
            os._exit(0)
        self.executions += 1
        if self.executions % 5000 == 0:
            self.tell()
        try:
            with _bounded(), contextlib.redirect_stdout(io.StringIO()):
                self._enter(content.decode(errors="replace"))
        except Error:
            return
        except Exception as error:
            self._keep(content, error)

    def _enter(self, text: str) -> None:
        parser.parse.cache_clear()
        module = parser.parse(text)
        self.read += 1
        decoder.unsupported(module)
        for name in module.kernels[:1]:
            specs = map(argument, ptx.specs_of([x.type for x in module.by_name[name].params]))
            given = [materialise(spec, number) for number, spec in enumerate(specs)]
            emulator.emulate(module, name, (2, 1, 1), (64, 1, 1), given, options=_OPTIONS)
            self.ran += 1

    def _keep(self, content: bytes, error: Exception) -> None:
        """The smallest input of each place."""
        frames = [
            one for one in traceback.extract_tb(error.__traceback__) if "gpuviz" in one.filename
        ]
        last = frames[-1]
        name = f"{type(error).__name__}-{Path(last.filename).stem}-{last.lineno}"
        if len(content) >= self._seen.get(name, sys.maxsize):
            return
        self._seen[name] = len(content)
        (self._folder / "finds" / f"ptx-{name}.ptx").write_bytes(content)
        told = "".join(traceback.format_exception(error, limit=-8))
        (self._folder / "finds" / f"{name}.txt").write_text(told)

    def tell(self) -> None:
        """Figures so far."""
        told = {"executions": self.executions, "read": self.read, "ran": self.ran}
        told |= {"finds": sorted(self._seen), "seconds": time.process_time()}
        (self._folder / "figures.json").write_text(json.dumps(told, indent=1) + "\n")


@contextlib.contextmanager
def _bounded() -> Iterator[None]:
    def late(number: int, frame: FrameType | None) -> None:
        raise _Slow

    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, _SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        signal.setitimer(signal.ITIMER_PROF, 0)


def _changed(content: bytes, most: int, seed: int) -> bytes:
    """By the changes that know PTX, or by those of libFuzzer."""
    random = Random(seed)
    match random.randrange(6):
        case 0:
            return bytes(atheris.Mutate(content, min(most, len(content) + 64)))
        case 1:
            return ptx_made.make(random)[:most]
        case 2:
            return encoded(changed_text(random, content.decode(errors="replace")))[:most]
    return encoded(ptx.kin(random, content.decode(errors="replace")))[:most]


def main() -> None:
    """Search until the time is over."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("folder", type=Path)
    given.add_argument("--minutes", type=float, default=60.0)
    wanted = given.parse_args()
    corpus = wanted.folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(ptx.texts()):
        (corpus / f"ours-{number}").write_text(text)
    for number in range(200):
        (corpus / f"made-{number}").write_bytes(ptx_made.KIND.content(number))
    search = Search(wanted.folder, wanted.minutes)
    options = [f"-max_len={_LARGEST}", "-rss_limit_mb=4096", "-timeout=120", "-len_control=0"]
    atheris.Setup([sys.argv[0], *options, str(corpus)], search.once, custom_mutator=_changed)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
