"""Doors through which a stranger's kernel comes into the window, each gone through as a user does:
gpuviz is started as a process, with a made-up GPU that measures by itself, and nothing of the
stranger comes as far as that before the click on yes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gpuviz.compile import compile_cuda, nvrtc
from gpuviz.integrations.calls import Call, of_program
from gpuviz.launch import capture
from gpuviz.views.provenance import Provenance
from tests.qt.test_crash_file import FOREVER, Process

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed"),
]
KERNEL = 'extern "C" __global__ void theirs(int* x) { x[threadIdx.x] = 1; }\n'
HOST = "int main() { int* x; cudaMalloc(&x, 128); theirs<<<1, 32>>>(x); }\n"
RECORD = {"entry": "theirs", "grid": "1", "block": "32", "arguments": "i32[32]=zeros"}

# What the window does by itself is waited for; what came to the GPU, and what is asked, is told.
BEGIN = """
import json
from gpuviz.qt.running.consent_dialog import ConsentDialog
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
resting = lambda: window.meter.state.activity != "once" and not window.director.performer.busy
wait(lambda: window.meter.state.device is not None)
"""
ASK = """
wait(lambda: window.meter.state.unagreed and resting())
asked = lambda: [one for one in window.findChildren(ConsentDialog) if one.isVisible()]
if not asked():
    window.meter.run_once()
wait(asked)
words = " ".join(one.text() for one in asked()[-1].findChildren(QLabel))
print(json.dumps(["theirs" in launched, words]), flush=True)
"""
NO = """
QTest.keyClick(asked()[-1], Qt.Key.Key_Return)
window.view.set(arch="sm_90")
end = time.monotonic() + 2.0
wait(lambda: time.monotonic() > end and resting())
print(json.dumps(["theirs" in launched, window.timing.refused.text()]), flush=True)
"""
YES = """
window.timing.ask.click()
wait(asked)
QTest.mouseClick(asked()[-1].yes, Qt.MouseButton.LeftButton)
wait(lambda: "theirs" in launched)
print(json.dumps([True, ""]), flush=True)
"""


def source(folder: Path) -> Path:
    """A file of a stranger's that says itself how it is launched."""
    file = folder / "theirs.cu"
    file.write_text(KERNEL + HOST)
    return file


def captured(folder: Path) -> Path:
    """What a notebook kept of its launches, and somebody passed on."""
    file = folder / "notebook.gpucapture"
    call = Call(None, (1, 1, 1), (32, 1, 1), (np.zeros(32, "i4"),))
    job = of_program(compile_cuda(KERNEL, name="n.py"), call).job
    capture.write(file, "notebook.py", [job], keep=True, limit=1 << 20)
    return file


def picture(folder: Path) -> Path:
    """A picture whose record names the file."""
    return _recorded(folder, Provenance("x", {}, "sm_90", launch=_launch(folder)))


def beside(folder: Path) -> Path:
    """A picture of a lesson of the course, A, and the stranger's kernel as B."""
    theirs = {"compare_lesson": "x", "compare_launch": _launch(folder)}
    return _recorded(folder, Provenance("coalescing", {}, "sm_90", **theirs))


def _launch(folder: Path) -> dict[str, str]:
    return {**RECORD, "file": str(source(folder))}


def _recorded(folder: Path, view: Provenance) -> Path:
    file = folder / "picture.svg"
    file.write_text(f"<svg>{view.text()}</svg>")
    return file


def told(process: Process) -> tuple[bool, str]:
    launched, words = json.loads(process.line())
    return launched, words


@pytest.mark.parametrize("door", [source, captured, picture, beside])
def test_a_file_given_on_the_command_line(tmp_path: Path, door: Callable[[Path], Path]) -> None:
    file = door(tmp_path)
    process = Process(tmp_path, BEGIN + ASK + NO + YES, str(file), MADE_UP_GPU="1")
    launched, words = told(process)
    assert not launched and "theirs" in words and "Run it on the GPU?" in words
    launched, words = told(process)
    assert not launched and "not agreed" in words
    assert told(process) == (True, "")
    assert process.end() == 0


def test_a_window_that_was_lost_and_is_restored(tmp_path: Path) -> None:
    """What it showed comes back, and asks again: nobody had said yes."""
    file = source(tmp_path)
    first = Process(tmp_path, BEGIN + ASK + FOREVER, str(file), MADE_UP_GPU="1")
    assert not told(first)[0]
    assert first.told()["launch"]
    first.kill()
    process = Process(tmp_path, BEGIN + ASK + "told()" + NO + YES, MADE_UP_GPU="1")
    launched, words = told(process)
    assert not launched and "theirs.cu" in words
    assert process.told()["launch"]["entry"] == "theirs"  # type: ignore[index]
    assert told(process)[0] is False
    assert told(process) == (True, "")
    assert process.end() == 0
