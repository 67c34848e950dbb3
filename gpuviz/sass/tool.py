"""nvdisasm, NVIDIA's disassembler: where it is, and its text for a cubin."""

from __future__ import annotations

import subprocess
import tempfile
from functools import cache
from hashlib import sha256
from pathlib import Path

from gpuviz.base.errors import UnavailableError
from gpuviz.files.disk_cache import DiskCache, key, stamp
from gpuviz.processes import programs as processes

MISSING = (
    "nvdisasm, NVIDIA's disassembler, is not on this machine. Install it: "
    "pip install nvidia-cuda-nvdisasm"
)
_SECONDS = 60
_MEMORY = 4 * processes.GIB
_OPTIONS = ("-c", "-gi", "-gp", "-hex")
_KEPT = DiskCache("machine-code")


@cache
def find() -> Path | None:
    """The nvdisasm of the wheel `nvidia-cuda-nvdisasm`, else the one on PATH, else None."""
    for folder in processes.nvidia_folders():
        for file in sorted(folder.glob("*/bin/nvdisasm*"), reverse=True):
            if file.name in ("nvdisasm", "nvdisasm.exe"):
                return file
    return processes.find("nvdisasm")


def disassemble(cubin: bytes) -> str:
    """The code sections of a cubin as text, with lines and encodings; kept for the next time.

    Raises
    ------
    UnavailableError : nvdisasm is missing, or it does not understand this cubin
    """
    command = find()
    if command is None:
        raise UnavailableError(MISSING)
    name = key(sha256(cubin).hexdigest(), _OPTIONS, stamp(command))
    if (kept := _KEPT.load(name)) is not None:
        return kept.decode()
    text = _run(command, cubin)
    _KEPT.store(name, text.encode())
    return text


def _run(command: Path, cubin: bytes) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "code.cubin"
        file.write_bytes(cubin)
        try:
            done = processes.run(
                [str(command), *_OPTIONS, str(file)], Path(folder), _SECONDS, _MEMORY
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UnavailableError(f"{command} could not be run: {error}") from error
    if done.returncode != 0:
        how = processes.ended(done.returncode)
        raise UnavailableError(f"{command} ended {how}: {done.stderr.strip()}")
    return done.stdout
