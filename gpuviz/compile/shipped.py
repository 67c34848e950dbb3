"""PTX of the gallery's kernels, shipped for machines without NVRTC (macOS).

`resources/kernels/prebuilt/index.json` lists what is there; `python -m tools.prebuild` makes it.
"""

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType

from gpuviz.base import records, resources
from gpuviz.base.errors import FormatError, InputError, UnavailableError
from gpuviz.compile import bundled, headers, nvrtc, process
from gpuviz.compile.archs import compile_arch, with_features
from gpuviz.compile.bundled import Programs
from gpuviz.compile.compiler import load_program
from gpuviz.compile.program import CompileError, Program, Resources
from gpuviz.compile.project_headers import spliced
from gpuviz.files import bounded, checksums
from gpuviz.files.allowed_paths import Reach
from gpuviz.files.checksums import source_hash

ARCH = "sm_90"  # the architecture that prebuilt PTX is made for
FOLDER, INDEX = "kernels/prebuilt", "index.json"
NO_PROGRAMS: Programs = MappingProxyType({})


@dataclass(frozen=True)
class Entry:
    """One prebuilt PTX file: what it was made from, and what the compiler said of it."""

    kernel: str
    defines: Mapping[str, str]
    arch: str
    source_hash: str
    compiler: str
    file: str
    resources: Mapping[str, Resources]

    @property
    def key(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """What it is found by: the kernel's file, and its macros in order."""
        return self.kernel, tuple(sorted(self.defines.items()))


def entries(folder: Path) -> tuple[Entry, ...]:
    """The index of a folder of prebuilt PTX; none when the folder has no index."""
    file = folder / INDEX
    if not file.is_file():
        return ()
    try:
        return records.read(bounded.read(file), tuple[Entry, ...], f"{file} is damaged")
    except FormatError as error:
        raise FormatError(
            f"{error}; run python -m tools.prebuild, or install gpuviz again."
        ) from None


@cache
def _index() -> Mapping[tuple[str, tuple[tuple[str, str], ...]], Entry]:
    folder = resources.path(FOLDER)
    found = {entry.key: entry for entry in entries(folder)}
    if found:
        checksums.check(folder / INDEX)
    return found


def prebuilt(kernel: str, defines: Mapping[str, str], arch: str = "") -> Program | None:
    """The shipped PTX of a kernel file with these macros, None when there is none or it is stale.

    It is compiled for one architecture; asking for another one gives None, "" takes any.

    Raises
    ------
    FormatError : it is damaged
    """
    entry = _index().get((kernel, tuple(sorted(defines.items()))))
    if entry is None or (arch and arch != entry.arch):
        return None
    source = bounded.text(resources.path(f"kernels/{kernel}"))
    if source_hash(source) != entry.source_hash:
        return None
    ptx = resources.path(f"{FOLDER}/{entry.file}")
    checksums.check(ptx)
    return Program(
        ptx=bounded.text(ptx),
        cubin=b"",
        log="",
        resources=entry.resources,
        warnings=(),
        source=source,
        name=kernel,
        arch=entry.arch,
        compiler=entry.compiler,
        note="prebuilt PTX: no machine code, so no sass level",
    )


def own_program(
    path: Path,
    arch: str,
    defines: Mapping[str, str],
    programs: Programs = NO_PROGRAMS,
    reach: Reach | None = None,
    options: tuple[str, ...] = (),
    text: str | None = None,
) -> Program:
    """A user's own kernel file: compiled where that can be done, else one of these programs.

    `options` are the compiler's, and `-IFOLDER` for folders of headers, as seen from the file's.
    `text` is taken in place of what is in the file. A kernel in the folder of a lecture reads
    headers within that one's `reach` only.

    Raises
    ------
    Elsewhere : it has read others
    UnavailableError : there is no compiler, and no such program
    InputError, CompileError : as `load_program` does
    """
    include = tuple(path.parent / one[2:] for one in options if one.startswith("-I"))

    check = partial(_check, path, text, defines, include, reach)
    try:
        with process.limited(process.OWN if reach is None else process.STRANGER):
            program = load_program(
                path,
                arch=compile_arch(arch),
                defines=defines,
                include=include,
                options=tuple(one for one in options if not one.startswith("-I")),
                text=text,
            )
    except CompileError as error:  # its words repeat lines of the headers
        check(error.read)
        raise
    except UnavailableError:
        built = bundled.building(defines, options)
        found = bundled.find(programs, path, arch, built, reach) if text is None else None
        if found is None:
            raise
        return replace(
            found, source=bounded.text(path), name=path.name
        )  # whatever it says of itself
    check(program.read)
    return program


def _check(
    path: Path,
    text: str | None,
    defines: Mapping[str, str],
    include: Sequence[Path],
    reach: Reach | None,
    read: Iterable[str] | None,
) -> None:
    """Elsewhere for headers that were read beyond the reach, and for files that were asked for
    there; a user's own kernel from elsewhere has its own.
    """
    if reach is None or Reach(reach.folder).elsewhere(path) is not None:
        return
    files = tuple(map(Path, read or ()))
    reach.check(path.name, files)
    if path.suffix in (".ptx", ".cubin"):
        return
    own = "\n".join((bounded.text(path) if text is None else text, *defines.values()))
    texts = [(path.parent, own), *((file.parent, bounded.text(file)) for file in files)]
    reach.check(path.name, _asked_for(texts, (path.parent, *include), reach))


# `__has_include`, and macros that stand for it; `#ifdef` and `defined` ask for no file.
_ASKING = re.compile(
    r"(#[ \t]*+ifn?def[ \t]++|\bdefined[ \t]*+\(?[ \t]*+)?\b\w*has_include\w*"
    r'(?:\s*\(\s*(?:"([^"\n]*)"|<([^>\n]*)>)\s*\))?',
    re.IGNORECASE,
)
_ASKS = ("__has_include", "__has_include_next", "_CCCL_HAS_INCLUDE")


def _asked_for(
    texts: Iterable[tuple[Path, str]], include: Iterable[Path], reach: Reach
) -> Iterator[Path]:
    """The files that texts, each with its folder, ask whether they are there, in the order in which
    they are looked for; InputError for names that cannot be told before it is done.
    """
    words: set[str] = set()
    for folder, text in texts:
        joined = spliced(text)
        words.update(re.findall(r"\w+", joined))
        for guard, quoted, angled in _ASKING.findall(joined):
            if not (name := quoted or angled):
                if not guard:
                    raise InputError(_UNTOLD)
                continue
            foreign = map(headers.folders, nvrtc.libraries()) if ".." in name else ()
            beside = (folder,) if quoted else ()
            for place in (*beside, *include, *itertools.chain.from_iterable(foreign)):
                yield place / name
                if reach.elsewhere(place / name) is None and (place / name).is_file():
                    break
    if any(_pasted(words, whole) for whole in _ASKS):
        raise InputError(_UNTOLD)


_UNTOLD = (
    "a kernel of a lecture asks whether a file is there (__has_include) whose name is made by a "
    'macro: write it out, as in __has_include("mine.h")'
)


def _pasted(words: Collection[str], whole: str) -> bool:
    """Whether a word can be pasted (`##`) of these."""
    parts = {word for word in words if word in whole and word != whole}
    ends = {0}
    for at in range(len(whole)):
        if at in ends:
            ends |= {at + len(part) for part in parts if whole.startswith(part, at)}
    return len(whole) in ends


def gallery(kernel: str, defines: Mapping[str, str], arch: str = ARCH) -> Program:
    """A kernel of resources/kernels: compiled where NVRTC is, else as shipped.

    Raises
    ------
    InputError : there is none of that name
    UnavailableError : it must be compiled (a compile-time parameter was changed) but cannot be
    """
    path = resources.path(f"kernels/{kernel}")
    if Path(kernel).name != kernel or not path.is_file():
        raise InputError(f"{kernel} is no kernel of the course: a file of your own has a full path")
    if nvrtc.libraries():
        target = with_features(compile_arch(arch), bounded.text(path))
        return load_program(path, arch=target, defines=defines)
    if (found := prebuilt(kernel, defines)) is not None:
        return found
    macros = ", ".join(f"{key}={value}" for key, value in defines.items()) or "no macros"
    raise UnavailableError(
        f"{kernel} with {macros} has to be compiled, as only the lessons' default values are "
        f"shipped prebuilt. {nvrtc.MISSING}"
    )
