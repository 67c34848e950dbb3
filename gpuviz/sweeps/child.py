"""A process that works on the cells of a sweep.

    python -m gpuviz.sweeps.child DEVICE

It answers one line of JSON on standard input, a `Task`, with one on standard output, an `Outcome`,
and ends when standard input does. What kernels print goes nowhere.
"""

from __future__ import annotations

import os
import sys
import threading
from queue import SimpleQueue

from gpuviz.base import records
from gpuviz.sweeps.cell import Task, outcome


def _listen(lines: SimpleQueue[bytes]) -> None:
    """Runs in a thread, so that the end of gpuviz ends work that would take long."""
    for line in sys.stdin.buffer:
        lines.put(line)
    os._exit(0)


def main() -> None:
    """Answer until the other side is gone."""
    device = int(sys.argv[1])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    lines: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    while True:
        made = outcome(records.read(lines.get(), Task, "task"), device)
        answers.write(records.text(made).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    main()
