"""Arguments that follow a launch: its size, and the signature of its kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from gpuviz.arch import architecture
from gpuviz.arguments import parse
from gpuviz.compile import Program, entry_name
from gpuviz.errors import InputError
from gpuviz.kernels.proposals import guess
from gpuviz.kernels.signature import Taken, short_name
from gpuviz.runners.job import Job, check_limits
from gpuviz.scenes.kernel_launch import KernelLaunch


def threads_of(launch: KernelLaunch) -> int:
    """How many threads it has."""
    return math.prod(launch.grid) * math.prod(launch.block)


def resized(launch: KernelLaunch, before: KernelLaunch, taken: Sequence[Taken]) -> KernelLaunch:
    """The launch with arguments that are still those guessed for the one before guessed anew."""
    old, new = threads_of(before), threads_of(launch)
    specs = tuple(
        guess(one, new) if spec == guess(one, old) else spec
        for spec, one in zip(launch.arguments, taken, strict=False)
    )
    return replace(launch, arguments=(*specs, *launch.arguments[len(specs) :]))


def fitted(
    launch: KernelLaunch, entry: str, before: Sequence[Taken], taken: Sequence[Taken]
) -> KernelLaunch:
    """The launch of a kernel (`entry`) that takes these now, in place of those before.

    What was chosen goes to the parameter of the same name, or else of the same place, where that
    is of the same kind; what was a guess is guessed again.
    """
    threads = threads_of(launch)
    known = {one.name: (one, spec) for one, spec in zip(before, launch.arguments, strict=False)}
    placed = list(known.values())
    kept = {one.name for one in taken} & known.keys()

    def chosen(number: int, now: Taken) -> str:
        found = known.get(now.name)
        if found is None and number < len(placed) and placed[number][0].name not in kept:
            found = placed[number]
        if found is None or (found[0].kind, found[0].buffer) != (now.kind, now.buffer):
            return guess(now, threads)
        return guess(now, threads) if found[1] == guess(found[0], threads) else found[1]

    arguments = tuple(chosen(number, one) for number, one in enumerate(taken))
    return replace(launch, entry=entry, name=short_name(entry), arguments=arguments)


def entry_of(launch: KernelLaunch, program: Program) -> str:
    """The kernel that a launch means in a program whose source has been edited since: of the same
    mangled name, or of the same plain one.

    Raises
    ------
    InputError : there is none, or several of that name
    """
    try:
        return entry_name(program.kernels, launch.entry)
    except InputError:
        return entry_name(program.kernels, launch.name)


def check_launch(launch: KernelLaunch, program: Program) -> None:
    """InputError when no device of the program's architecture would accept the launch."""
    given = tuple(map(parse, launch.arguments))
    job = Job(program, launch.entry, launch.grid, launch.block, given, launch.dynamic_shared)
    check_limits(job, architecture(program.arch))
