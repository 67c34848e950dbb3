"""What to do about a file that does not compile: libraries to install, what CUDA has no more, which
file to open in its place.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from gpuviz.base.errors import InputError
from gpuviz.files import bounded
from gpuviz.words.language import tr

# Headers that a package brings, and the package.
_PACKAGES = {
    r"cutlass/.*|cute/.*": "nvidia-cutlass",
    r"curand\w*\.h": "nvidia-curand",
    r"(?:cub|thrust|cuda)/.*": "nvidia-cuda-cccl",
    r"cuda_\w+\.h|cooperative_groups.*|mma\.h": "nvidia-cuda-runtime nvidia-cuda-crt",
}
_TEXTURE = re.compile(r"^[^\n/*]*\btexture\s*<[^;\n]*>\s*\w+", re.MULTILINE)
_TORCH = re.compile(r"torch/.*|ATen/.*|c10/.*")
_FILES, _SUFFIXES = 400, (".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp")


def of(texts: Iterable[str], missing: Collection[str]) -> Iterator[str]:
    """Sentences about texts that do not compile, and headers that were not found."""
    wanted = {
        package: name
        for name in missing
        for pattern, package in _PACKAGES.items()
        if re.fullmatch(pattern, name)
    }
    for package, name in wanted.items():
        yield tr(
            "{header} is found once it is installed: pip install {package}",
            header=name,
            package=package,
        )
    if any(map(_TORCH.fullmatch, missing)):
        yield tr(
            "kernels that take torch's own types need its headers and nvcc; those that take "
            "pointers open as they are"
        )
    if any(map(_TEXTURE.search, texts)):
        yield tr(
            "texture references (texture<float> t;) are no part of CUDA since 12.0: make it a "
            "cudaTextureObject_t that the kernel takes, or compile it with CUDA 11 (nvcc -ptx "
            "-lineinfo) and open the .ptx file"
        )


def includers(path: Path) -> list[Path]:
    """Files beside one, and in the folder above, that include it: where it is a part of a program,
    these are the whole.
    """
    named = re.compile(
        rf'^[ \t]*#[ \t]*include[ \t]*[<"](?:[^>"\n]*/)?{re.escape(path.name)}[>"]', re.M
    )
    found = []
    folder = path.absolute().parent
    for place in (folder, folder.parent):
        try:
            files = [one for one in sorted(place.iterdir())[:_FILES] if one.suffix in _SUFFIXES]
        except OSError:
            continue
        for file in files:
            try:
                if file.name != path.name and file.is_file() and named.search(bounded.text(file)):
                    found.append(file)
            except InputError:
                continue
    return sorted(found, key=lambda one: one.suffix != ".cu")
