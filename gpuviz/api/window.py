"""The window in a process of its own, showing what a program ran."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from gpuviz.files.suffixes import TRACE
from gpuviz.processes import programs as processes
from gpuviz.source.kernel_names import plain_name
from gpuviz.traces import file as trace_file
from gpuviz.traces.trace import Trace


def show(trace: Trace) -> None:
    """Open a trace in the window; its file stays in the folder of temporary files."""
    name = re.sub(r"\W+", "-", plain_name(trace.launch.kernel)).strip("-")[:60] or "run"
    file = Path(tempfile.mkdtemp(prefix="gpuviz-")) / f"{name}{TRACE}"
    trace_file.save(trace, file)
    subprocess.Popen(
        processes.python("gpuviz", "--", str(file)),
        env=processes.environment(),
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
