"""`Run.show`: the real window, on a display of its own."""

import ctypes
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import gpuviz
from gpuviz.api import run as face
from gpuviz.traces import file as trace_file
from tests.test_signals import display

TEXT = "namespace own { template<class T> __global__ void one(T *x) { x[threadIdx.x] = 1; } }"
SECONDS = 60


def titles(name: str) -> Iterator[str]:
    """What the windows of a display are called."""
    x, long = ctypes.CDLL("libX11.so.6"), ctypes.c_ulong
    x.XOpenDisplay.restype = ctypes.c_void_p
    x.XDefaultRootWindow.restype = x.XInternAtom.restype = long
    shown = ctypes.c_void_p(x.XOpenDisplay(name.encode()))
    root, parent, count, windows = long(), long(), ctypes.c_uint(), ctypes.POINTER(long)()
    top = long(x.XDefaultRootWindow(shown))
    byref = ctypes.byref
    x.XQueryTree(shown, top, byref(root), byref(parent), byref(windows), byref(count))
    title = long(x.XInternAtom(shown, b"_NET_WM_NAME", 0))
    for at in range(count.value):
        kind, bits, size, left, text = long(), ctypes.c_int(), long(), long(), ctypes.c_char_p()
        got = (byref(one) for one in (kind, bits, size, left, text))
        asked = long(windows[at]), title, 0, 256, 0, 0
        x.XGetWindowProperty(shown, *asked, *got)
        yield (text.value or b"").decode()
    x.XCloseDisplay(shown)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("Xvfb"), reason="no Xvfb")
def test_the_window_opens_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run = gpuviz.trace(TEXT, 1, 32, ("f32[32]=zeros",), name="own::one<float>")
    began: list[subprocess.Popen[bytes]] = []
    plain = subprocess.Popen

    def popen(command: list[str], **more: object) -> None:
        began.append(plain(command, **more))

    with display() as (name, _):
        monkeypatch.setattr(face.subprocess, "Popen", popen)
        monkeypatch.setattr(face.tempfile, "tempdir", str(tmp_path))
        for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
            monkeypatch.setenv(variable, str(tmp_path / variable))
        monkeypatch.setenv("DISPLAY", name)
        monkeypatch.setenv("QT_QPA_PLATFORM", "xcb")
        assert run.show() is None
        (process,) = began
        try:
            end = time.monotonic() + SECONDS
            while not any("own-one" in title for title in titles(name)):
                assert process.poll() is None and time.monotonic() < end
                time.sleep(0.2)
        finally:
            process.terminate()
            process.wait(SECONDS)
    (file,) = tmp_path.glob("gpuviz-*/own-one.gputrace")
    assert trace_file.load(file).launch == run.trace.launch
