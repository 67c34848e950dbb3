"""ptxas, NVIDIA's assembler, where there is one: machine code of PTX that came without."""

from __future__ import annotations

import importlib.util
import subprocess
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

from gpuviz.compile import elf, log
from gpuviz.compile.program import Program
from gpuviz.files import bounded
from gpuviz.processes import programs as processes

_SECONDS = 300
_MEMORY = 8 * processes.GIB
_OUTPUT = 1 << 28  # bytes of a cubin
MISSING = "there is no ptxas here, so no machine code: install Triton, or the CUDA toolkit"


@cache
def find() -> Path | None:
    """The ptxas on PATH, of NVIDIA's wheels, or the one that Triton brings."""
    if (found := processes.find("ptxas")) is not None:
        return found
    triton = importlib.util.find_spec("triton")
    folders = [Path(folder) for folder in (triton and triton.submodule_search_locations) or ()]
    places = [
        *(file for folder in processes.nvidia_folders() for file in folder.glob("*/bin/ptxas")),
        *(folder / "backends/nvidia/bin/ptxas" for folder in folders),
    ]
    return next((place for place in places if place.is_file()), None)


def assembled(program: Program, arch: str) -> Program:
    """A program with machine code for an architecture; as it is, with a note why, where none can
    be made.
    """
    command = find()
    if command is None:
        return replace(program, note=MISSING)
    with tempfile.TemporaryDirectory(prefix="gpuviz-") as folder:
        file, code = Path(folder) / "code.ptx", Path(folder) / "code.cubin"
        file.write_text(program.ptx, encoding="utf-8")
        asked = [str(command), f"-arch={arch}", "-lineinfo", "-v", "-o", str(code), str(file)]
        try:
            done = processes.run(asked, Path(folder), _SECONDS, _MEMORY)
        except (OSError, subprocess.TimeoutExpired) as error:
            return replace(program, note=f"no machine code: {command} could not be run: {error}")
        said = (done.stderr + done.stdout).replace(folder, "")
        if done.returncode:
            return replace(program, note=f"no machine code: ptxas says {said.strip()}")
        cubin = bounded.read(code, _OUTPUT)
    resources = {
        kernel: replace(facts, constant_bytes=elf.constant_bytes(cubin, kernel))
        for kernel, facts in log.resources(said).items()
    }
    return replace(program, cubin=cubin, resources=resources, log=said, arch=arch, note="")
