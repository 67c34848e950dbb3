"""CUDA's errors in words, and which of them leave a context that cannot be used any more."""

from __future__ import annotations

import re

from gpuviz.base.errors import Error, KernelFault, LaunchError, UnavailableError
from gpuviz.gpu.faults import NoDevice

_NAME = re.compile(r"\b(cudaError\w+|CUDA_ERROR_\w+)")

# By the name without its prefix, in small letters and without underscores, as the runtime and the
# driver spell the same errors differently.
_FATAL: dict[str, str] = {
    "illegaladdress": "the kernel accessed an illegal address: outside every buffer, or freed",
    "misalignedaddress": "the kernel accessed an address that is not aligned to the access's width",
    "illegalinstruction": "the kernel reached an illegal instruction (trap)",
    "invalidaddressspace": "the kernel used an address in a memory space it does not belong to",
    "invalidpc": "the kernel jumped to an address that holds no code",
    "assert": "an assertion in the kernel failed",
    "hardwarestackerror": "the kernel's call stack overflowed or was overwritten",
    "launchfailed": "the kernel failed while it ran (a shared or local access out of range?)",
    "launchfailure": "the kernel failed while it ran (a shared or local access out of range?)",
    "launchtimeout": "the system stopped the kernel, which ran too long for a GPU with a display",
    "eccuncorrectable": "the GPU's memory has an error that could not be corrected",
    "devicesunavailable": "the GPU is in use by another process in exclusive mode",
}
_REFUSED: dict[str, tuple[type[Error], str]] = {
    "launchoutofresources": (
        LaunchError,
        "the launch needs more registers or shared memory than a multiprocessor has",
    ),
    "invalidconfiguration": (LaunchError, "this GPU takes no launch of this shape"),
    "invalidvalue": (LaunchError, "the GPU's driver refused the launch (a size out of range?)"),
    "memoryallocation": (UnavailableError, "the GPU has too little free memory for the buffers"),
    "outofmemory": (UnavailableError, "the GPU has too little free memory for the buffers"),
    "nobinaryforgpu": (UnavailableError, "the machine code is for another GPU architecture"),
    "nokernelimagefordevice": (
        UnavailableError,
        "the machine code is for another GPU architecture",
    ),
    "unsupportedptxversion": (
        UnavailableError,
        "the driver is older than the compiler that wrote "
        "this PTX: update the driver, or install an older NVRTC",
    ),
    "invalidimage": (UnavailableError, "the driver does not load this machine code"),
    "invalidptx": (UnavailableError, "the driver does not assemble this PTX"),
    "insufficientdriver": (NoDevice, "the NVIDIA driver is missing, or older than CuPy needs"),
    "nodevice": (NoDevice, "no NVIDIA GPU is there"),
}


def name_of(error: Exception) -> str:
    """CUDA's name for an error, reduced; "" when it is no error of CUDA."""
    found = _NAME.search(str(error))
    if found is None:
        return ""
    return re.sub(r"^cuda_?error|_", "", found[1].lower())


def is_fatal(error: Exception) -> bool:
    """Whether the context is lost."""
    return name_of(error) in _FATAL


def in_words(error: Exception) -> Exception:
    """The error as one of ours, when CUDA's name for it is known."""
    name = name_of(error)
    if name in _FATAL:
        return KernelFault(f"{_FATAL[name]} ({_first_line(error)})")
    if name in _REFUSED:
        kind, text = _REFUSED[name]
        return kind(f"{text} ({_first_line(error)})")
    return error


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].strip()
