"""Arguments as they go to the GPU's process: buffers, and bytes with places for their addresses.

    arguments = sent(job.arguments)
    arguments.buffers       what each begins with: a Recipe, or an array that travels
    arguments.parameters    the bytes of each parameter, and which addresses lie in them

Of what can be made by its SPEC (with its seed) only that is sent. Structures, pointers into
buffers, variables of the module and textures are all this: bytes, with addresses in them. The
buffers are in the order in which the emulator has them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gpuviz.arguments import ByValue, Pointer, Recipe, Spec, described, variables
from gpuviz.base.arrays import Array
from gpuviz.base.errors import LaunchError

Use = Literal["texture", "linear", "surface"]
Uses = Callable[[int, int], Use]  # of the handle at a byte of a parameter


@dataclass(frozen=True)
class Address:
    """At byte `at` lies the address of byte `offset` of a buffer (by its number); where `image` is
    the SPEC of one, the handle of a texture or surface with the buffer's content.

    A texture of "linear" memory is read by whole numbers.
    """

    at: int
    buffer: int
    offset: int = 0
    image: str = ""
    use: Use = "texture"


@dataclass(frozen=True)
class Parameter:
    """What is passed by value: `data` are its bytes in hexadecimal digits.

    Where `tensor_map` is the SPEC of one, its bytes are the driver's, of a tensor at the address.
    """

    data: str
    addresses: tuple[Address, ...] = ()
    tensor_map: str = ""

    @property
    def bytes(self) -> bytes:
        """Without the addresses."""
        return bytes.fromhex(self.data)


@dataclass(frozen=True, eq=False)
class WireArguments:
    """The arguments of a launch, and what `variables` of the module hold, by name."""

    buffers: tuple[Recipe | Array, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    variables: tuple[tuple[str, Parameter], ...] = ()

    @property
    def size(self) -> int:
        """Bytes of all buffers."""
        return sum(self.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Bytes of each buffer."""
        return tuple(b.spec.size if isinstance(b, Recipe) else b.nbytes for b in self.buffers)


def wire_arguments(
    specs: Sequence[Spec], uses: Uses = lambda number, at: "texture"
) -> WireArguments:
    """The arguments of a launch; `uses` says what a handle is to the kernel.

    Raises
    ------
    LaunchError : a pointer is into what is no buffer
    """
    arguments, table = described(specs), _Buffers()
    for number, argument in enumerate(arguments):
        if not isinstance(argument, ByValue) and (isinstance(argument, Recipe) or argument.ndim):
            table.arguments[number] = table.number(argument)
    parameters = tuple(
        table.parameter(number, argument, uses) for number, argument in enumerate(arguments)
    )
    held = tuple(
        (name, table.parameter(-1, value, uses)) for name, value in variables(specs).items()
    )
    return WireArguments(tuple(table.found), parameters, held)


class _Buffers:
    """All buffers of a launch; an array that is given twice is one."""

    def __init__(self) -> None:
        self.found: list[Recipe | Array] = []
        self.arguments: dict[int, int] = {}  # those that are arguments of their own
        self._numbers: dict[int, int] = {}

    def number(self, buffer: Recipe | Array) -> int:
        if id(buffer) not in self._numbers:
            file = isinstance(buffer, Recipe) and buffer.spec.fill.startswith("@")
            self.found.append(buffer.values if file else buffer)  # type: ignore[union-attr]
            self._numbers[id(buffer)] = len(self.found) - 1
        return self._numbers[id(buffer)]

    def parameter(self, number: int, argument: Recipe | Array | ByValue, uses: Uses) -> Parameter:
        if isinstance(argument, ByValue):
            addresses = (self._address(number, one, uses) for one in argument.pointers)
            tensor = str(argument.tensor_map or "")
            return Parameter(argument.data.hex(), tuple(addresses), tensor)
        if number in self.arguments:
            return Parameter(bytes(8).hex(), (Address(0, self.arguments[number]),))
        return Parameter(np.asarray(argument).tobytes().hex())

    def _address(self, number: int, pointer: Pointer, uses: Uses) -> Address:
        if not isinstance(pointer.to, int):
            buffer = self.number(pointer.to)
        elif pointer.to in self.arguments:
            buffer = self.arguments[pointer.to]
        else:
            raise LaunchError(
                f"{pointer.name or f'argument {number + 1}'} points into argument "
                f"{pointer.to + 1}, which is no buffer of its own"
            )
        if pointer.image is None:
            return Address(pointer.at, buffer, pointer.offset)
        return Address(pointer.at, buffer, 0, str(pointer.image), uses(number, pointer.at))
