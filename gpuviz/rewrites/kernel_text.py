"""A kernel in its source, to be edited by its syntax tree."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from gpuviz.source import parts
from gpuviz.source.kernel_names import plain_name
from gpuviz.traces.geometry import Triple
from gpuviz.words.language import later, tr

if TYPE_CHECKING:
    from tree_sitter import Node

Edit = tuple[int, int, str]  # from one byte to another, and what stands there then
DOES = {
    "pad": later("pad the rows of {array} by one element"),
    "swizzle": later("swizzle the columns of {array} by row"),
    "stage stores": later("stage through shared memory what is stored, to lie lane by lane"),
    "stage loads": later("stage through shared memory what is loaded, to lie lane by lane"),
    "swap": later("exchange x and y, so that neighbouring lanes go along the other index"),
    "interleave": later("interleave the elements of threads, {stride} apart"),
    "privatise": later("add to {array} in shared memory first, once a block"),
    "warp sum": later("add up in the warp before {array} is added to"),
    "restrict": later("promise that no two pointers lead to the same place (__restrict__)"),
    "launch bounds": later("say __launch_bounds__({n})"),
    "unroll": later("unroll the loop by 4"),
    "block shape": later("blocks of {x} x {y}"),
}
INDICES = ("threadIdx", "blockIdx", "blockDim", "gridDim")


@dataclass(frozen=True)
class Rewrite:
    """A candidate: the text, and the sizes of the launch where they change with it.

    `rule`, of DOES, made it, of what `names` says; `line` is where. `rounds` says that sums are
    made in another order, so that floating-point results may differ in their last bits.
    """

    rule: str
    names: Mapping[str, object]
    line: int
    text: str
    grid: Triple | None = None
    block: Triple | None = None
    rounds: bool = False

    @property
    def does(self) -> str:
        """What is done, in words."""
        return tr(DOES[self.rule], **self.names)


@dataclass(frozen=True)
class SharedArray:
    """An array of a block: its name, its declaration, and the nodes of its sizes."""

    name: str
    node: Node
    sizes: tuple[Node, ...]


@dataclass(frozen=True)
class KernelText:
    """The definition of a kernel, `node`, in a text; `body` is its block."""

    source: bytes
    node: Node
    body: Node

    def text(self, node: Node, edits: Iterable[Edit] = ()) -> str:
        """What is written there, edited."""
        return self._edited(node.start_byte, node.end_byte, edits)

    def edited(self, edits: Iterable[Edit]) -> str:
        """The whole text, edited."""
        return self._edited(0, len(self.source), edits)

    def _edited(self, start: int, end: int, edits: Iterable[Edit]) -> str:
        text, upto = "", start
        for begin, until, new in sorted(edits):
            if upto <= begin and until <= end:  # what lies within another edit has gone with it
                text += self.source[upto:begin].decode() + new
                upto = until
        return text + self.source[upto:end].decode()

    def nodes(self, *kinds: str, within: Node | None = None) -> Iterator[Node]:
        """The nodes of some kinds, in order."""
        root = self.body if within is None else within
        if root.type in kinds:
            yield root
        yield from parts.descend(root, frozenset(kinds))

    def fresh(self, name: str) -> str:
        """A name that the text does not have: this one, or longer."""
        while name in self.source.decode():
            name += "_"
        return name

    @cached_property
    def parameters(self) -> frozenset[str]:
        """The names of the parameters: what is the same for all threads, unless it is assigned."""
        every = self.nodes("parameter_declaration", within=self.node)
        names = (list(self.nodes("identifier", within=one)) for one in every)
        return frozenset(self.text(found[-1]) for found in names if found)

    @cached_property
    def pointers(self) -> Mapping[str, str]:
        """The types of what pointers among the parameters point to, by name."""
        found = {}
        for one in self.nodes("parameter_declaration", within=self.node):
            kind, made = one.child_by_field_name("type"), one.child_by_field_name("declarator")
            if kind is not None and made is not None and made.type == "pointer_declarator":
                name = next(self.nodes("identifier", within=made), None)
                if name is not None and made.text is not None and made.text.count(b"*") == 1:
                    found[self.text(name)] = self.text(kind)
        return found

    @cached_property
    def shared(self) -> tuple[SharedArray, ...]:
        """Arrays in shared memory whose sizes are written."""
        found = []
        for one in self.nodes("declaration"):
            if self.text(one).startswith("__shared__"):
                found += [self._array(made) for made in one.children_by_field_name("declarator")]
        return tuple(array for array in found if array.name)

    def _array(self, node: Node) -> SharedArray:
        sizes: list[Node] = []
        inner: Node | None = node
        while inner is not None and inner.type == "array_declarator":
            size = inner.child_by_field_name("size")
            sizes += [size] if size is not None else []
            inner = inner.child_by_field_name("declarator")
        named = inner is not None and inner.type == "identifier"
        name = self.text(inner) if inner is not None and named else ""
        return SharedArray(name, node, tuple(reversed(sizes)))

    def index_edits(
        self,
        within: Node,
        names: Mapping[str, str] | None = None,
        owners: Collection[str] = ("threadIdx",),
    ) -> list[Edit]:
        """x for y and y for x, in the indices of a thread or in these, and names for others."""
        found = []
        for one in self.nodes("field_expression", within=within):
            owner, _, axis = self.text(one).partition(".")
            if owner in owners and axis in ("x", "y"):
                found.append((one.start_byte, one.end_byte, f"{owner}.{'yx'[axis == 'y']}"))
        for one in self.nodes("identifier", within=within):
            if (name := self.text(one)) in (names or {}):
                found.append((one.start_byte, one.end_byte, (names or {})[name]))
        return found


def kernel_text(source: str, entry: str) -> KernelText | None:
    """The kernel of a (mangled) name; None where the text does not hold it as a whole."""
    read, name = parts.read(source), plain_name(entry).rpartition("::")[2]
    waiting = [read.tree.root_node]
    while waiting:
        node = waiting.pop()
        body = node.child_by_field_name("body") if node.type == "function_definition" else None
        if body is not None and not node.has_error:
            head = read.source[node.start_byte : body.start_byte].decode()
            declarator = node.child_by_field_name("declarator")
            called = declarator.child_by_field_name("declarator") if declarator else None
            if "__global__" in head and called is not None and called.text == name.encode():
                return KernelText(read.source, node, body)
        waiting += node.children
    return None


def line_of(node: Node) -> int:
    """The line where it begins, from 1."""
    return node.start_point[0] + 1
