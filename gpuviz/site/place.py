"""Where pages of a language lie below the folder of a site: English at its top."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gpuviz.words import language


@dataclass(frozen=True)
class Place:
    """The pages of a language of the site in `root`."""

    root: Path
    language: str

    @property
    def folder(self) -> Path:
        """Of its pages."""
        return self.root / self.below

    @property
    def below(self) -> str:
        """The same from the top of the site, as links have it."""
        return "" if self.language == language.ENGLISH else f"{self.language}/"

    @property
    def up(self) -> str:
        """From its pages to the top."""
        return "../" if self.below else ""


def spoken(root: Path) -> Iterator[Place]:
    """The places of all languages; each is the language chosen while its turn lasts."""
    before = language.chosen()
    try:
        for name in language.languages():
            language.choose(name)
            yield Place(root, name)
    finally:
        language.choose(before)
