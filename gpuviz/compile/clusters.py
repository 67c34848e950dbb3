"""Blocks in clusters whose size the launch says, where the kernel was compiled without one.

A launch attribute (cudaLaunchAttributeClusterDimension) does what `__cluster_dims__` does in the
code. So the directive is put into the PTX, on the line of the kernel's body: whatever runs the
program, here or on a GPU, then forms these clusters.
Source: PTX ISA, "Cluster Dimension Directives".
"""

from __future__ import annotations

import math
import re
from dataclasses import replace

from gpuviz.base.errors import LaunchError
from gpuviz.compile.program import Program
from gpuviz.compile.ptxas import assembled

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
