"""CUDA C to PTX, cubin and the compiler's log, through NVRTC (or nvcc).

    compile_cuda(source, arch="sm_90")    text to Program
    load_program(path, arch="sm_90")      a .cu or .ptx file to Program
    ptx_program(ptx, cubin)               what another compiler made, as a Program
    gallery(kernel, defines, arch)        a kernel of resources/kernels, prebuilt where NVRTC is not
    own_program(path, arch, defines)      a user's file, or a program that a lecture carries
    prebuilt(kernel, defines)             the PTX shipped for a kernel of resources/kernels, or None
    compile_arch("sm_60")                 the architecture to compile for, and `compile_reason`
    written_launches(path)                the launches that the file's host code makes
    in_clusters(program, entry, (2, 1, 1)) with clusters whose size the launch says
    entry_name(program.kernels, "saxpy")  the mangled name meant by a plain one

Importing this needs no compiler: NVRTC is loaded by the first call that wants it.
"""

from gpuviz.compile.archs import compile_arch, compile_reason
from gpuviz.compile.compiler import again, compile_cuda, load_program, ptx_program
from gpuviz.compile.launches import HostLaunch
from gpuviz.compile.program import CompileError, Diagnostic, NoKernel, Program, Resources
from gpuviz.compile.ptxas import in_clusters
from gpuviz.compile.shipped import gallery, own_program, prebuilt
from gpuviz.compile.split import launch_at, launches_in, lines_of, written_launches
from gpuviz.source.kernel_names import demangled, entry_name

__all__ = [
    "CompileError",
    "Diagnostic",
    "NoKernel",
    "Program",
    "Resources",
    "HostLaunch",
    "again",
    "compile_arch",
    "compile_cuda",
    "compile_reason",
    "demangled",
    "entry_name",
    "gallery",
    "in_clusters",
    "launch_at",
    "launches_in",
    "lines_of",
    "load_program",
    "own_program",
    "prebuilt",
    "ptx_program",
    "written_launches",
]
