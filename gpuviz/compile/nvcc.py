"""nvcc, for sources with host code: it needs a CUDA toolkit and a host compiler."""

import re
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from gpuviz.base.errors import UnavailableError
from gpuviz.compile import archs
from gpuviz.compile.program import Compilation, CompileError
from gpuviz.compile.worker import Output
from gpuviz.files import bounded
from gpuviz.processes import programs as processes

_VERSION = re.compile(r"\bV(\d+\.\d+\.\d+)")
_SECONDS = 300  # a template-heavy file takes nvcc a minute; more is a hang
_MEMORY = 8 * processes.GIB
_OUTPUT = 1 << 28  # bytes of PTX, and of a cubin


def find() -> str | None:
    """Path of nvcc, None when it is not on PATH."""
    found = processes.find("nvcc")
    return str(found) if found else None


@cache
def version(nvcc: str) -> str:
    """`nvcc 13.0.88`."""
    match = _VERSION.search(_asked(nvcc, "--version"))
    return f"nvcc {match[1]}" if match else "nvcc"


@cache
def supported(nvcc: str) -> tuple[int, ...]:
    """Compute capabilities times ten that an nvcc makes machine code for."""
    return tuple(int(found) for found in re.findall(r"sm_(\d+)", _asked(nvcc, "--list-gpu-code")))


def _asked(nvcc: str, question: str) -> str:
    done = _run([nvcc, question])
    if done.returncode:  # an answer that is none would be kept
        how = processes.ended(done.returncode)
        raise UnavailableError(f"{nvcc} {question} ended {how}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def compile(nvcc: str, wanted: Compilation) -> Output:
    """Compile the device code of a source text, in a folder of its own.

    One run gives cubin and PTX (`--keep`). Flags are those that NVRTC would get, too.
    """
    archs.require(wanted.arch, supported(nvcc), version(nvcc))
    with tempfile.TemporaryDirectory(prefix="gpuviz-") as folder:
        file = Path(folder) / "source.cu"  # a name of the user's may be an option, or of the shell
        text = "".join(map(_defined, wanted.macros)) + f'#line 1 "{wanted.name}"\n' + wanted.source
        file.write_text(text, encoding="utf-8")
        command = [nvcc, f"-arch={wanted.arch}", "-lineinfo", "-cubin"]
        command += ["--keep", "--keep-dir", folder]
        command += wanted.flags
        command += ["-MD", "-MF", "read.d"]
        command += ["-Xptxas", "-v", "-o", "out.cubin", file.name]
        command += [f"-I{path}" for path in wanted.include]
        done = _run(command, Path(folder))
        log = (done.stderr + done.stdout).replace(folder, "")
        if done.returncode < 0:
            how = processes.ended(done.returncode)
            raise CompileError(
                f"{wanted.name} does not compile: nvcc ended {how}. Try again.\n{log}"
            )
        if done.returncode != 0:
            return Output(False, log)
        ptx = bounded.text(file.with_suffix(".ptx"), _OUTPUT)
        read = _read(Path(folder) / "read.d", file)
        return Output(True, log, ptx, bounded.read(Path(folder) / "out.cubin", _OUTPUT), read)


def _defined(macro: str) -> str:
    """A macro `-DK=V` as a line: nvcc gives its own options to a shell, which would run `$(V)`."""
    name, given, value = macro.removeprefix("-D").partition("=")
    return " ".join(f"#define {name} {value if given else '1'}".splitlines()) + "\n"


def _read(rule: Path, source: Path) -> tuple[str, ...] | None:
    """The files of a rule for make, which nvcc writes; None where it did not."""
    if not rule.is_file():
        return None
    text = bounded.read(rule).decode("utf-8", "surrogateescape").replace("\\\n", " ")
    names = re.findall(r"(?:\\.|\S)+", text.partition(" : ")[2])
    files = (re.sub(r"\\(.)", r"\1", name).replace("$$", "$") for name in names)
    found = (file for file in files if file != source.name)
    return tuple(file for file in found if (rule.parent / file).is_file())  # no name of a `#line`


def _run(command: list[str], folder: Path = processes.HOME) -> subprocess.CompletedProcess[str]:
    try:
        return processes.run(command, folder, _SECONDS, _MEMORY)
    except subprocess.TimeoutExpired:
        raise CompileError(
            f"nvcc did not end within {_SECONDS} s and was stopped: make the source smaller, or "
            "compile it to PTX elsewhere (nvcc -ptx -lineinfo) and open that."
        ) from None
    except OSError as error:
        raise UnavailableError(f"{command[0]} could not be run: {error}") from error
