"""Which architecture to compile for, when the one asked for is history or not known yet."""

import re
from collections.abc import Sequence

from gpuviz.base.errors import InputError, UnavailableError
from gpuviz.compile import nvrtc

_NAME = re.compile(r"(?:sm_|compute_)?(\d{2,3})[af]?$|(\d{1,2})\.(\d)$")
_FEATURES, _FEATURED = "__CUDA_ARCH_FEAT_SM90_ALL", 90
_FEATURED_ALONE = re.compile(r"\bwgmma\.|\bsetmaxnreg\.")
_CUDA_12_ONLY = range(50, 75)  # compiled by NVRTC 12.9, dropped by 13.0 (release notes of CUDA 13)


def capability(arch: str) -> int:
    """Compute capability times ten of `sm_90`, `sm_90a`, `compute_90`, `90` or `9.0`."""
    match = _NAME.match(arch)
    if match is None:
        raise InputError(f"Architecture {arch!r} is not one like sm_90: use sm_XX or X.Y.")
    return int(match[1] or match[2] + match[3])


def compile_arch(arch: str, supported: Sequence[int] | None = None) -> str:
    """The architecture to compile for: `arch` itself where the compiler knows it, else a near one.

    The nearest is the newest supported one that is not newer, or else the oldest supported. An
    architecture that is compiled for another stays the choice of the memory model.
    `supported` (capabilities times ten) defaults to those of the NVRTC found; without one, `arch`.
    """
    wanted = capability(arch)
    known = _known() if supported is None else supported
    if not known or wanted in known:
        return arch if arch.startswith("sm_") else f"sm_{wanted}"
    return f"sm_{max((a for a in known if a < wanted), default=min(known))}"


def with_features(arch: str, source: str) -> str:
    """The architecture, with what no later one has where a source asks for it: sm_90a for wgmma."""
    asks = _FEATURES in source and capability(arch) == _FEATURED
    return f"sm_{_FEATURED}a" if asks else arch


def asks_for_features(text: str) -> bool:
    """Whether a text has instructions that one architecture alone has."""
    return _FEATURED_ALONE.search(text) is not None


def featured(arch: str) -> str:
    """The architecture with what no later one has, where it has some: from 9.0 on."""
    return (
        f"{arch}a"
        if arch.startswith("sm_") and arch[-1].isdigit() and capability(arch) >= _FEATURED
        else arch
    )


def compile_reason(arch: str) -> str:
    """Why `compile_arch(arch)` is another architecture, in a sentence; "" when it is the same."""
    target = compile_arch(arch)
    if capability(target) == capability(arch):
        return ""
    return (
        f"Compiled for {target}, the nearest to sm_{capability(arch)} that this compiler "
        f"({_versions()}) supports; sm_{capability(arch)} is used for the memory model only."
    )


def require(arch: str, supported: Sequence[int], compiler: str) -> None:
    """Raise UnavailableError when the compiler does not know an architecture."""
    wanted = capability(arch)
    if wanted in supported:
        return
    remedy = f"Choose one of these (the nearest is {compile_arch(arch, supported)})."
    if wanted in _CUDA_12_ONLY:
        remedy = (
            "Install the NVRTC of CUDA 12, which does: pip install nvidia-cuda-nvrtc-cu12 "
            "nvidia-cuda-runtime-cu12 nvidia-cuda-cccl-cu12"
        )
    listed = ", ".join(f"sm_{known}" for known in supported)
    raise UnavailableError(f"{compiler} does not compile for {arch}, only for {listed}. {remedy}")


def _known() -> tuple[int, ...]:
    return tuple(sorted({arch for library in nvrtc.libraries() for arch in library.archs}))


def _versions() -> str:
    return ", ".join("NVRTC {}.{}".format(*library.version) for library in nvrtc.libraries())
