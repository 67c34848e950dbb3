"""The window in a process of its own, showing what a program ran."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from gpuviz import processes, trace_file
from gpuviz.suffixes import TRACE
from gpuviz.traces import Trace


def show(trace: Trace) -> None:
    """Open a trace in the window; it is kept in the folder of temporary files meanwhile."""
    file = Path(tempfile.mkdtemp(prefix="gpuviz-")) / f"{trace.launch.kernel[:60]}{TRACE}"
    trace_file.save(trace, file)
    subprocess.Popen(
        processes.python("gpuviz", "--", str(file)),
        env=processes.environment(),
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
