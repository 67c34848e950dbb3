"""The compiler's process, and programs beside it, killed, stuck, babbling: the next one works."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from gpuviz.base.errors import Cancelled, UnavailableError
from gpuviz.base.waiting import stopped_by
from gpuviz.compile import CompileError, compile_cuda, nvcc, nvrtc, own_program, process
from gpuviz.compile.program import Compilation
from gpuviz.files.allowed_paths import Reach
from gpuviz.processes import programs as processes
from gpuviz.sass import listing
from tests.vitals import children, state_of

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="processes are stopped and looked up"),
    pytest.mark.skipif(not nvrtc.libraries(), reason="needs NVRTC"),
]
ROOT = Path(__file__).parents[2]
STUCK = "import time; time.sleep(60)"
BABBLE = "print('no reply of ours', flush=True)\n" + STUCK
NO_END = "while True: print('no end', end='')"
_number = count()


def source() -> str:
    """One that has not been compiled yet."""
    return f"__global__ void scale(float* a) {{ a[threadIdx.x] *= {next(_number)}.5f; }}\n"


def works() -> bool:
    return "scale" in compile_cuda(source()).kernels[0]


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    """No process waits for work."""
    process.close()
    yield
    process.close()


def waiting() -> int:
    """The number of the process that waits for work."""
    (one,) = process._waiting
    return one._worker.process.pid


def put_in_its_place(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    nvrtc.libraries()[0].version  # noqa: B018  asked of a process, too
    process.close()
    monkeypatch.setattr(process, "command", [sys.executable, "-c", code])


def test_one_that_was_killed_while_it_waited_is_not_asked() -> None:
    for _ in range(3):
        assert works()
        os.kill(waiting(), signal.SIGKILL)
    assert works()


def test_one_that_is_killed_at_work_is_not_blamed_on_the_source(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patch:
        put_in_its_place(patch, "import os; input(); os.kill(os.getpid(), 9)")
        with pytest.raises(CompileError, match=r"it ended by SIGKILL, from somebody .*Try again"):
            works()
    assert works()


def test_one_that_closes_its_pipe_is_ended_and_nobody_else_is_blamed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patch:
        put_in_its_place(patch, "import os; input(); os.close(1); " + STUCK)
        with pytest.raises(CompileError, match=r"crashed on it \(it ended not at all\)"):
            works()


def test_texts_reach_the_compiler_in_utf8_whatever_the_locale() -> None:
    code = r"""
import os
from gpuviz.compile.worker import _strings
assert "\u2211" not in str(os.fsdecode("\u2211".encode())), "this Python has a locale of UTF-8"
print(*_strings(("\u2211\udcff", os.fsdecode("\u2211".encode()))))
"""
    ascii_ = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **ascii_},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == [r"b'\xe2\x88\x91\xff'", r"b'\xe2\x88\x91'"], done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("code", [BABBLE, NO_END])
def test_what_is_no_reply_is_told(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        put_in_its_place(patch, code)
        patch.setattr(process, "_LONGEST", 1 << 20)
        with pytest.raises(CompileError, match="sent what nobody understands"):
            works()
    assert works()


def test_a_compilation_that_hangs_can_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        put_in_its_place(patch, STUCK)
        begun = time.monotonic()
        with stopped_by(lambda: time.monotonic() > begun + 0.2), pytest.raises(Cancelled):
            works()
        assert time.monotonic() - begun < 5
    assert works()


def test_a_program_that_hangs_can_be_cancelled(tmp_path: Path) -> None:
    begun = time.monotonic()
    with stopped_by(lambda: time.monotonic() > begun + 0.2), pytest.raises(Cancelled):
        processes.run(["/bin/sleep", "60"], tmp_path, 60.0)
    assert time.monotonic() - begun < 5


def program(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


def test_nvdisasm_that_is_killed_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match=r"nvdisasm ended by SIGKILL"):
        listing._run(program(tmp_path, "nvdisasm", "kill -9 $$"), b"a cubin")


def test_without_a_place_for_temporary_files_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(UnavailableError, match="could not be run: .*No such file"):
        listing._run(Path("nvdisasm"), b"")


def test_what_nvcc_did_not_say_is_not_kept(tmp_path: Path) -> None:
    made = str(program(tmp_path, "nvcc", "kill -9 $$"))
    for ask in (nvcc.version, nvcc.supported):
        with pytest.raises(UnavailableError, match="SIGKILL"):
            ask(made)
    program(tmp_path, "nvcc", "echo 'release 13.0, V13.0.88'; echo sm_90")
    assert nvcc.version(made) == "nvcc 13.0.88" and nvcc.supported(made) == (90,)


def test_nvcc_that_is_killed_is_not_blamed_on_the_source(tmp_path: Path) -> None:
    text = "case $1 in --list*) echo sm_90;; --version) echo V13.0.88;; *) kill -9 $$;; esac"
    made = str(program(tmp_path, "nvcc", text))
    with pytest.raises(CompileError, match=r"nvcc ended by SIGKILL\. Try again"):
        nvcc.compile(made, Compilation("int main() {}", "host.cu", "sm_90", (), (), (), ()))


@pytest.mark.skipif(not processes.find("setpriv"), reason="needs util-linux")
def test_programs_end_with_gpuviz(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom gpuviz.processes import programs as processes\n"
        "processes.run(['/bin/sh', '-c', 'echo $$ > pid; exec sleep 60'], Path(sys.argv[1]), 60.0)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT) as parent:
        end = time.monotonic() + 10
        while not (tmp_path / "pid").is_file() or not (tmp_path / "pid").read_text().strip():
            assert time.monotonic() < end
            time.sleep(0.02)
        pid = int((tmp_path / "pid").read_text())
        assert state_of(pid)
        parent.kill()
    end = time.monotonic() + 5
    while state_of(pid) not in ("", "Z"):
        assert time.monotonic() < end, "it outlives gpuviz"
        time.sleep(0.02)


FAULTS = (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGSTOP)


def send(pid: int, fault: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, fault)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_hundred_faults_in_a_row_leave_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed while it waits, while it compiles, stuck and cancelled, in a changing order."""
    dice = random.Random(11)
    assert works()
    before = len(os.listdir("/proc/self/fd")), threading.active_count(), len(children())
    for number in range(100):
        delay = 0.0 if dice.random() < 0.5 else 0.1 * dice.random()
        fault = threading.Timer(delay, send, (waiting(), FAULTS[number % len(FAULTS)]))
        fault.start()
        wanted = dice.random() < 0.7
        monkeypatch.setattr(process, "SECONDS", 1.0)
        begun = time.monotonic()
        with suppress(CompileError, Cancelled), stopped_by(lambda wanted=wanted: not wanted):  # type: ignore[misc]
            works()
        fault.join()
        with suppress(CompileError):  # one that was stopped after that is noticed now
            works()
        assert time.monotonic() - begun < 10
        monkeypatch.setattr(process, "SECONDS", 60.0)
        assert works(), f"after {number + 1} faults"
    after = len(os.listdir("/proc/self/fd")), threading.active_count(), len(children())
    assert all(now <= then for now, then in zip(after, before, strict=True)), (before, after)
    assert "Z" not in children().values()


def test_a_time_limit_holds_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not asked again with the host code left out, nor gets a new limit as it was killed."""
    with monkeypatch.context() as patch:
        put_in_its_place(patch, STUCK)
        patch.setattr(process, "SECONDS", 1.0)
        begun = time.monotonic()
        with pytest.raises(CompileError, match="took more than 1 s on it"):
            works()
        assert time.monotonic() - begun < 1.6
    assert works()


def test_a_time_limit_holds_though_the_process_be_killed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mark = str(tmp_path / "killed")
    again = (
        f"import os, time; input(); time.sleep(60 if os.path.exists({mark!r}) else 0.7)\n"
        f"open({mark!r}, 'w').close(); os.kill(os.getpid(), 9)"
    )
    with monkeypatch.context() as patch:
        put_in_its_place(patch, again)
        patch.setattr(process, "SECONDS", 1.0)
        patch.setattr(process, "_waiting", [process.Process(process.OWN)])
        begun = time.monotonic()
        with pytest.raises(CompileError, match="took more than 1 s on it"):
            works()
        assert time.monotonic() - begun < 1.6
    assert works()


def test_the_text_of_a_stranger_gets_a_process_of_less_memory(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(source())
    assert works()
    resource = pytest.importorskip("resource")
    for reach, most in ((Reach(tmp_path), 3 << 29), (None, 1 << 32)):
        (tmp_path / "k.cu").write_text(source())
        assert own_program(tmp_path / "k.cu", "sm_90", {}, reach=reach).kernels
        worker = process._waiting[-1]._worker.process.pid
        assert resource.prlimit(worker, resource.RLIMIT_AS)[0] == most
