"""Words people read, in their language.

`tr("{count} sectors", count=8)` looks the English text up in the catalogue of the chosen language
(resources/locale/<language>.json, English text to translated text) and fills in the values. A text
that is not in the catalogue stays English. English itself has no catalogue. A text that counts is
`trn("{n} sector", "{n} sectors", count)`: the catalogue gives its forms, and the language's own
rule (that of gettext) chooses among them. What a lesson declares and the glossary are data, plain
English, and translated where they are shown: `tr(lesson.title)`; so are the tables of
resources/words. Tables in the program mark their texts with `later`, so that they are collected.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from gettext import c2py
from operator import index
from types import MappingProxyType
from typing import Any

from gpuviz.base import resources
from gpuviz.base.errors import FormatError, InputError

ENGLISH = "en"
THIN = "\u202f"  # between thousands, and before a sign: no line breaks there
_UNITS = ((1e6, "s"), (1e3, "ms"), (1.0, "µs"))
LANGUAGES = {ENGLISH: "English", "es": "español"}  # by their own names
_chosen = [ENGLISH]
_COMMA = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_RULE = re.compile(r"\s*nplurals\s*=\s*([1-9])\s*;\s*plural\s*=\s*([^;]+);?\s*")


@dataclass(frozen=True)
class Plural:
    """How a language counts: the number of its forms, and the form that a number takes."""

    forms: int
    form: Callable[[int], int]


@dataclass(frozen=True)
class Catalogue:
    """English texts to their forms in a language: one of a plain text, all of one that counts."""

    texts: Mapping[str, tuple[str, ...]]
    plural: Plural


@dataclass(frozen=True)
class _Head:
    """What a catalogue says of itself."""

    plural_forms: str


def plural_rule(said: str) -> Plural:
    """A rule as gettext writes it: `nplurals=2; plural=(n != 1);`.

    Raises
    ------
    ValueError : it is none
    """
    if not (found := _RULE.fullmatch(said)):
        raise ValueError(f"{said!r} is no plural rule; write nplurals=2; plural=(n != 1);")
    return Plural(int(found[1]), c2py(found[2].strip()))


_ENGLISH = Catalogue(MappingProxyType({}), plural_rule("nplurals=2; plural=(n != 1);"))


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
    found = catalogue(_chosen[0]).texts.get(text, (text,))[0]
    return found.format(**values) if values else found


def trn(one: str, many: str, count: int, /, **values: object) -> str:
    """A text that counts, in the form its language has for the number: `1 sector`, `8 sectors`.

    `{n}` is the number, thousands apart, unless a value `n` says how it is written.
    """
    known, number = catalogue(_chosen[0]), index(count)
    written = {"n": grouped(number), **values}
    if not (found := known.texts.get(one)):
        return english(one, many, number, **written)
    return found[min(known.plural.form(number), len(found) - 1)].format(**written)


def english(one: str, many: str, count: int, /, **values: object) -> str:
    """What `trn` says where all that people read is English: commands."""
    number = index(count)
    text = (one, many)[_ENGLISH.plural.form(number)]
    return text.format(**{"n": number, **values})


def grouped(value: float) -> str:
    """A whole number, thousands apart by a thin space no line breaks at, in every language here.

    So it is in all that is typeset: window, pictures, pages, exported tables. Texts of the command
    line and errors have commas (`f"{n:,}"`): not every terminal has a thin space, and people search
    and copy them. Data (CSV, JSON) have neither; nor have sizes that are names (1024 × 1024) and
    years.
    """
    return typeset(f"{round(value):,}")


def fine_percent(share: float) -> str:
    """A share of 1 in percent, three digits of it: 12.5 % is neither 12 nor 13."""
    return (f"{100 * share:.3g}" if share < 1 else grouped(100 * share)) + f"{THIN}%"


def three(value: float) -> str:
    """Three significant digits, zeros too: `32.0` was measured as well as the `41.8` beside it."""
    return grouped(value) if value >= 999.5 else f"{value:#.3g}".rstrip(".")


def duration(microseconds: float, exact: bool = False) -> str:
    """A time as it is read, three digits of it: `12.4 µs`, `1.20 ms` or `3.00 s`.

    An `exact` one, as on an axis, has no more digits than it needs: `20 µs`.
    """
    scale, unit = time_unit(microseconds)
    value = microseconds / scale
    return (f"{value:.3g}" if exact and value < 1000 else three(value)) + f"{THIN}{unit}"


def time_unit(microseconds: float) -> tuple[float, str]:
    """How many microseconds the unit has that such a time is told in, and its name."""
    return next((u for u in _UNITS if microseconds >= 0.9995 * u[0]), _UNITS[-1])


def typeset(text: str) -> str:
    """A text with commas between thousands as `grouped` writes them: a note, other numbers."""
    return _COMMA.sub(THIN, text)


def percent(share: float) -> str:
    """A share as it is read: `94 %`."""
    return f"{100 * share:.0f} %"


def brief(name: str, most: int = 60) -> str:
    """A name that a stranger chose, printable, and leaving room for what stands beside it."""
    shown = "".join(c if c.isprintable() else " " for c in name)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


@lru_cache
def texts(name: str) -> Mapping[str, Any]:
    """A table of texts, resources/words/NAME.toml: English, which `tr` translates where they are
    shown.
    """
    return MappingProxyType(resources.table(f"words/{name}.toml"))


def later(text: str) -> str:
    """The text itself: a literal in a table, which `tr` translates where it is shown."""
    return text


@lru_cache
def catalogue(language: str) -> Catalogue:
    """The texts of a language; none for English.

    Raises
    ------
    FormatError : its file is damaged, or has texts that count and no plural rule
    """
    if language == ENGLISH:
        return _ENGLISH
    from gpuviz.base import records  # English needs none

    name = f"the catalogue {language}.json cannot be read"
    try:
        text = resources.text(f"locale/{language}.json").encode()
        found = records.read(text, dict[str, str | tuple[str, ...] | _Head], name)
        head = found.get("")
        rule = plural_rule(head.plural_forms if isinstance(head, _Head) else "")
    except (InputError, OSError, ValueError) as error:
        raise FormatError(f"{name}: {error}") from None
    texts = {
        text: (forms,) if isinstance(forms, str) else forms
        for text, forms in found.items()
        if not isinstance(forms, _Head)
    }
    return Catalogue(MappingProxyType(texts), rule)
