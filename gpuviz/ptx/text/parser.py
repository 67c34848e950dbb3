"""PTX text to a `Module`: the module's level (declarations); bodies are read in `body.py`."""

from functools import lru_cache

from gpuviz.base.errors import FormatError
from gpuviz.ptx.text.body import BodyReader
from gpuviz.ptx.text.declarations import SPACES, read_variable_list, read_variables
from gpuviz.ptx.text.ir import Function, Module, Variable
from gpuviz.ptx.text.stream import Stream, number_value, tokens

_LINKAGE = {".visible", ".extern", ".weak", ".common"}


@lru_cache(maxsize=64)
def parse(text: str) -> Module:
    """Parse a whole PTX text.

    Raises
    ------
    FormatError : the text is not PTX; the message names the line
    """
    stream = Stream(tokens(text))
    try:
        return _ModuleReader(stream, text).read()
    except (ValueError, IndexError) as error:  # a literal or a type that is none
        raise FormatError(f"PTX line {stream.line}: not understood ({error})") from error


class _ModuleReader:
    """Reads declarations until the text ends; keeps what a body needs to know."""

    def __init__(self, stream: Stream, text: str) -> None:
        self.stream = stream
        self.text = text
        self.version = self.target = ""
        self.functions: list[Function] = []
        self.variables: list[Variable] = []
        self.pc = 0

    def read(self) -> Module:
        while not self.stream.done:
            self._declaration()
        if not self.version:
            raise FormatError("this is not PTX: no .version directive found")
        return Module(
            self.version, self.target, tuple(self.functions), tuple(self.variables), self.text
        )

    def _declaration(self) -> None:
        s, word = self.stream, self.stream.peek()
        if word == ".version":
            s.next()
            self.version = s.next()
        elif word == ".target":
            s.next()
            self.target, *_ = s.several(s.next)
        elif word == ".address_size":
            s.next()
            s.next()
        elif word == ".section":
            s.skip_to("{")
            s.skip_block()
        elif word in (".file", ".loc", ".pragma", ".alias", ".metadata_section"):
            _skip_directive(s)
        elif word == ";":
            s.next()
        else:
            self._linked()

    def _linked(self) -> None:
        s = self.stream
        linkage = set()
        while s.peek() in _LINKAGE:
            linkage.add(s.next())
        word = s.peek()
        if word in (".entry", ".func"):
            self._function(s.next() == ".entry")
        elif word in SPACES:
            self.variables += read_variables(s, ".extern" in linkage)
        else:
            raise FormatError(f"PTX line {s.line}: expected a declaration, found {word!r}")

    def _function(self, entry: bool) -> None:
        s = self.stream
        s.accept(".noreturn")
        returns = self._params() if s.peek() == "(" else ()
        name = s.next()
        params = self._params() if s.peek() == "(" else ()
        max_threads, cluster = self._tuning()
        if s.accept(";"):
            self.functions.append(Function(name, entry, params, returns))
            return
        reader = BodyReader(s, self.pc)
        reader.read()
        self.pc += len(reader.instructions)
        self.functions.append(
            Function(
                name,
                entry,
                params,
                returns,
                tuple(reader.scopes.types),
                tuple(reader.instructions),
                reader.labels,
                reader.tables,
                tuple(reader.variables),
                max_threads,
                cluster,
            )
        )

    def _tuning(self) -> tuple[int, tuple[int, int, int]]:
        """Performance directives between the header and the body: the block size limit or 0, and
        the blocks of a cluster.
        """
        limit, cluster = 0, (1, 1, 1)
        while self.stream.peek() not in ("{", ";"):
            word = self.stream.next()
            if word in (".maxntid", ".reqntid"):
                x, y, z = self._sizes()
                limit = x * y * z
            elif word == ".reqnctapercluster":
                cluster = self._sizes()
        return limit, cluster

    def _sizes(self) -> tuple[int, int, int]:
        """One to three numbers."""
        found = self.stream.several(self.stream.next)
        x, y, z = (*map(number_value, found), 1, 1)[:3]
        return x, y, z

    def _params(self) -> tuple[Variable, ...]:
        s = self.stream
        s.expect("(")
        found: list[Variable] = []
        while not s.accept(")"):
            found += read_variable_list(s, "param", single=True)
            s.accept(",")
        return tuple(found)


def _skip_directive(s: Stream) -> None:
    """A directive whose end is the end of its line (or a semicolon)."""
    line = s.line
    while not s.done and s.line == line and not s.accept(";"):
        s.next()
