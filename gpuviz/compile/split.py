"""A .cu file with a host program in it, as the texts that NVRTC is to compile."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from gpuviz.compile.program import Diagnostic
from gpuviz.compile.repair import Choice
from gpuviz.source.headers import Unit, unit
from gpuviz.source.launches import HostLaunch, guessed, instances, mentioned, written


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
        self.name = name
        self.unit: Unit = unit(source, name, folder, own, known)
        self.launches: tuple[HostLaunch, ...] = written(self.unit.texts)
        self._choice = Choice.first(self.unit.texts)

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
    def instances(self) -> tuple[str, ...]:
        """Template kernels to make, `f<float, 4>`: as the text names them, else of floats."""
        named = (*instances(self.launches), *mentioned(self.unit.texts))
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
    def lost(self) -> tuple[Diagnostic, ...]:
        """Why device code was left out, in the order of the text."""
        return tuple(sorted(self._choice.lost.values(), key=lambda d: (d.file, d.line)))

    def learn(self, errors: Collection[Diagnostic]) -> bool:
        """Leave out what does not compile, take back what is missed; False: nothing to be done."""
        return self._choice.learn(errors) or self._without_libraries(errors)

    def _without_libraries(self, errors: Collection[Diagnostic]) -> bool:
        """Give up headers that do not compile and are no project's, such as Thrust's."""
        files = {error.file for error in errors} - set(self.unit.texts)
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
        return self.unit.texts[name].without(self._choice.out[name], self.unit.names[name])
