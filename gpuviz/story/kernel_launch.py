"""How a kernel of the user's own is built and launched, and as the plain values that are stored."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from gpuviz.arguments import parse, renamed
from gpuviz.base import records
from gpuviz.base.errors import Error, InputError
from gpuviz.files.allowed_paths import local
from gpuviz.launch.job import Job
from gpuviz.launch.settings import Settings, beside, load, save
from gpuviz.launch.signature import short_name
from gpuviz.launch.texts import LaunchTexts
from gpuviz.source.kernel_names import plain_name
from gpuviz.story.lesson import Value
from gpuviz.traces.geometry import Geometry, Triple

FOLDER = "-I"  # begins an option that names a folder of headers


@dataclass(frozen=True)
class KernelLaunch(Geometry):
    """A launch of a kernel in a file, as `gpuviz count` takes it.

    `arguments` are SPECs; `defines` macros with their values, `options` those of the compiler and
    `-IFOLDER` for folders of headers. `said` is what its user wrote, as far as that comes to it;
    `guesses` are the names of what nobody said.
    """

    path: Path
    entry: str
    name: str
    grid: Triple
    block: Triple
    arguments: tuple[str, ...]
    dynamic_shared: int = 0
    defines: tuple[tuple[str, str], ...] = ()
    options: tuple[str, ...] = ()
    said: LaunchTexts = field(default_factory=LaunchTexts, hash=False)
    guesses: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, path: Path, job: Job, settings: Settings) -> KernelLaunch:
        """A launch of a file that was compiled by these settings."""
        return cls(
            path.absolute(),
            job.entry,
            short_name(job.entry),
            job.grid,
            job.block,
            tuple(map(str, job.arguments)),
            job.dynamic_shared,
            tuple(settings.macros.items()),
            (*settings.options, *(f"{FOLDER}{Path(one).absolute()}" for one in settings.include)),
            guesses=tuple(job.guesses),
        )


def record_of(launch: KernelLaunch) -> dict[str, Value]:
    """The launch as plain values, to be stored with a view; the home folder is written `~`."""
    made: dict[str, Value] = {
        "file": homely(launch.path),
        "entry": launch.entry,
        "name": launch.name,
        "grid": _sizes(launch.grid),
        "block": _sizes(launch.block),
        "arguments": shlex.join(_placed(spec, _homely) for spec in launch.arguments),
        "shared": launch.dynamic_shared,
    }
    if launch.defines:
        made["defines"] = macros_text(launch.defines)
    if launch.options:
        made["options"] = shlex.join(_seen(option, _homely) for option in launch.options)
    if launch.guesses:
        made["guesses"] = " ".join(launch.guesses)
    if launch.said != LaunchTexts():
        made["said"] = json.dumps(asdict(launch.said), sort_keys=True)
    return made


def macros_text(defines: tuple[tuple[str, str], ...]) -> str:
    """`N=4 DEBUG`, as macros are typed."""
    return shlex.join(f"{name}={value}" if value else name for name, value in defines)


def macros_of(text: str) -> tuple[tuple[str, str], ...]:
    """The macros of `N=4 DEBUG`, with `-D` before each or without.

    Raises
    ------
    InputError : one has no name, or a quote is not closed
    """
    made = []
    for word in words_of(text):
        name, _, value = word.removeprefix("-D").partition("=")
        if not name.isidentifier():
            raise InputError(f"{word!r} is no macro: write NAME or NAME=VALUE, as in N=4 DEBUG")
        made.append((name, value))
    return tuple(made)


def words_of(text: str) -> tuple[str, ...]:
    """A line as a shell would part it; InputError when a quote is not closed."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise InputError(f"{text[:80]!r} cannot be parted into words: {error}") from None


def homely(path: Path) -> str:
    """A path that says nothing of whose home it lies in."""
    try:
        return "~/" + path.relative_to(Path.home()).as_posix()
    except ValueError:
        return path.as_posix()


def _placed(spec: str, place: Callable[[str], str]) -> str:
    """An argument with the file that it is read from, if it is, named in another way."""
    return str(renamed(parse(spec), place)) if "=@" in spec else spec


def _seen(option: str, place: Callable[[str], str]) -> str:
    """An option with the folder that it names, if it does, named in another way."""
    folder = option.removeprefix(FOLDER)
    return option if folder == option else f"{FOLDER}{place(folder)}"


def _homely(file: str) -> str:
    return homely(Path(file)) if Path(file).is_relative_to(Path.home()) else file


def _at_home(file: str) -> str:
    return str(Path(local(file)).expanduser()) if file.startswith("~/") else local(file)


def launch_of(record: Mapping[str, Value]) -> KernelLaunch:
    """The launch that `record_of` stored; InputError when something of it is missing or no size."""
    try:
        return KernelLaunch(
            Path(local(str(record["file"]))).expanduser(),
            str(record["entry"]),
            str(record.get("name", record["entry"])),
            _triple(record["grid"]),
            _triple(record["block"]),
            tuple(
                _placed(spec, _at_home) for spec in shlex.split(str(record.get("arguments", "")))
            ),
            int(record.get("shared", 0)),
            macros_of(str(record.get("defines", ""))),
            tuple(_seen(one, _at_home) for one in words_of(str(record.get("options", "")))),
            records.read(str(record.get("said", "{}")), LaunchTexts, "what is said of a launch"),
            tuple(str(record.get("guesses", "")).split()),
        )
    except KeyError as error:
        raise InputError(f"a launch without {error}: it needs file, entry, grid, block") from None
    except (ValueError, RuntimeError) as error:  # no size, no user's home folder
        raise InputError(f"a launch that cannot be read: {error}") from None


def _sizes(sizes: Triple) -> str:
    return ",".join(map(str, sizes))


def _triple(given: Value) -> Triple:
    """`64,1,1` as three sizes; those left out are 1."""
    x, y, z = (*map(int, str(given).split(",")), 1, 1)[:3]
    return x, y, z


def keep(launch: KernelLaunch, asked: bool = False) -> str:
    """Keep how a kernel is built and launched, where settings are kept already or were `asked` for:
    nobody wants files that appear by themselves. Why it could not be done, "" when it could.
    """
    if not (asked or beside(launch.path).is_file()):
        return ""
    try:
        before = load(launch.path)
        after = kept(before, launch)
        if after != before:
            save(launch.path, after)
    except (Error, OSError) as error:
        return f"{beside(launch.path).name}: {error}"
    return ""


def kept(before: Settings, launch: KernelLaunch) -> Settings:
    """The settings of a file with those of a launch among them."""
    name = plain_name(launch.entry) if "<" not in launch.name else launch.name
    folders = [one.removeprefix(FOLDER) for one in launch.options if one.startswith(FOLDER)]
    return replace(
        before,
        kernel=name,
        macros=dict(launch.defines),
        include=tuple(launch.path.parent / Path(folder) for folder in folders),
        options=tuple(one for one in launch.options if not one.startswith(FOLDER)),
        launches={**before.launches, name: launch.said},
    )
