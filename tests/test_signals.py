"""What a user's machine does to gpuviz: it is told to end, sent to sleep, and loses its screen."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from gpuviz.cli import COMMANDS
from gpuviz.lectures.reading import read
from tests.qt.test_crash_file import FOREVER, Process

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not sys.platform.startswith("linux"), reason="signals and displays of Linux"
    ),
]
ROOT = Path(__file__).parent.parent
CHANGED = """
window.actions_["lecture.new"].trigger()
window.lecture.document.retitle("Not saved")
"""
# A loop as the application's, which `restarted` replaces by a few lines; closing asks a question.
ASKED = """
from PySide6.QtCore import QEventLoop, QTimer
QTimer.singleShot(0, window.close)
QTimer.singleShot(500, lambda: print(type(app.activeModalWidget()).__name__, flush=True))
QEventLoop().exec()
"""


def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited for too long"
        time.sleep(0.02)


def copies(home: Path) -> list[Path]:
    return list(home.rglob("lectures/*.gpuviz-lecture"))


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_what_is_not_saved_is_kept_at_a_signal_though_a_question_is_open(
    tmp_path: Path, name: str
) -> None:
    process = Process(tmp_path, CHANGED + ASKED)
    assert process.line() == "QMessageBox"
    process.signal(getattr(signal, name))
    process.end()
    (copy,) = copies(tmp_path)
    assert read(copy).title == "Not saved"
    again = Process(tmp_path, "told()\nprint(window.lecture.document.name, flush=True)\n" + FOREVER)
    again.told()
    assert again.line() == "Not saved"
    again.kill()


def test_a_command_told_to_end_leaves_nothing_half_written(tmp_path: Path) -> None:
    out = tmp_path / "film.gif"
    process = subprocess.Popen(
        [sys.executable, "-m", "gpuviz", "render", "--scene", "coalescing", "-o", str(out)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
    )
    until(lambda: list(tmp_path.glob(".*.part")))
    process.terminate()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM, said
    assert list(tmp_path.iterdir()) == []


LAUNCH = ["k.cu", "--grid", "4096", "--block", "256", "--arg", "ones(1048576)", "--arg", "4096"]
KERNEL = """__global__ void k(float* a, int n) {
  float s = 0;
  for (int j = 0; j < n; j++) s += a[(threadIdx.x * 7 + blockIdx.x + j) % n] * j;
  a[threadIdx.x % n] = s;
}
"""
LECTURE = 'gpuviz-lecture = 1\ntitle = "Mine"\n\n[[slide]]\nlesson = "coalescing"\n'
MEASURED = str(ROOT / "tests" / "data" / "h200_first_launches.json")
SHAPES = ROOT / "tests" / "data" / "ncu_h200_shapes"
WORK = {
    "": [[], ["k.cu"]],
    "list": [["--json"]],
    "count": [LAUNCH, [*LAUNCH, "--engine", "numpy"], [*LAUNCH, "--check", "race,init"]],
    "compare": [["k.cu", "--block 128", *LAUNCH[1:]]],
    "check": [["k.cu"]],
    "render": [
        *(["--scene", "coalescing", "-o", f"out.{suffix}"] for suffix in ("png", "mp4", "html")),
        ["--all", "--format", "svg", "-o", "out"],
        ["--lecture", "mine.gpuviz-lecture", "-o", "out.pdf"],
    ],
    "site": [["-o", "out"]],
    "present": [["mine.gpuviz-lecture"], ["mine.gpuviz-lecture", "--pack", "o.gpuviz-lecture"]],
    "verify": [[MEASURED]],
    "run": [LAUNCH],
    "why": [[*LAUNCH, "-o", "out.svg"]],
    "advise": [LAUNCH],
    "report": [[f"{SHAPES}.csv", "--source", f"{SHAPES}.cu", "--time"]],
    "mcp": [[]],
    "capture": [["wait.py", "-o", "out.gpucapture"]],
    "sweep": [["--scene", "banks", "--vary", "stride=1..32", "-o", "out.jsonl"]],
    "device": [[]],
    "record": [["--all", "--check", "-o", str(ROOT / "resources" / "recordings")]],
}


def test_every_command_stands_in_the_table() -> None:
    assert set(WORK) == {"", *COMMANDS}


@pytest.mark.parametrize(("seconds", "times"), [(0.5, 1), (1.0, 2), (3.0, 1)])
@pytest.mark.parametrize(
    "told", [[name, *rest] for name, all_ in WORK.items() for rest in all_], ids=" ".join
)
def test_ctrl_c_is_130_and_leaves_nothing_half_written(
    told: list[str], seconds: float, times: int, tmp_path: Path
) -> None:
    """Once, or again while it ends; as from a terminal, which tells the whole group of it."""
    (tmp_path / "k.cu").write_text(KERNEL)
    (tmp_path / "mine.gpuviz-lecture").write_text(LECTURE)
    (tmp_path / "wait.py").write_text("import time\ntime.sleep(30)\n")
    homes = {f"XDG_{name}_HOME": str(tmp_path) for name in ("CACHE", "CONFIG", "DATA", "STATE")}
    process = subprocess.Popen(
        [sys.executable, "-m", "gpuviz", *filter(None, told)],
        cwd=tmp_path,
        env={**os.environ, **homes, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    ended, told = process.poll() is not None, time.monotonic()
    for _ in range(times):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.02)
    _, said = process.communicate(timeout=60)
    # All was done and said, and the signal came too late to change the status.
    at_the_end = process.returncode in (0, 3) and time.monotonic() - told < 1
    assert ended or process.returncode == 130 or at_the_end, said.decode()
    assert b"Traceback" not in said and b"mistake of gpuviz" not in said
    assert not list(tmp_path.rglob("*.part"))
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_bindings_that_are_being_loaded_are_loaded_whole() -> None:
    """What is raised while they begin aborts the process."""
    code = """
import os, signal, sys
from gpuviz.qt import bindings

class Told:
    def find_spec(self, name, *rest):
        if name.startswith(("PySide6", "shiboken6")):
            os.kill(os.getpid(), signal.SIGINT)

def end(number, frame):
    raise KeyboardInterrupt

signal.signal(signal.SIGINT, end)
sys.meta_path.insert(0, Told())
try:
    bindings.load()
except KeyboardInterrupt:
    print("PySide6.QtGui" in sys.modules, signal.getsignal(signal.SIGINT) is end)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "True"], done.stderr


def test_what_a_library_makes_of_being_told_to_end_is_no_mistake() -> None:
    """Qt's bindings, for one, made an AttributeError of it."""
    code = """
import os, signal, sys
from gpuviz import cli
from gpuviz.cli import list as command

def run(arguments):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except SystemExit:
        raise AttributeError("no such attribute")

command.run, sys.argv = run, ["gpuviz", "list"]
sys.exit(cli.main())
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (128 + signal.SIGTERM, "")


def test_a_window_that_slept_goes_on_where_it_was(tmp_path: Path) -> None:
    """Stopped and continued, as a machine that sleeps: the story does not leap."""
    code = """
told()
window.player.seek(0.0)
window.player.toggle()
wait(lambda: window.player.t > 0.2)
print(flush=True)
last, leap = window.player.t, 0.0
end = time.monotonic() + 6
while time.monotonic() < end and leap < 100:
    app.processEvents()
    leap = max(leap, window.player.t - last)
    last = window.player.t
    time.sleep(0.005)
print(leap, window.player.state.playing, flush=True)
"""
    process = Process(tmp_path, code)
    process.told()
    process.line()
    process.signal(signal.SIGSTOP)
    time.sleep(3)
    process.signal(signal.SIGCONT)
    leap, playing = process.line().split()
    assert float(leap) < 0.5 and playing == "True"
    assert process.end() == 0


@contextmanager
def display(*options: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A display of X, and the process that makes it."""
    made = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(made[1]), "-screen", "0", "1600x800x24", *options],
        pass_fds=[made[1]],
        stderr=subprocess.DEVNULL,
    )
    os.close(made[1])
    try:
        with os.fdopen(made[0]) as told:
            yield f":{told.readline().strip()}", server
    finally:
        server.kill()
        server.wait()


@pytest.mark.skipif(not shutil.which("Xvfb"), reason="no Xvfb")
def test_a_display_that_is_gone_ends_it_and_loses_nothing(tmp_path: Path) -> None:
    with display() as (name, server):
        code = CHANGED + "window.actions_['open.banks'].trigger()\ntold()\nstatus = run()\n"
        process = Process(tmp_path, code, QT_QPA_PLATFORM="xcb", DISPLAY=name)
        assert process.told()["lesson"] == "banks"
        server.kill()
        assert process.end() == 1
    (copy,) = copies(tmp_path)
    assert read(copy).title == "Not saved"
    again = Process(tmp_path, f"wait(lambda: window.lecture.document.lecture)\ntold()\n{FOREVER}")
    after = again.told()
    again.kill()
    assert after["lesson"] == "banks" and after["note"]


PRESENTED = """
import subprocess
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
def monitors(*told):
    subprocess.run(["xrandr", *told], check=False, capture_output=True)
def count(n):
    wait(lambda: len(QGuiApplication.screens()) == n)
def on(widget):
    return widget.screen().name()
monitors("--output", "screen", "--primary")
for name, left in (("B", 0), ("C", 800)):
    monitors("--setmonitor", name, f"800/200x800/200+{left}+0", "none")
count(3)
window.actions_["present.start"].trigger()
given = window.lecture.presenting.presentation
wait(lambda: given.conductor.shown.story and given.speaker.isVisible())
before = [(on(given.screen), on(given.speaker))]
given.press(Qt.Key.Key_Space)
place = given.conductor.place
for many, told in (
    (2, ["--delmonitor", "B"]),
    (1, ["--delmonitor", "C"]),
    (2, ["--setmonitor", "D", "800/200x800/200+800+0", "none"]),
    (1, ["--delmonitor", "D"]),
):
    monitors(*told)
    count(many)
    end = time.monotonic() + 1
    wait(lambda: time.monotonic() > end)
    before.append((on(given.screen), on(given.speaker)))
shown = [given.screen.isVisible(), given.speaker.isVisible()]
for _ in range(3):  # the first may only end what moves
    given.press(Qt.Key.Key_Space)
print(before, shown, given.conductor.place > place, flush=True)
given.close()
"""


@pytest.mark.skipif(not (shutil.which("Xvfb") and shutil.which("xrandr")), reason="no Xvfb, xrandr")
def test_a_screen_pulled_while_presenting_stops_nothing(tmp_path: Path) -> None:
    """Screens come and go as monitors that RandR 1.5 makes of one output."""
    with display() as (name, _):
        process = Process(tmp_path, PRESENTED, QT_QPA_PLATFORM="xcb", DISPLAY=name)
        pulled = [("B", "screen"), ("C", "screen"), ("screen", "screen")]
        pulled += [("D", "screen"), ("screen", "screen")]
        assert process.line() == f"{pulled} {[True, True]} True"
        assert process.end() == 0
