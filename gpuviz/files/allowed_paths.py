"""Which files another file may name: those in its own folder, and those its reader agreed to.

A lecture comes from anybody. What it names is read, shown and packed, so it must not name what
lies elsewhere on the machine of whoever opens it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gpuviz.base.errors import Elsewhere


@dataclass(frozen=True)
class Reach:
    """The folder of a file, and files outside of it that its reader agreed to, by whole names."""

    folder: Path
    agreed: frozenset[Path] = frozenset()

    def elsewhere(self, file: Path) -> Path | None:
        """The file to be agreed to before this one may be read; None when it may be.

        A link counts as what it leads to. Nothing outside of the folder is touched: a name can be
        that of another machine.
        """
        whole = whole_name(self.folder / file)
        if whole in self.agreed:
            return None
        own = self.folder.resolve()
        if not any(map(whole.is_relative_to, (whole_name(self.folder), own))):
            return whole
        real = (self.folder / file).resolve()
        return None if real.is_relative_to(own) or real in self.agreed else real

    def check(self, what: str, files: Iterable[Path]) -> None:
        """Elsewhere, which names them, if some of these files may not be read by `what`."""
        found = tuple(one for one in map(self.elsewhere, files) if one is not None)
        if found:
            raise Elsewhere(what, tuple(dict.fromkeys(found)))


def whole_name(file: Path) -> Path:
    """An absolute name without `..`, as it is read: links are not followed."""
    return Path(os.path.normpath(file.absolute()))
