"""What to leave out of a text, or to take back in, after the compiler has spoken.

Whether a piece of a text is needed by device code shows when it is compiled: what is marked as
neither and does not compile for the device was the host's, and a function of the host that device
code calls is taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gpuviz.compile.program import Diagnostic
from gpuviz.source.parts import Part, Text

_UNKNOWN = re.compile(r'(?:identifier|name|function|class|"[\w:]+" has no member) "([\w:]+)"')


@dataclass
class Choice:
    """What is left out of each text now; `lost` are device parts among it, and why."""

    texts: Mapping[str, Text]
    out: dict[str, set[Part]]
    lost: dict[Part, Diagnostic] = field(default_factory=dict)
    _tried: set[Part] = field(default_factory=set)

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
        return self._take_back(found) or self._leave_out(found)

    def _take_back(self, errors: list[Diagnostic]) -> bool:
        """Functions and variables of the host that device code names."""
        wanted = {
            match[1].rpartition("::")[2]
            for error in errors
            if (match := _UNKNOWN.search(error.text)) is not None
            and getattr(self._at(error), "kind", "device") == "device"
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
        plain = [(error, part) for error, part in places if part.kind != "device"]
        for error, part in plain or places:
            self.out[error.file].add(part)
            if part.kind == "device":
                self.lost.setdefault(part, error)
        return bool(places)

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
