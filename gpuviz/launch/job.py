"""A launch as asked for: compiled code, geometry, arguments; checked against a device's limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gpuviz.arch import Architecture
from gpuviz.arguments import Spec, buffers_of
from gpuviz.base.errors import LaunchError
from gpuviz.compile import Program, Resources
from gpuviz.compile.archs import capability
from gpuviz.ptx.simt.program import static_shared
from gpuviz.ptx.text.parser import parse
from gpuviz.traces.geometry import Geometry, Triple
from gpuviz.words.language import grouped, tr

Whose = Literal["course", "named", "stranger"]


@dataclass(frozen=True, eq=False)
class Job(Geometry):
    """One launch to run: `entry` is the (mangled) name of a kernel of `program`.

    `whose` it is decides whether it may run on a GPU unasked; `file` is what brought it, "" where
    that is the file of the kernel itself. `size` is how big it is as its lesson says it.
    `names` are those of the arguments where the program's source does not tell them. `loose` are
    the numbers of arguments whose buffers nobody said the length of, and `loose_shared` is whether
    nobody said the bytes of dynamic shared memory: see `run.roomy`. `guesses` is what nobody said
    of the launch, by its names, as it was proposed; `x[]` is what a buffer of a known length holds.
    """

    program: Program
    entry: str
    grid: Triple
    block: Triple
    arguments: tuple[Spec, ...]
    dynamic_shared: int = 0
    whose: Whose = "stranger"
    file: str = ""
    size: str = ""
    names: tuple[str, ...] = ()
    loose: frozenset[int] = frozenset()
    loose_shared: bool = False
    guesses: Mapping[str, str] = field(default_factory=dict)

    @property
    def resources(self) -> Resources | None:
        """What the kernel takes, None when it came as bare PTX."""
        return self.program.resources.get(self.entry)


def triple(numbers: tuple[int, ...], what: str) -> Triple:
    """One to three sizes as (x, y, z).

    Raises
    ------
    LaunchError : too many numbers, or one below 1
    """
    if not 1 <= len(numbers) <= 3 or min(numbers) < 1:
        shown = ",".join(map(str, numbers))
        raise LaunchError(
            tr(
                "{what} {shown}: give one to three numbers from 1 up",
                what=what,
                shown=shown or tr("(empty)"),
            )
        )
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


def check_limits(job: Job, arch: Architecture) -> None:
    """Refuse a launch that no device of this architecture would accept.

    Raises
    ------
    LaunchError : names the limit, the value and the limit's value
    """
    for name, size, limit in (
        (tr("grid"), job.grid, arch.max_grid),
        (tr("block"), job.block, arch.max_block),
    ):
        for axis, n, most in zip("xyz", size, limit, strict=True):
            if n > most:
                raise LaunchError(
                    tr(
                        "{what} is {n}: {arch} allows at most {most}",
                        what=f"{name} {axis}",
                        n=grouped(n),
                        arch=arch,
                        most=grouped(most),
                    )
                )
    threads = job.threads_per_block
    if threads > arch.max_threads_per_block:
        shape = " x ".join(map(str, job.block))
        raise LaunchError(
            tr(
                "a block of {shape} has {n} threads: {arch} allows at most {most}",
                shape=shape,
                n=grouped(threads),
                arch=arch,
                most=grouped(arch.max_threads_per_block),
            )
        )
    _check_shared(job, arch)
    _check_registers(job, arch, threads)
    for number, argument in enumerate(job.arguments, 1):
        if any(one.count < 1 for one in buffers_of(argument)):
            raise LaunchError(
                tr("argument {n} ({argument}) has no elements", n=number, argument=argument)
            )


def _check_shared(job: Job, arch: Architecture) -> None:
    if job.dynamic_shared < 0:
        raise LaunchError(
            tr("dynamic shared memory of {n} bytes: give 0 or more", n=job.dynamic_shared)
        )
    static = _static_shared(job)
    wanted, most = static + job.dynamic_shared, arch.shared_per_block_optin
    if wanted > most:
        raise LaunchError(
            tr(
                "the block wants {n} bytes of shared memory ({static} static, "
                "{dynamic} dynamic): {arch} allows at most {most}",
                n=grouped(wanted),
                static=grouped(static),
                dynamic=grouped(job.dynamic_shared),
                arch=arch,
                most=grouped(most),
            )
        )


def _static_shared(job: Job) -> int:
    """Bytes of the kernel's own shared variables."""
    if job.resources is not None:
        return job.resources.static_shared_bytes
    module = parse(job.program.ptx)
    kernel = module.by_name.get(job.entry)
    return static_shared(module, kernel) if kernel is not None else 0


def _check_registers(job: Job, arch: Architecture, threads: int) -> None:
    if job.resources is None or capability(job.program.arch) != capability(arch.sm):
        return  # of another architecture's compiler, which takes other registers
    wanted = job.resources.registers * threads
    if wanted > arch.registers_per_block:
        raise LaunchError(
            tr(
                "{n} threads of {each} registers each need {wanted}: {arch} gives a "
                "block at most {most}",
                n=grouped(threads),
                each=job.resources.registers,
                wanted=grouped(wanted),
                arch=arch,
                most=grouped(arch.registers_per_block),
            )
        )
