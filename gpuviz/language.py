"""Words people read, in their language.

`tr("{count} sectors", count=8)` looks the English text up in the catalogue of the chosen language
(resources/locale/<language>.json, English text to translated text) and fills in the values. A text
that is not in the catalogue stays English. English itself has no catalogue. What a lesson declares
and the glossary are data, plain English, and translated where they are shown: `tr(lesson.title)`.
Other tables mark their texts with `later`, so that they are collected.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache

from gpuviz import resources
from gpuviz.errors import FormatError, InputError

ENGLISH = "en"
_chosen = [ENGLISH]


def languages() -> tuple[str, ...]:
    """The languages there are, English first."""
    found = sorted(file.stem for file in resources.path("locale").glob("*.json"))
    return (ENGLISH, *found)


def choose(language: str) -> None:
    """Set the language of the texts made from now on.

    Raises
    ------
    InputError : there is no catalogue for it
    """
    if language not in languages():
        raise InputError(f"there is no language {language!r}; there are: {', '.join(languages())}")
    _chosen[0] = language


def best(asked: Iterable[str]) -> str:
    """The first language there is of those asked for, by locale names, or English.

    A locale name is `es`, `es-MX` or `es_ES.UTF-8`.
    """
    wanted = (name.replace("_", "-").partition("-")[0].lower() for name in asked)
    return next((name for name in wanted if name in languages()), ENGLISH)


def chosen() -> str:
    """The language in use."""
    return _chosen[0]


def tr(text: str, **values: object) -> str:
    """A text in the chosen language, with `{name}` replaced by values."""
    found = catalogue(_chosen[0]).get(text, text)
    return found.format(**values) if values else found


def later(text: str) -> str:
    """The text itself: a literal in a table, which `tr` translates where it is shown."""
    return text


@lru_cache
def catalogue(language: str) -> dict[str, str]:
    """English text to translated text; empty for English."""
    if language == ENGLISH:
        return {}
    file = resources.path(f"locale/{language}.json")
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FormatError(f"the catalogue {file.name} cannot be read: {error}") from None
    return {str(english): str(translated) for english, translated in found.items()}
