"""What of a file cannot be launched as it stands, each with why and what helps: launches of the
host code whose kernel is not among the compiled ones, and kernels that nothing launches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from gpuviz.base.errors import InputError
from gpuviz.compile import Diagnostic, HostLaunch, Program, demangled, entry_name
from gpuviz.launch.signature import short_name, texts_of
from gpuviz.source.kernel_names import plain_name
from gpuviz.source.parts import Part
from gpuviz.words.language import tr

_SHOWN = 4  # kernels that are named


@dataclass(frozen=True)
class Unresolved:
    """A launch (`line` where it is written), or a kernel that nothing launches; `sole` says that
    the kernel is there, and only its launch is not.
    """

    file: str
    line: int
    kernel: str
    why: str
    remedy: str
    sole: bool = False

    @property
    def words(self) -> str:
        """In a list of launches."""
        place = f"  {self.file}:{self.line}" if self.line else ""
        return f"{self.kernel}: {self.why}{place}"

    def __str__(self) -> str:
        """In a line, as compilers write places."""
        place = f"{self.file}:{self.line}: " if self.line else ""
        return f"{place}{self.kernel}: {self.why}; {self.remedy}"


def entry_of(kernels: Sequence[str], launch: HostLaunch) -> str:
    """The kernel, by its mangled name, that a launch of the host code means; where what its
    template is made with is not known, the only one that is made of it: a guess, then.

    Raises
    ------
    InputError : there is none, or several may be meant
    """
    try:
        return entry_name(kernels, launch.called, launch.types)
    except InputError:
        if launch.template and len(made := _made(kernels, launch.kernel)) == 1:
            return made[0]
        raise


def resolved(
    launches: Iterable[HostLaunch], kernels: Sequence[str]
) -> tuple[tuple[HostLaunch, str], ...]:
    """The launches of kernels that there are, with the mangled names of these; each once."""
    found: dict[tuple[object, ...], tuple[HostLaunch, str]] = {}
    for launch in launches:
        with suppress(InputError):
            entry = entry_of(kernels, launch)
            key = entry, launch.texts, launch.grid, launch.block, launch.values
            found.setdefault(key, (launch, entry))
    return tuple(found.values())


def guessed_template(launch: HostLaunch, entry: str) -> dict[str, str]:
    """The kernel, where what its template is made with was guessed: by the name of the guess."""
    try:
        entry_name([entry], launch.called)
    except InputError:
        if launch.template:
            return {"template": short_name(entry)}
    return {}


def unresolved(program: Program, launches: Iterable[HostLaunch]) -> tuple[Unresolved, ...]:
    """Launches without a kernel, each place once; then kernels that do not compile, or that no
    launch is of, in the order of the text.
    """
    found = _Kernels(program)
    reached, missed = set[str](), dict[tuple[str, int], Unresolved]()
    for launch in launches:
        try:
            reached.add(entry_of(program.kernels, launch))
        except InputError:
            missed.setdefault((launch.file, launch.line), found.of_launch(launch))
    said = {_plain(one.kernel) for one in missed.values()}
    alone = (one for one in found.alone(reached) if plain_name(one.kernel) not in said)
    return (*missed.values(), *alone)


def why_not(program: Program, name: str, launch: HostLaunch | None = None) -> str:
    """Why there is no kernel of a name, or none for a launch, and what helps; "" where nothing
    more is known than that.
    """
    found = _Kernels(program)
    if launch is not None:
        return str(found.of_launch(launch))
    why, remedy = found.reason(name)
    return f"{name}: {why}; {remedy}" if why else ""


class _Kernels:
    """The kernels that a program's texts define, and what became of them."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._parts = [p for text in texts_of(program) for p in text.parts if p.kernel]
        self._own = [p for p in texts_of(program)[0].parts if p.kernel]
        self._errors = [one for one in program.warnings if one.severity == "error"]

    def of_launch(self, launch: HostLaunch) -> Unresolved:
        """Why a launch has no kernel."""
        why, remedy = self.reason(launch.kernel, launch)
        name = launch.instance or f"{launch.kernel}<{launch.template}>"
        return Unresolved(launch.file, launch.line, name, why or _nowhere(), remedy or _folders())

    def reason(self, name: str, launch: HostLaunch | None = None) -> tuple[str, str]:
        """Why there is no kernel of a name, and what helps; empty where nothing is known."""
        plain, made = _plain(name), _made(self._program.kernels, name)
        parts = [part for part in self._parts if part.kernel == plain]
        if len(made) > 1 and (launch is None or launch.instance):
            return tr("several kernels may be meant"), _one_of(made)
        if lost := next(filter(None, map(self._lost, parts)), None):
            return _does_not_compile(lost)
        if launch is not None and launch.instance is None:
            given = launch.template or "…"
            why = tr("its template arguments ({given}) follow from what is not known", given=given)
            return why, _one_of(made) if made else _instance(parts, plain)
        if made:
            return tr("the template is not made with these"), _one_of(made)
        if parts:
            return tr("a template that nothing makes a kernel of"), _instance(parts, plain)
        return "", ""

    def alone(self, reached: set[str]) -> Iterator[Unresolved]:
        """Kernels of the file itself that do not compile, that nothing makes, or launches."""
        for part in self._own:
            made = _made(self._program.kernels, part.kernel)
            at = self._program.name, part.first, part.kernel
            if (lost := self._lost(part)) is not None:
                yield Unresolved(*at, *_does_not_compile(lost))
            elif not made:
                why = tr("a template that nothing makes a kernel of")
                yield Unresolved(*at, why, _instance([part], part.kernel))
            elif not reached.intersection(made):
                yield Unresolved(*at, tr("no launch of it is in the text"), _as(made[0]), True)

    def _lost(self, part: Part) -> Diagnostic | None:
        own, name = part in self._own, self._program.name
        errors = (one for one in self._errors if (one.file == name) == own)
        return next((one for one in errors if part.holds(one.line)), None)


def _plain(name: str) -> str:
    return name.partition("<")[0].rpartition("::")[2]


def _made(kernels: Sequence[str], name: str) -> list[str]:
    """The kernels of a name, in whatever namespace and with whatever template arguments."""
    return [one for one in kernels if plain_name(one).rpartition("::")[2] == _plain(name)]


def _does_not_compile(lost: Diagnostic) -> tuple[str, str]:
    why = tr("left out, as line {line} does not compile: {error}", line=lost.line, error=lost.text)
    return why, tr("-I FOLDER and --define NAME=VALUE give what it lacks")


def _one_of(kernels: Sequence[str]) -> str:
    short = {short_name(one) for one in kernels}
    whole = (demangled(one).removeprefix("void ") for one in kernels)
    names = sorted(short) if len(short) == len(kernels) else [*whole]
    quoted = " | ".join(f"'{name}'" for name in names[:_SHOWN])
    return tr("choose one: --entry {names}", names=quoted)


def _instance(parts: Sequence[Part], name: str) -> str:
    given = next((p.made_of for p in parts if p.made_of), None) or ("…",)
    return tr("--entry '{example}' makes one", example=f"{name}<{', '.join(given)}>")


def _as(mangled: str) -> str:
    entry = short_name(mangled)
    return tr("--entry {name} proposes one", name=f"'{entry}'" if "<" in entry else entry)


def _nowhere() -> str:
    return tr("no kernel of this name is in the file, or in the headers that were found")


def _folders() -> str:
    return tr("-I FOLDER says where its headers are, or open the file that has it")
