"""NAME.gpuviz.toml beside a kernel file: how it is compiled and launched, in its user's words.

kernel = "saxpy"                      # the one that is launched when none is named

[build]
macros = { TILE = 16 }
include = ["../common"]               # as seen from this file
options = ["-use_fast_math"]

[launch.saxpy]
grid = "ceil(n / block.x)"
block = 256                           # or [16, 16], "16, n"
shared = "4 * block.x"
arguments = { n = 4096, x = "rand(n)", p = { scale = 0.5 } }
data = { coefficients = [1, 2, 1] }   # __constant__ and __device__ variables
sizes = { m = 64 }                    # names that the others use
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import tomlkit

from gpuviz.base.errors import FormatError, InputError
from gpuviz.compile import entry_name
from gpuviz.files import bounded
from gpuviz.files import writing as files
from gpuviz.files.allowed_paths import local
from gpuviz.launch.texts import LaunchTexts, Texts

SUFFIX = ".gpuviz.toml"
_NUMBER = re.compile(r"-?\d{1,18}|-?\d+\.\d+")
_PLAIN = ("grid", "block", "shared")
_TABLES = ("arguments", "data", "sizes")


@dataclass(frozen=True)
class Settings:
    """What is kept beside a kernel file. `include` are whole names; `launches` by kernel."""

    kernel: str = ""
    macros: Texts = field(default_factory=dict)
    include: tuple[Path, ...] = ()
    options: tuple[str, ...] = ()
    launches: Mapping[str, LaunchTexts] = field(default_factory=dict)

    def launch_of(self, kernels: tuple[str, ...], entry: str) -> LaunchTexts:
        """What is kept of the launch of a kernel, by its mangled name."""
        for name, texts in self.launches.items():
            try:
                if entry_name(kernels, name) == entry:
                    return texts
            except InputError:
                continue  # a kernel that is no more
        return LaunchTexts()

    def with_options(self, given: tuple[str, ...]) -> tuple[str, ...]:
        """Options of the compiler: those given, and of those kept what they say nothing of."""
        said = {option.lstrip("-").partition("=")[0] for option in given}
        kept = (o for o in self.options if o.lstrip("-").partition("=")[0] not in said)
        return (*kept, *given)


def beside(file: Path) -> Path:
    """Where the settings of a kernel file are: `saxpy.gpuviz.toml` of `saxpy.cu`."""
    return file.with_name(file.stem + SUFFIX)


def load(file: Path) -> Settings:
    """The settings of a kernel file, empty ones where it has none.

    Raises
    ------
    InputError : they cannot be read
    FormatError : they are no TOML, or hold something that is not known: names file and key
    """
    place = beside(file)
    if not place.is_file():
        return Settings()
    return read(bounded.text(place), place)


def read(text: str, place: Path) -> Settings:
    """The settings in the text of a file that lies at a place; as `load` raises."""
    try:
        found = bounded.toml_values(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{place.name}: no TOML: {error}") from None
    at = _Place(place.name)
    at.check(found, ("kernel", "build", "launch"))
    build = at.table(found, "build")
    built = at.of("build")
    built.check(build, ("macros", "include", "options"))
    macros = built.table(build, "macros")
    launches = at.table(found, "launch")
    return Settings(
        at.text(found, "kernel"),
        {name: _text(built.of("macros"), name, value) for name, value in macros.items()},
        tuple(_folder(at, one, place.parent) for one in built.texts(build, "include")),
        built.texts(build, "options"),
        {name: _launch(at.of(f"launch.{name}"), one) for name, one in launches.items()},
    )


def save(file: Path, settings: Settings) -> None:
    """Keep the settings of a kernel file beside it; what a user wrote around them stays.

    Raises
    ------
    OSError : it cannot be written
    FormatError : what is there cannot be read, and is left alone
    """
    place = beside(file)
    before = bounded.text(place) if place.is_file() else ""
    read(before, place)
    files.write(place, changed(before, settings, place.parent))


def changed(text: str, settings: Settings, folder: Path) -> str:
    """The text of a file of settings with others in it."""
    document = tomlkit.parse(text)
    _put(document, "kernel", settings.kernel)
    include = [_seen(path, folder) for path in settings.include]
    build = {
        "macros": _plain(settings.macros),
        "include": include,
        "options": list(settings.options),
    }
    _tables(document, "build", build)
    launches = {name: _plain_launch(texts) for name, texts in settings.launches.items()}
    if launches and "launch" not in document:
        document["launch"] = tomlkit.table(is_super_table=True)
    kept: Any = document.get("launch", {})
    for name in set(kept) - launches.keys():
        del kept[name]
    for name, one in launches.items():
        _tables(kept, name, one)
    return tomlkit.dumps(document)


@dataclass(frozen=True)
class _Place:
    """Where in a file something stands, for messages."""

    file: str
    key: str = ""

    def of(self, key: str) -> _Place:
        """A key below."""
        return _Place(self.file, f"{self.key}.{key}" if self.key else key)

    def error(self, key: str, what: str) -> FormatError:
        """What is wrong with a key."""
        return FormatError(f"{self.file}: {self.of(key).key} {what}")

    def check(self, found: Mapping[str, Any], known: tuple[str, ...]) -> None:
        """Refuse keys that mean nothing."""
        for key in found:
            if key not in known:
                raise self.error(key, f"is not known here; known are: {', '.join(known)}")

    def table(self, found: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        """A table, empty where it is not there."""
        value = found.get(key, {})
        if not isinstance(value, dict):
            raise self.error(key, f"is {value!r}: write a table, as in {key} = {{ name = 1 }}")
        return value

    def text(self, found: Mapping[str, Any], key: str) -> str:
        """A text, "" where it is not there."""
        value = found.get(key, "")
        if not isinstance(value, str):
            raise self.error(key, f'is {value!r}: write a text, as in {key} = "name"')
        return value

    def texts(self, found: Mapping[str, Any], key: str) -> tuple[str, ...]:
        """A list of texts, empty where it is not there."""
        value = found.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self.error(key, f'is {value!r}: write a list of texts, as in {key} = ["a", "b"]')
        return tuple(value)


def _text(at: _Place, key: str, value: object) -> str:
    """A number, a text or a list as the text it stands for."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int | float | str):
        return str(value)
    if isinstance(value, list):
        return "[" + ", ".join(_text(at, key, one) for one in value) + "]"
    raise at.error(key, f"is {value!r}: write a number, a text or a list of them")


def _launch(at: _Place, found: object) -> LaunchTexts:
    if not isinstance(found, dict):
        raise FormatError(f"{at.file}: {at.key} is {found!r}: write a table, [{at.key}]")
    at.check(found, (*_PLAIN, *_TABLES))
    plain = {key: _text(at, key, found[key]).strip("[]") for key in _PLAIN if key in found}
    tables = {
        key: dict(_leaves(at.of(key), at.table(found, key), "")) for key in _TABLES if key in found
    }
    return replace(LaunchTexts(**plain), **tables)  # type: ignore[arg-type]


def _leaves(at: _Place, found: Mapping[str, Any], before: str) -> Iterator[tuple[str, str]]:
    """`p = { n = 4 }` as `p.n`."""
    for key, value in found.items():
        if isinstance(value, dict):
            yield from _leaves(at.of(key), value, f"{before}{key}.")
        else:
            yield f"{before}{key}", _text(at, key, value)


def _folder(at: _Place, name: str, folder: Path) -> Path:
    try:
        return folder.absolute() / Path(local(name, folder)).expanduser()
    except (InputError, RuntimeError) as error:
        raise at.error("build.include", f"has {name!r}: {error}") from None


def _seen(path: Path, folder: Path) -> str:
    """A folder as seen from another, where that can be said."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return path.as_posix()


def _plain(texts: Texts) -> dict[str, Any]:
    """Texts as TOML has them: numbers as numbers, `p.n` below `p`."""
    made: dict[str, Any] = {}
    for name, text in texts.items():
        *above, last = name.split(".")
        inner = made
        for part in above:
            inner = inner.setdefault(part, {})
        inner[last] = _value(text)
    return made


def _value(text: str) -> int | float | str:
    if not _NUMBER.fullmatch(text):
        return text
    return float(text) if "." in text else int(text)


def _plain_launch(texts: LaunchTexts) -> dict[str, Any]:
    made = {one.name: getattr(texts, one.name) for one in fields(texts)}
    return {key: _plain(v) if isinstance(v, Mapping) else _value(v) for key, v in made.items()}


def _put(table: Any, key: str, value: Any) -> None:
    """Set a key, or take it out where there is nothing to keep; an equal value stays as written."""
    if value in ("", [], {}):
        if key in table:
            del table[key]
    elif key not in table or table[key] != value:
        table[key] = value


def _tables(parent: Any, name: str, values: Mapping[str, Any]) -> None:
    """A table of such values, none where all are empty."""
    if name not in parent and any(value not in ("", [], {}) for value in values.values()):
        parent[name] = tomlkit.table()
    if name in parent:
        for key, value in values.items():
            _put(parent[name], key, value)
        if not parent[name]:
            del parent[name]
