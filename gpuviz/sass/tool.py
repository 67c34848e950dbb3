"""nvdisasm, NVIDIA's disassembler: where it is, and its text for a cubin."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import tempfile
from functools import cache
from hashlib import sha256
from pathlib import Path

from gpuviz.disk_cache import DiskCache, key, stamp
from gpuviz.errors import UnavailableError

MISSING = (
    "nvdisasm, NVIDIA's disassembler, is not on this machine. Install it: "
    "pip install nvidia-cuda-nvdisasm"
)
_SECONDS = 60
_OPTIONS = ("-c", "-gi", "-gp")
_KEPT = DiskCache("machine-code")


@cache
def find() -> Path | None:
    """The nvdisasm of the wheel `nvidia-cuda-nvdisasm`, else the one on PATH, else None."""
    spec = importlib.util.find_spec("nvidia")
    roots = list(spec.submodule_search_locations or ()) if spec is not None else []
    for root in roots:
        for file in sorted(Path(root).glob("*/bin/nvdisasm*"), reverse=True):
            if file.name in ("nvdisasm", "nvdisasm.exe"):
                return file
    on_path = shutil.which("nvdisasm")
    return Path(on_path) if on_path else None


def disassemble(cubin: bytes) -> str:
    """The code sections of a cubin as text, with CUDA and PTX lines; kept for the next time.

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
            done = subprocess.run(
                [str(command), *_OPTIONS, str(file)],
                timeout=_SECONDS,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UnavailableError(f"{command} could not be run: {error}") from error
    if done.returncode != 0:
        raise UnavailableError(f"{command} failed: {done.stderr.strip() or done.returncode}")
    return done.stdout
