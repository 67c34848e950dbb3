"""ptxas, NVIDIA's assembler, where there is one: machine code of PTX that came without.

Or of PTX in which clusters have a size that the launch says, where the kernel was compiled without
one. A launch attribute (cudaLaunchAttributeClusterDimension) does what `__cluster_dims__` does in
the code. So the directive is put into the PTX, on the line of the kernel's body: whatever runs the
program, here or on a GPU, then forms these clusters.
Source: PTX ISA, "Cluster Dimension Directives".
"""

import importlib.util
import math
import re
import subprocess
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

from gpuviz.base.errors import LaunchError
from gpuviz.compile import log
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
    facts = log.resources(said, cubin)
    return replace(program, cubin=cubin, resources=facts, log=said, arch=arch, note="")


_TARGET = re.compile(r"^\s*\.target\s+sm_(\d+)", re.MULTILINE)
_OLDEST = 90  # compute capability times ten
_MOST = 16  # blocks; more than 8 are for kernels that ask for it


def in_clusters(program: Program, entry: str, cluster: tuple[int, int, int]) -> Program:
    """The program with a kernel that runs in clusters of so many blocks, assembled anew.

    Raises
    ------
    LaunchError : it was compiled for clusters already, or for what has none; a size that none has
    """
    shown = "x".join(map(str, cluster))
    if not 1 <= math.prod(cluster) <= _MOST:
        raise LaunchError(f"clusters of {shown} blocks: give 1 to {_MOST} blocks")
    target = _TARGET.search(program.ptx)
    if target is None or int(target[1]) < _OLDEST:
        found = f"sm_{target[1]}" if target else "no architecture"
        raise LaunchError(f"clusters of {shown} blocks need sm_90: this code is for {found}")
    head = re.search(
        rf"\.entry\s+{re.escape(entry)}\s*\(.*?\)[^{{]*(?=\{{)", program.ptx, re.DOTALL
    )
    if head is None:
        raise LaunchError(f"there is no kernel {entry} to run in clusters")
    if "ctapercluster" in head[0] or "maxclusterrank" in head[0]:
        raise LaunchError(
            f"{entry} was compiled for clusters (__cluster_dims__): leave out the size of {shown}"
        )
    directive = f".explicitcluster .reqnctapercluster {', '.join(map(str, cluster))} "
    ptx = program.ptx[: head.end()] + directive + program.ptx[head.end() :]
    return assembled(replace(program, ptx=ptx, cubin=b""), program.arch)
