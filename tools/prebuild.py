"""`python -m tools.prebuild`: compile what the lessons launch, for machines without a compiler.

Makes resources/kernels/prebuilt anew: the PTX of every launch at every lesson's default values and
presets, and index.json. `--check` only says what is stale, with exit status 1.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from gpuviz.base import records, resources
from gpuviz.base.errors import Error, FormatError
from gpuviz.compile.archs import with_features
from gpuviz.compile.compiler import load_program
from gpuviz.compile.shipped import ARCH, FOLDER, INDEX, Entry, entries
from gpuviz.course import SCENES
from gpuviz.files import bounded, checksums
from gpuviz.files import writing as files
from gpuviz.files.checksums import source_hash
from gpuviz.story.lesson import Lesson, Plan
from gpuviz.words.language import english
from gpuviz.words.terminal import err, out

Defines = tuple[tuple[str, str], ...]


def wanted() -> tuple[tuple[str, Defines], ...]:
    """Kernel file and macros of every launch of the lessons' defaults and presets, once each."""
    plans = (plan for lesson in SCENES for plan in _plans(lesson))
    return tuple(sorted({(plan.kernel, tuple(sorted(plan.defines))) for plan in plans}))


def _plans(lesson: Lesson) -> Iterator[Plan]:
    defaults = lesson.defaults()
    yield from lesson.launches(defaults)
    for preset in lesson.presets:
        yield from lesson.launches(defaults | dict(preset.values))


def stale(folder: Path) -> list[str]:
    """What is missing, outdated or left over in a folder of prebuilt PTX, in words."""
    found = {entry.key: entry for entry in entries(folder)}
    problems = [
        f"{kernel} {dict(defines)} is no longer launched"
        for kernel, defines in found.keys() - set(wanted())
    ]
    for kernel, defines in wanted():
        entry = found.get((kernel, defines))
        if entry is None or not (folder / entry.file).is_file():
            problems.append(f"{kernel} {dict(defines)} is missing")
        elif entry.source_hash != source_hash(_source(kernel)):
            problems.append(f"{kernel} {dict(defines)} was compiled from another source")
        else:
            problems += _damage(folder / entry.file)
    return sorted(problems)


def _damage(file: Path) -> list[str]:
    try:
        checksums.check(file)
    except FormatError as error:
        return [str(error)]
    return []


def _source(kernel: str) -> str:
    return bounded.text(resources.path(f"kernels/{kernel}"))


def build(folder: Path) -> int:
    """Compile everything into a folder, and remove what it held before; the number of files."""
    folder.mkdir(parents=True, exist_ok=True)
    made = [_built(kernel, defines) for kernel, defines in wanted()]
    for old in folder.glob("*.ptx"):
        old.unlink()
    for entry, ptx in made:
        files.write(folder / entry.file, ptx)
    rows = records.plain([entry for entry, _ in made])
    files.write(folder / INDEX, json.dumps(rows, indent=1, sort_keys=True) + "\n")
    checksums.seal(folder)
    return len(made)


def _built(kernel: str, defines: Defines) -> tuple[Entry, str]:
    path = resources.path(f"kernels/{kernel}")
    target = with_features(ARCH, _source(kernel))
    program = load_program(path, arch=target, defines=dict(defines))
    digest = hashlib.sha256(json.dumps(defines).encode()).hexdigest()[:8]
    entry = Entry(
        kernel,
        dict(defines),
        ARCH,
        source_hash(program.source),
        program.compiler,
        f"{Path(kernel).stem}-{digest}.ptx",
        program.resources,
    )
    return entry, program.ptx


def main(arguments: list[str]) -> int:
    """Build, or with `--check` compare; exit status 1 when stale, 2 when it cannot be done."""
    folder = resources.path(FOLDER)
    try:
        if "--check" not in arguments:
            out(english("{n} file", "{n} files", build(folder)) + f" in {folder}")
            return 0
        problems = stale(folder)
    except Error as error:
        err(str(error))
        return 2
    out("\n".join(problems) or "The prebuilt PTX is up to date.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
