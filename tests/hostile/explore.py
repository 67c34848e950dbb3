"""A search for PTX that breaks reader, decoder or an engine, or parts the engines, by coverage.

    pip install atheris
    python -m tests.hostile.explore FOLDER --minutes 60

libFuzzer keeps what reaches new code and changes it further, by our own changes as well as its own.
What can be run is run four times: with all checks, on the NumPy engine, as machine code, and by
classes of blocks; memory, counts and faults of the last three have to be the same. A find does not
end the search: it goes into FOLDER/finds once for each place that it comes from, and what was
covered into FOLDER/corpus, from which the next search begins. A search whose process is lost (by
machine code) keeps what it was at, and goes on in another.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import atheris

with atheris.instrument_imports(include=["gpuviz.ptx", "gpuviz.compile.program"]):
    from gpuviz.ptx import emulator
    from gpuviz.ptx.compiled import engine  # noqa: F401  (imported when it is needed, else)
    from gpuviz.ptx.decode import decoder
    from gpuviz.ptx.text import parser
    from gpuviz.traces.check_table import ALL

from gpuviz.arguments import materialise
from gpuviz.arguments import parse as argument
from gpuviz.base.errors import Error
from tests.hostile.kinds import ptx, ptx_made
from tests.hostile.mutation import changed_text, encoded
from tests.ptx.compiled import engines

_SECONDS = 10.0  # of processor time that an input may take
_MEMORY = 6 << 30  # LLVM ends the process that has none left
_LONGEST = 400  # instructions that are made machine code of
_LARGEST = 20_000  # bytes
_OPTIONS = emulator.Options(
    max_blocks=1, instructions=20_000, memory=64 << 20, path=True, checks=ALL
)
_PLAIN = replace(_OPTIONS, max_blocks=None, path=False, checks=(), threads=1, seconds=600.0)
_SHAPES = ((2, 64), (3, 33), (5, 32), (1, 70))  # blocks and threads
_COUNTED = ("executions", "read", "ran", "compiled", "classes")
_NOW = "now.ptx"
_OWN = re.compile("a mistake of its own|LLVM says|lanes differ")


class _Slow(Exception):
    """It takes too long."""


class _Differs(Exception):
    """The engines do not do the same, or one has made a mistake of its own."""


class Search:
    """What one search does, and what it finds."""

    def __init__(self, folder: Path, minutes: float) -> None:
        self._folder = folder
        self._end = time.monotonic() + 60 * minutes
        self._seen: dict[str, int] = {}
        self._before = _figures(folder)
        self.executions = self.read = self.ran = self.compiled = self.classes = 0

    def once(self, content: bytes) -> None:
        """Try one input."""
        if time.monotonic() > self._end:
            self.tell()
            os._exit(0)
        self.executions += 1
        if self.executions % 500 == 0:
            self.tell()
        try:
            with _bounded(), contextlib.redirect_stdout(io.StringIO()):
                (self._folder / _NOW).write_bytes(content)
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
            blocks, threads = _SHAPES[len(text) % len(_SHAPES)]
            launch = module, name, (blocks, 1, 1), (threads, 1, 1)
            copies = [array.copy() if hasattr(array, "copy") else array for array in given]
            emulator.emulate(*launch, copies, options=_OPTIONS)
            self.ran += 1
            if len(module.by_name[name].body) <= _LONGEST:
                self._compare(launch, given)

    def _compare(self, launch: Any, given: list[Any]) -> None:
        """By machine code, and by classes of blocks: all that is seen has to be the same."""
        one, counts = engines.run(*launch, given, options=replace(_PLAIN, engine="numpy"))
        two, others = engines.run(*launch, given, options=replace(_PLAIN, engine="compiled"))
        if isinstance(one, str) or isinstance(two, str):
            if one != two and not all("stopped after" in str(told) for told in (one, two)):
                raise _Differs(f"faults: {one!r:.300} and {two!r:.300}")
            return
        if _OWN.search(two.engine_note):
            raise _Differs(two.engine_note)
        self.compiled += two.engine == "compiled"
        try:
            engines.alike(one, two)
            assert counts == others, "counts"
        except AssertionError as error:
            raise _Differs(f"by machine code: {error}") from error
        part, others = engines.run(*launch, given, options=replace(_PLAIN, blocks="classes"))
        if not isinstance(part, str) and part.coverage.how == "classes":
            self.classes += 1
            if counts != others:
                raise _Differs(f"by classes: counts; {part.coverage}")

    def _keep(self, content: bytes, error: Exception) -> None:
        """The smallest input of each place."""
        frames = traceback.extract_tb(error.__traceback__)
        last = [one for one in frames if "/gpuviz/" in one.filename or "/tests/" in one.filename][
            -1
        ]
        name = f"{type(error).__name__}-{Path(last.filename).stem}-{last.lineno}"
        if isinstance(error, _Differs):
            name = "differs-" + "-".join(re.findall("[a-z]+", str(error).lower())[:12])
        if len(content) >= self._seen.get(name, sys.maxsize):
            return
        self._seen[name] = len(content)
        (self._folder / "finds" / f"ptx-{name}.ptx").write_bytes(content)
        told = "".join(traceback.format_exception(error, limit=-8))
        (self._folder / "finds" / f"{name}.txt").write_text(told)

    def tell(self) -> None:
        """Figures so far."""
        told: dict[str, Any] = {"seconds": time.process_time()}
        told |= {name: getattr(self, name) for name in _COUNTED}
        told = {name: value + self._before.get(name, 0) for name, value in told.items()}
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


def _figures(folder: Path) -> dict[str, Any]:
    """Those of the processes before this one."""
    file = folder / "figures.json"
    return dict(json.loads(file.read_text())) if file.exists() else {}


def main() -> None:
    """Search until the time is over, in as many processes as it takes."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("folder", type=Path)
    given.add_argument("--minutes", type=float, default=60.0)
    given.add_argument("--here", action="store_true", help="in this process, while it lives")
    wanted = given.parse_args()
    if wanted.here:
        return _search(wanted)
    finds = wanted.folder / "finds"
    finds.mkdir(parents=True, exist_ok=True)
    (wanted.folder / "figures.json").unlink(missing_ok=True)
    os.environ["XDG_CACHE_HOME"] = str(wanted.folder / "cache")
    end = time.monotonic() + 60 * wanted.minutes
    while (left := end - time.monotonic()) > 5:
        again = [sys.executable, "-m", "tests.hostile.explore", str(wanted.folder), "--here"]
        done = subprocess.run([*again, "--minutes", str(left / 60)], check=False)
        if done.returncode:
            number = len(list(finds.glob("ptx-died-*")))
            (wanted.folder / _NOW).rename(finds / f"ptx-died-{number}.ptx")
    print(json.dumps(_figures(wanted.folder)), sorted(one.name for one in finds.glob("*.ptx")))


def _search(wanted: argparse.Namespace) -> None:
    corpus = wanted.folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(ptx.texts()):
        (corpus / f"ours-{number}").write_text(text)
    for number in range(200):
        (corpus / f"made-{number}").write_bytes(ptx_made.KIND.content(number))
    search = Search(wanted.folder, wanted.minutes)
    options = [f"-max_len={_LARGEST}", "-rss_limit_mb=6000", "-timeout=120", "-len_control=0"]
    options.append(f"-artifact_prefix={wanted.folder}/")
    atheris.Setup([sys.argv[0], *options, str(corpus)], search.once, custom_mutator=_changed)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
