"""A launch that was profiled elsewhere, built again from its source: what the report says of it,
and what the host code, or a proposal, says of its arguments.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gpuviz.arch import architecture
from gpuviz.base.errors import InputError
from gpuviz.compile import HostLaunch, compile_arch, entry_name, launches_in, load_program
from gpuviz.files import bounded
from gpuviz.launch.host_launch import guessed_by, proposed_by
from gpuviz.launch.job import Job
from gpuviz.launch.settings import Settings
from gpuviz.launch.texts import Kernel, LaunchTexts
from gpuviz.launch.unresolved import entry_of
from gpuviz.recordings.ncu import ProfiledLaunch

SOURCES = (".cu", ".cuh", ".cpp", ".h")
_MOST = 100  # files of a folder that are looked into


def job_of(path: Path, settings: Settings, profiled: Sequence[ProfiledLaunch], number: int) -> Job:
    """The launch of this number, of a source compiled by these settings: arguments as the host code
    gives them; what that does not say is proposed.

    Raises
    ------
    InputError : the file has no such kernel, or an argument cannot be proposed
    CompileError, FormatError : as `load_program`
    """
    one, arch = profiled[number], architecture(profiled[number].capability)
    found = _written(path, settings, profiled[: number + 1])
    program = load_program(
        path,
        arch=compile_arch(arch.sm),
        defines=settings.macros,
        include=settings.include,
        options=settings.options,
    )
    every = program.kernels
    entry = entry_of(every, found) if found else entry_name(every, one.kernel)
    kernel = Kernel.of(program, entry)
    stated, guesses = LaunchTexts(), kernel.shape
    if found:
        stated, guesses = proposed_by(found, kernel), guessed_by(found, kernel).over(guesses)
    grid, block = (",".join(map(str, sizes)) for sizes in (one.grid, one.block))
    texts = LaunchTexts(grid, block).over(stated)
    made = kernel.launch(texts.over(guesses))
    proposed = {k: v for k, v in guesses.arguments.items() if k not in texts.arguments}
    job = Job(program, entry, made.grid, made.block, made.arguments, made.shared, "named")
    loose, roomy = kernel.unsaid(LaunchTexts(), texts), kernel.dynamic and not texts.shared
    return replace(job, loose=loose, loose_shared=roomy, guesses=proposed | dict(made.proposed))


def _written(
    path: Path, settings: Settings, profiled: Sequence[ProfiledLaunch]
) -> HostLaunch | None:
    """What the host code writes for the last one: of the launches of its kernel that may be of
    these sizes, the one as far down as there are such launches before it.
    """
    *before, one = profiled
    there = launches_in(path, one.kernel, settings.include)
    fitting = [h for h in there if h.grid in (None, one.grid) and h.block in (None, one.block)]
    earlier = sum((p.kernel, p.grid, p.block) == (one.kernel, one.grid, one.block) for p in before)
    fitting = fitting or list(there)
    return fitting[min(earlier, len(fitting) - 1)] if fitting else None


def beside(report: Path, profiled: Sequence[ProfiledLaunch]) -> Path:
    """The source of the first launch, where it lies in the folder of the report.

    Raises
    ------
    InputError : there is none
    """
    word = f"{profiled[0].kernel}(" if profiled else ""
    files = sorted(one for one in report.parent.iterdir() if one.suffix in SOURCES)
    for file in files[:_MOST]:
        if word and word in bounded.text(file).replace(" (", "("):
            return file
    raise InputError(
        f"{report.name}: the source of {profiled[0].kernel if profiled else 'its kernels'} is not "
        f"beside it: put it there, or name it: gpuviz report {report.name} --source FILE.cu"
    )
