"""The launch of a user's kernel kept beside its file, in NAME.gpuviz.toml."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gpuviz.base.errors import Error
from gpuviz.launch.settings import Settings, beside, load, save
from gpuviz.source.kernel_names import plain_name
from gpuviz.story.kernel_launch import FOLDER, KernelLaunch


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
