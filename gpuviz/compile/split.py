"""A .cu file with a host program in it, as the texts that NVRTC is to compile; its launches.

Whether a piece of a text is needed by device code shows when it is compiled: what is marked as
neither and does not compile for the device was the host's, and a function of the host that device
code calls is taken back.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from gpuviz.base.errors import InputError
from gpuviz.compile import headers, nvrtc
from gpuviz.compile.launches import HostLaunch, guessed, instances, mentioned, written
from gpuviz.compile.program import Diagnostic
from gpuviz.compile.project_headers import Unit, defining, unit
from gpuviz.files import bounded
from gpuviz.source.definitions import Definitions
from gpuviz.source.kernel_names import demangled
from gpuviz.source.lambdas import lambdas
from gpuviz.source.parts import Part, Text, text_of

_UNKNOWN = re.compile(
    r'(?:identifier|name|function|class|"[\w:]+" has no member) "(?:\w*::)*(\w+)"'
    r'|no (operator) "([^"]+)" matches'
)
_AMBIGUOUS = "more than one instance of overloaded function"
_NOT_DEFINED = re.compile(
    r'^(\S+)\(\d+\): .*function "(?:[^"\[(]*::)?(\w+)[^"]*" was referenced but not defined'
    r"|Unresolved extern function '(\w+)'",
    re.MULTILINE,
)
_MANY = 50  # errors; NVRTC tells a hundred at a time
_PATIENCE = 3  # rounds in which a header that holds no kernel is mended part by part


@dataclass
class Choice:
    """What is left out of each text now; `lost` are device parts among it, and why."""

    texts: Mapping[str, Text]
    out: dict[str, set[Part]]
    lost: dict[Part, Diagnostic] = field(default_factory=dict)
    _tried: set[Part] = field(default_factory=set)
    _rounds: Counter[str] = field(default_factory=Counter)  # in which a file had errors

    @classmethod
    def first(cls, texts: Mapping[str, Text]) -> Choice:
        """All host code left out."""
        return cls(
            texts,
            {name: {p for p in text.parts if p.kind == "host"} for name, text in texts.items()},
        )

    def learn(self, errors: Iterable[Diagnostic]) -> bool:
        """Change it by what the compiler said; False when there is nothing left to change."""
        found = list(errors)
        self._rounds.update({error.file for error in found})
        return self._take_back(found) or self._without_std(found) or self._leave_out(found)

    def _without_std(self, errors: list[Diagnostic]) -> bool:
        """`using namespace std`, where functions are ambiguous by it: for the host they are one."""
        every = [(n, p) for n, t in self.texts.items() for p in t.parts if p.names == ("std",)]
        found = [(name, part) for name, part in every if part not in self.out[name]]
        if not any(_AMBIGUOUS in error.text for error in errors):
            return False
        for name, part in found:
            self.out[name].add(part)
        return bool(found)

    def _take_back(self, errors: list[Diagnostic]) -> bool:
        """Functions and variables of the host that device code names."""
        wanted = {
            name
            for error in errors
            if getattr(self._at(error), "kind", "device") == "device"
            for match in _UNKNOWN.finditer(error.text)
            for name in ["".join(part or "" for part in match.groups())]
        }
        back = [
            (name, part)
            for name, parts in self.out.items()
            for part in parts - self._tried
            if part.kind == "host" and wanted & set(part.names)
        ]
        for name, part in back:
            self.out[name].discard(part)
            self._tried.add(part)
        return bool(back)

    def _leave_out(self, errors: list[Diagnostic]) -> bool:
        """What is no device code goes first; device code when nothing else is at fault."""
        places = [(error, part) for error in errors if (part := self._at(error)) is not None]
        many = {e.file for e in errors if len(errors) >= _MANY or self.tired_of(e.file)}
        for file in many & self.texts.keys():
            every = self.texts[file].parts
            if all(part.kind != "device" for part in every):  # a library's, such as OpenGL's
                self.out[file].update(every)
        plain = [(error, part) for error, part in places if part.kind != "device"]
        for error, part in plain or places:
            self.out[error.file].add(part)
            if part.kind == "device":
                self.lost.setdefault(part, error)
        return bool(places)

    def tired_of(self, file: str) -> bool:
        """Whether a file had errors again and again."""
        return self._rounds[file] > _PATIENCE

    def _at(self, error: Diagnostic) -> Part | None:
        """The smallest part that a message is about, of those that are in."""
        text = self.texts.get(error.file)
        if text is None:
            return None
        out = self.out[error.file]
        for part in text.parts:
            if part.holds(error.line) and part not in out:
                inner = (p for p in part.inner if p.holds(error.line) and p not in out)
                return next(inner, part)
        return None


@dataclass(frozen=True)
class _Read:
    """Texts, told apart by what is in them: to run the host code of each once."""

    sources: tuple[tuple[str, bytes], ...]
    texts: Mapping[str, Text] = field(compare=False)
    known: Definitions = field(compare=False)

    @classmethod
    def of(cls, texts: Mapping[str, Text], known: Definitions) -> _Read:
        """A file with its headers."""
        return cls(tuple((name, text.source) for name, text in texts.items()), texts, known)


@lru_cache(maxsize=4)  # a file is split to be compiled, and to be launched
def _written(read: _Read) -> tuple[HostLaunch, ...]:
    return written(read.texts, read.known)


class Split:
    """A file without its host code; it learns from what the compiler says of it."""

    def __init__(
        self,
        source: str,
        name: str,
        folder: Path,
        own: Collection[Path],
        known: Callable[[str], bool],
    ):
        """Read the file and its project's headers; InputError when one of these is too large."""
        self.name, self._folder = name, folder
        self.unit: Unit = unit(source, name, folder, own, known)
        self._known = Definitions.of(self.unit.texts.values())
        self.launches: tuple[HostLaunch, ...] = _written(_Read.of(self.unit.texts, self._known))
        self._choice = Choice.first(self.unit.texts)
        self._refused: dict[str, Diagnostic] = {}
        self.made: Sequence[str] = ()  # template kernels of the last compilation
        self._lambdas = {
            name: [(one.start, one.end, one.structure) for one in lambdas(text, self._known)]
            for name, text in self.unit.texts.items()
        }

    @property
    def source(self) -> str:
        """The text to compile."""
        return self._text(self.name)

    @property
    def headers(self) -> Mapping[str, str]:
        """The project's headers as texts, by name."""
        return {name: self._text(name) for name in self.unit.texts if name != self.name}

    @property
    def missing(self) -> tuple[str, ...]:
        """Headers that are nowhere, as the texts name them."""
        return tuple(dict.fromkeys(self.unit.missing))

    @property
    def bounds(self) -> str:
        """Where headers were looked for, if not in all of the project; "" if they were."""
        return self.unit.bounds

    @property
    def instances(self) -> tuple[str, ...]:
        """Template kernels to make, `f<float, 4>`: as the text names them, else of floats."""
        named = (*instances(self.launches), *mentioned(self.unit.texts, self._known))
        return (*dict.fromkeys(map(self._whole, named)), *self.guessed(named))

    def guessed(self, made: Collection[str]) -> tuple[str, ...]:
        """Template kernels that are not among those `made`, of whatever may do."""
        return tuple(map(self._whole, guessed(self.unit.texts.values(), made)))

    def _whole(self, instance: str) -> str:
        """The name of a kernel with its namespace, where the host code leaves that out."""
        name = instance.partition("<")[0]
        scopes = (p.scope for t in self.unit.texts.values() for p in t.parts if p.kernel == name)
        scope = next(scopes, "")
        return f"{scope}::{instance}" if scope else instance

    @property
    def read(self) -> Mapping[str, str]:
        """All texts as they are in their files, by name."""
        texts = self.unit.texts.items()
        return {name: text.source.decode("utf-8", "replace") for name, text in texts}

    @property
    def kernels(self) -> int:
        """How many kernels are still in."""
        out = self._choice.out
        return sum(
            bool(part.kernel) and part not in out[name]
            for name, text in self.unit.texts.items()
            for part in text.parts
        )

    @property
    def children(self) -> tuple[int, ...]:
        """Lines of the file where a kernel launches another."""
        found = self._known.launches[self.unit.texts[self.name].tree.root_node]
        return tuple(
            one.node.start_point[0] + 1
            for one in found
            if one.place.node is not None
            and re.search(r"__global__|__device__", text_of(one.place.node).partition("{")[0])
        )

    def refuse(self, names: Iterable[str], errors: Sequence[Diagnostic]) -> None:
        """Keep why template kernels cannot be made so."""
        for name in names:
            self._refused.setdefault(name, next((e for e in errors if e.line), errors[0]))

    @property
    def refused(self) -> tuple[str, ...]:
        """Template kernels of which none could be made, and why."""
        had = set(map(_plain, self.made))
        first = {_plain(name): (name, why) for name, why in reversed(self._refused.items())}
        ours = self.unit.texts
        return tuple(
            f"{name} ({f'{why.file}:{why.line}: ' if why.file in ours else ''}{why.text})"
            for plain, (name, why) in first.items()
            if plain not in had
        )

    @property
    def lost(self) -> tuple[Diagnostic, ...]:
        """Why device code was left out, in the order of the text."""
        return tuple(sorted(self._choice.lost.values(), key=lambda d: (d.file, d.line)))

    def elsewhere(self, log: str) -> str:
        """Directives that include the files of the project which define device functions that this
        one only declares, as a linker would find them; "" without any.
        """
        found = _NOT_DEFINED.findall(log)
        plain = (demangled(one).partition("(")[0].rpartition("::")[2] for *_, one in found)
        names = {name or other for (_, name, _), other in zip(found, plain, strict=True)}
        stems = {Path(file).stem for file, _, _ in found}
        files = defining(names, stems - {Path(self.name).stem}, self._folder) if found else []
        new = (f'\n#include "{file}"' for file in files if file not in self.unit.texts)
        return "".join(new)

    def learn(self, errors: Collection[Diagnostic]) -> bool:
        """Leave out what does not compile, take back what is missed; False: nothing to be done."""
        learnt = self._choice.learn(errors)
        foreign = {error.file for error in errors} - self.unit.texts.keys()
        if not learnt or any(map(self._choice.tired_of, foreign)):
            learnt = self._without_libraries(foreign) or learnt
        return learnt or self._without_headers(errors)

    def _without_headers(self, errors: Collection[Diagnostic]) -> bool:
        """Give up headers of the project that have no device code and cannot be mended."""
        files = {error.file for error in errors} & self.unit.texts.keys() - {self.name}
        plain = {f for f in files if all(p.kind != "device" for p in self.unit.texts[f].parts)}
        found = [
            (renamed, name)
            for renamed in self.unit.names.values()
            for name, called in renamed.items()
            if called in plain
        ]
        for renamed, name in found:
            renamed[name] = None
            self.unit.missing.append(name)
        return bool(found)

    def _without_libraries(self, files: Collection[str]) -> bool:
        """Give up headers that do not compile and are no project's, such as Thrust's."""
        found = [
            (renamed, include.name)
            for name, renamed in self.unit.names.items()
            for include in self.unit.texts[name].includes
            if include.name not in renamed
            and any(f"/{include.name.partition('/')[0]}" in file for file in files)
        ]
        for renamed, name in found:
            renamed[name] = None
            self.unit.missing.append(name)
        return bool(found)

    def _text(self, name: str) -> str:
        out, names = self._choice.out[name], self.unit.names[name]
        return self.unit.texts[name].without(out, names, self._lambdas[name])


def _plain(instance: str) -> str:
    return instance.partition("<")[0].rpartition("::")[2]


_NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL
)
_HOST = re.compile(
    r"<<<|\b(?:int|void|auto)\s+main\s*\(|\bstd\s*::\s*(?:cout|cerr|vector|string|chrono)\b"
    r"|(?<!__device__ )__host__(?!\s+(?:__forceinline__\s+|inline\s+|static\s+)*__device__)"
    r"|\bcuda(?:Malloc|Free|Mem[a-z]\w*|Event|Stream|Get|Set|Launch|Func|Device[A-Z])\w*\s*\("
    r"|\b(?:malloc|calloc|srand|rand|fprintf|fopen|exit|atoi|scanf)\s*\("
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_STRUCTURE = re.compile(r"[{};]|(?P<function>__global__|__device__)")
_NOWHERE = (sys.maxsize, sys.maxsize)


def code(source: str) -> str:
    """The text with comments, literals and directives blanked, line numbers kept."""

    def lines(match: re.Match[str]) -> str:
        return "\n" * match[0].count("\n")

    return _DIRECTIVE.sub(lines, _NOT_CODE.sub(lines, source))


def host_line(source: str) -> tuple[int, str] | None:
    """Line and text of the first host code, or None.

    A source that asks for `__CUDACC_RTC__` itself knows NVRTC, and is taken at its word. Calls of
    malloc and its like count only outside of device functions.
    """
    if "__CUDACC_RTC__" in source:
        return None
    plain = code(source)
    spans = iter(_device_functions(plain))
    start, end = next(spans, _NOWHERE)
    for match in _HOST.finditer(plain):
        while end <= match.start():
            start, end = next(spans, _NOWHERE)
        if match[0] == "<<<" or match.start() < start:
            return plain.count("\n", 0, match.start()) + 1, match[0].rstrip("( ")
    return None


def _device_functions(plain: str) -> Iterator[tuple[int, int]]:
    """Start and end of what follows __global__ or __device__ in top-level braces, in order."""
    depth, opened, function = 0, 0, -1
    for match in _STRUCTURE.finditer(plain):
        if match.lastgroup == "function":
            function = match.end() if function < 0 else function
            continue
        depth += {"{": 1, "}": -1, ";": 0}[match[0]]
        if match[0] == "{" and depth == 1:
            opened = match.end()
        if depth == 0:
            if match[0] == "}" and function >= 0:
                yield max(opened, function), match.end()
            function = -1
    if depth > 0 and function >= 0:
        yield max(opened, function), len(plain)


def written_launches(path: Path, include: tuple[Path, ...] = ()) -> tuple[HostLaunch, ...]:
    """Every `kernel<<<grid, block>>>(...)` in a file and its project's headers, in order.

    Nothing is compiled. InputError when the file cannot be read.
    """
    if path.suffix == ".ptx":
        return ()
    folders = headers.folders(nvrtc.libraries()[0]) if nvrtc.libraries() else ()

    def known(header: str) -> bool:
        return any((folder / header).is_file() for folder in folders)

    return Split(bounded.text(path), path.name, path.parent.resolve(), include, known).launches


def launches_in(
    path: Path, kernel: str = "", include: tuple[Path, ...] = ()
) -> tuple[HostLaunch, ...]:
    """The launches that a file itself writes, not its headers; of one kernel where it is named,
    and then those of the headers if the file has none of it.
    """
    every = written_launches(path, include)
    own = [one for one in every if one.file == path.name and kernel in ("", *_names(one))]
    return tuple(own or [one for one in every if kernel and kernel in _names(one)])


def _names(launch: HostLaunch) -> tuple[str, ...]:
    """What the kernel of a launch may be called."""
    return launch.kernel, launch.kernel.rpartition("::")[2], launch.instance or launch.kernel


def launch_at(path: Path, line: int, include: tuple[Path, ...] = ()) -> HostLaunch:
    """The launch that is written at a line of a file; InputError, with the others, if none is."""
    found = launches_in(path, include=include)
    for one in found:
        if one.line == line:
            return one
    raise InputError(f"{path.name} has no launch at line {line}; lines with one: {lines_of(found)}")


def lines_of(found: Iterable[HostLaunch]) -> str:
    """Launches as lines and kernels: "12 (saxpy), 40 (dot)"."""
    return ", ".join(f"{one.line} ({one.kernel})" for one in found) or "none"
