"""A process that works on the cells of a sweep.

    python -m gpuviz.sweeps.child DEVICE

It answers one line of JSON on standard input, a `Task`, with one on standard output, an `Outcome`,
and ends when standard input does. What kernels print goes nowhere.
"""

import sys

from gpuviz.processes.worker import serve
from gpuviz.sweeps.cell import Task, outcome


def main() -> None:
    """Answer until the other side is gone."""
    device = int(sys.argv[1])
    serve(Task, lambda task: outcome(task, device))


if __name__ == "__main__":
    main()
