"""A launch as a program writes it, and what that makes: a job, and where its results belong."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from gpuviz.base.arrays import Array
from gpuviz.base.errors import InputError
from gpuviz.compile import Program, entry_name, in_clusters
from gpuviz.integrations.arguments import Arguments, HostArray, collected
from gpuviz.launch.job import Job
from gpuviz.ptx.text.parser import parse
from gpuviz.source.kernel_names import source_parameters
from gpuviz.traces.geometry import Triple

Grid = Triple | Callable[[Mapping[str, Any]], Sequence[int]] | None


@dataclass(frozen=True)
class BuildOptions:
    """How a text becomes a program, which kernel of it is meant, and its dynamic shared memory;
    `cluster` are the blocks of one, where the launch says that and not the code.
    """

    name: str = ""
    shared: int = 0
    defines: Mapping[str, object] = field(default_factory=dict)
    include: tuple[Path, ...] = ()
    options: tuple[str, ...] = ()
    cluster: Triple | None = None

    @property
    def wishes(self) -> dict[str, Any]:
        """What the compiler of a text is told, by the names of its parameters."""
        return {
            "defines": {key: str(value) for key, value in self.defines.items()},
            "include": self.include,
            "instances": (self.name,) if "<" in self.name else (),
            "options": self.options,
        }


@dataclass(frozen=True, eq=False)
class Call:
    """A launch as it is written. A grid may follow from constants (Triton); `arch` is what to
    compile for, "" where that is up to the kernel.
    """

    kernel: Any
    grid: Grid = None
    block: Triple | None = None
    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    building: BuildOptions = BuildOptions()
    arch: str = ""

    @property
    def sizes(self) -> tuple[Triple, Triple]:
        """Grid and block; InputError where one is missing, or no number yet."""
        if callable(self.grid):
            raise InputError("a grid that follows from constants is for Triton: give numbers")
        if self.grid is None or self.block is None:
            what = " and ".join(n for n in ("grid", "block") if getattr(self, n) is None)
            raise InputError(f"a launch needs a {what}: one to three numbers each, as in 64, 256")
        return self.grid, self.block

    @property
    def by_position(self) -> Sequence[Any]:
        """The arguments; InputError where some are given by name."""
        if self.kwargs:
            raise InputError(
                f"arguments by name ({', '.join(self.kwargs)}) are for Triton: use args"
            )
        return self.args


@dataclass(frozen=True, eq=False)
class LaunchRequest:
    """`arrays` are those given, by the names of their buffers; `notes` what to know of them."""

    job: Job
    arrays: Mapping[str, HostArray] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def restore(self, outputs: Mapping[str, Array]) -> None:
        """Write what the launch left behind to the arrays it was given, as far as they lie here."""
        for name, array in self.arrays.items():
            if array.restore is not None and name in outputs:
                array.restore(outputs[name])


def launch_of(
    program: Program,
    entry: str,
    sizes: tuple[Triple, Triple],
    made: Arguments,
    shared: int = 0,
    notes: Iterable[str] = (),
) -> LaunchRequest:
    """A kernel of a program with grid, block, arguments and dynamic shared memory."""
    names = tuple(made.names)
    job = Job(program, entry, *sizes, tuple(made.specs), shared, "named", names=names)
    return LaunchRequest(job, made.arrays, (*made.notes, *notes))


def of_program(program: Program, call: Call) -> LaunchRequest:
    """A kernel of CUDA C or PTX with the arguments of a call, a buffer or value each.

    Raises
    ------
    InputError : a size or the name is missing, or an argument does not fit
    """
    sizes, entry = call.sizes, entry_name(program.kernels, call.building.name)
    if call.building.cluster is not None:
        program = in_clusters(program, entry, call.building.cluster)
    parameters = parse(program.ptx).by_name[entry].params
    names = source_parameters(program.source, entry, len(parameters))
    made = collected(call.by_position, names, parameters)
    return launch_of(program, entry, sizes, made, call.building.shared)


Result = TypeVar("Result")


class Watcher(Protocol):
    """Is told of launches. A library's `watching(watcher)` is a context manager: it replaces what
    makes launches there, and puts it back.
    """

    def wants(self, kernel: str, gpu: bool) -> bool:
        """Whether `launched` is to be told of a launch of this kernel; asked before anything is
        made of it. Without a GPU it always is: nobody else runs it.
        """

    def launched(
        self, kernel: str, asked: Callable[[], LaunchRequest], launch: Callable[[], Result] | None
    ) -> Result | None:
        """A launch: `asked` copies its arguments, `launch` makes it on the GPU; without a GPU there
        is no `launch`, and the emulator leaves the results where the kernel would.
        """


def replaced(owner: Any, name: str, value: Any) -> Callable[[], None]:
    """Set an attribute of a class or module; what puts it back as it was."""
    before = vars(owner)[name]
    setattr(owner, name, value)
    return lambda: setattr(owner, name, before)
