"""A process that takes in one input after another: a line on standard input names each, and a line
of JSON tells how it ended. What kills the process ends only that input. The kinds are those of the
module that is named.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from importlib import import_module
from pathlib import Path

from tests.hostile import lent
from tests.hostile.entering import as_process, called, in_process, measured
from tests.hostile.kind import Kind
from tests.hostile.outcome import GOOD, Outcome

_EVERY = 40  # seeds, of which one goes through a process of its own, too


def outcomes(kind: Kind, seed: str, content: bytes) -> Iterator[Outcome]:
    """How an input ends at each door of its kind, each time from a folder of its own."""
    own = seed.isdecimal() and int(seed) % _EVERY == 0
    for command in kind.commands:
        yield _through(command.__name__, kind, seed, content, partial(in_process, command))
        if own:
            name = f"{command.__name__} as a process"
            yield _through(name, kind, seed, content, partial(as_process, command))
    for call in kind.calls:
        yield _through(call.__name__, kind, seed, content, partial(called, call))


def _through(
    door: str, kind: Kind, seed: str, content: bytes, enter: Callable[[Path], tuple[str, str]]
) -> Outcome:
    with lent.folder() as base:
        file = base / "in" / f"{kind.name}{kind.suffix}"
        file.write_bytes(content)
        lent.shelve(base / "in")
        (end, said), seconds, mebibytes = measured(partial(enter, file))
        if end in GOOD and (strange := lent.strange(base)):
            end, said = "elsewhere", strange
    return Outcome(kind.name, seed, door, end, said[-3000:], round(seconds, 3), round(mebibytes, 1))


def main() -> None:
    """Answer until there are no more questions."""
    sink = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    kinds = import_module(sys.argv[1]).KINDS
    root = Path(tempfile.mkdtemp(prefix="hostile-"))
    lent.move_in(root)
    application = _application()
    try:
        for line in sys.stdin:
            name, seed, given = json.loads(line)
            kind = kinds[name]
            content = Path(given).read_bytes() if given else kind.content(int(seed))
            for one in outcomes(kind, seed, content):
                sink.write(json.dumps(asdict(one)) + "\n")
                sink.flush()
            sink.write("null\n")
            sink.flush()
    finally:
        shutil.rmtree(root, ignore_errors=True)
        del application


def _application() -> object:
    """One for all windows and pictures: a picture's own would be a lesser one."""
    from PySide6.QtWidgets import QApplication

    from gpuviz.qt.look.fonts import load_fonts

    made = QApplication(["gpuviz"])
    load_fonts()
    return made


if __name__ == "__main__":
    main()
