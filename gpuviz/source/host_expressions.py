"""Expressions of host code, done: see `gpuviz.source.host_run`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gpuviz.source.constants import BINARY, CASTS, FUNCTIONS, SCALARS, Scope, called, given_in
from gpuviz.source.host_images import ENUMERATED, array_of, channels_of, image_of
from gpuviz.source.host_statements import LOOP
from gpuviz.source.host_values import (
    DEVICE,
    Address,
    DeviceBuffer,
    DevicePointer,
    Formula,
    Held,
    HostArray,
    Record,
    Reference,
    applied,
    array_at,
    combined,
    copied,
    dimensions,
)
from gpuviz.source.lambdas import captured
from gpuviz.source.parts import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from gpuviz.source.host_run import HostScope

CONTAINERS = ("vector", "array", "host_vector", "device_vector")
_PITCH = 512  # bytes that cudaMallocPitch aligns rows to
_ALLOCATES = ["cudaMalloc", "cudaMallocAsync"]
_ALLOCATES_HERE = ["cudaMallocManaged", "cudaMallocHost", "cudaHostAlloc", "cudaHostMalloc"]
_SILENT = ("printf", "fprintf", "assert", "exit", "free", "cudaFree", "delete", "srand")
_FLOATS = ("float", "double")
_WRITTEN = {"ceil": "ceil", "ceilf": "ceil", "floor": "floor", "min": "min", "max": "max"}
_ROUNDED_UP = re.compile(r"(?i)(?:i?div_?(?:ceil|up)|ceil_?div|c_?div)$")


def _identifier(scope: HostScope, node: Node, depth: int) -> Held:
    name = text_of(node).rpartition("::")[2]
    holder = scope.holder(name)
    if holder is None and name in scope.run.kernels:
        return node
    if holder is None:
        if name == "cudaSuccess" or name in ENUMERATED:
            return ENUMERATED.get(name, 0)
        return Scope.value(scope, node, min(depth, 20))
    found = holder[name]
    return found.held if isinstance(found, Reference) else found


def _binary(scope: HostScope, node: Node, depth: int) -> Held:
    sign = text_of(node.child_by_field_name("operator"))
    left = scope.value(node.child_by_field_name("left"), depth)
    if sign in ("&&", "||") and isinstance(left, int | float) and bool(left) == (sign == "||"):
        return int(bool(left))
    right = scope.value(node.child_by_field_name("right"), depth)
    if isinstance(left, DevicePointer) and isinstance(right, int) and sign == "+":
        return replace(left, offset=left.offset + right)
    if not isinstance(left, int | float) or not isinstance(right, int | float):
        return combined(sign, left, right)
    found = BINARY[sign](left, right)
    return int(found) if isinstance(found, bool) else found


def _assignment(scope: HostScope, node: Node, depth: int) -> Held:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    value = scope.value(right, depth)
    sign = text_of(node.child_by_field_name("operator")).removesuffix("=")
    if sign:
        before = scope.value(left, depth)
        if isinstance(before, DevicePointer) and isinstance(value, int) and sign == "+":
            value = replace(before, offset=before.offset + value)
        elif isinstance(before, int | float) and isinstance(value, int | float):
            made = BINARY[sign](before, value)
            value = int(made) if isinstance(before, int) else made
        else:
            value = combined(sign, before, value)
    elif value is None:
        value = scope.unknown(left)
    scope.assign(left, value)
    return value


def _update(scope: HostScope, node: Node, depth: int) -> Held:
    inner = node.child_by_field_name("argument")
    before = scope.value(inner, depth)
    step = 1 if text_of(node.child_by_field_name("operator")) == "++" else -1
    after = before + step if isinstance(before, int | float) else combined("+", before, step)
    scope.assign(inner, after)
    return after if node.children[0] != inner else before


def _pointer(scope: HostScope, node: Node, depth: int) -> Held:
    """`&x`, `*p`; `&d[3]` is a pointer into what `d` points to."""
    inner = node.child_by_field_name("argument")
    if text_of(node.children[0]) == "*":
        held = scope.value(inner, depth)
        return held.held if isinstance(held, Address) else held
    if inner is not None and inner.type == "subscript_expression":
        whole = scope.value(inner.child_by_field_name("argument"), depth)
        if isinstance(whole, DevicePointer):
            index = _index(scope, inner, depth)
            return replace(whole, offset=whole.offset + index) if index is not None else whole
    return scope.place(inner, depth)


def _index(scope: HostScope, node: Node, depth: int) -> int | None:
    listed = given_in(node.child_by_field_name("indices"))
    found = scope.value(listed[0], depth) if len(listed) == 1 else None
    return found if isinstance(found, int) else None


def _subscript(scope: HostScope, node: Node, depth: int) -> Held:
    place = scope.place(node, depth)
    return place.held if place is not None else None


def _field(scope: HostScope, node: Node, depth: int) -> Held:
    whole = _whole(scope, node, depth)
    return whole.get(text_of(node.child_by_field_name("field"))) if whole is not None else None


def _whole(scope: HostScope, node: Node, depth: int) -> Record | None:
    """The structure that a field is one of."""
    held = scope.value(node.child_by_field_name("argument"), depth)
    held = held.held if isinstance(held, Address) else held
    held = copied(held) if isinstance(held, tuple) else held
    return held if isinstance(held, Record) else None


def _conditional(scope: HostScope, node: Node, depth: int) -> Held:
    told = scope.value(node.child_by_field_name("condition"), depth)
    ways = [node.child_by_field_name(way) for way in ("consequence", "alternative")]
    if isinstance(told, int | float):
        return scope.value(ways[0 if told else 1], depth)
    found = [one for way in ways if (one := scope.value(way, depth)) is not None]
    return found[-1] if found else None


def _cast(scope: HostScope, node: Node, depth: int) -> Held:
    value = scope.value(node.child_by_field_name("value"), depth)
    return _as(text_of(node.child_by_field_name("type")), value)


def _as(kind: str, value: Held) -> Held:
    """A value as one of a type."""
    if isinstance(value, Formula):
        return Formula(value.text, kind in _FLOATS)
    if not isinstance(value, int | float) or "*" in kind:
        return value
    return float(value) if kind in _FLOATS else int(value)


def _sizeof(scope: HostScope, node: Node, depth: int) -> Held:
    found = Scope.value(scope, node, 0)
    if found is not None or not node.named_children:
        return found
    text = text_of(node.named_children[0]).strip("() ")
    held = scope.value(node.named_children[0])
    if isinstance(held, HostArray):  # of what it has is not known
        return None
    read = scope.run.types.read(scope.setting.get(text, text))
    return read.size if read is not None else None


def _lambda(scope: HostScope, node: Node, depth: int) -> Held:
    """What a lambda does is done where it is written: it can be called later only. One of the
    device is what it captures.
    """
    body = node.child_by_field_name("body")
    if any("__device__" in text_of(one) for one in node.children if one != body):
        held = {name: scope.holder(name) for name, _ in captured(node, scope.setting)}
        return Record({name: (there or {}).get(name) for name, there in held.items()})
    scope.execute(body)
    return None


def _call(scope: HostScope, node: Node, depth: int) -> Held:
    syntax = next((c for c in node.children if c.type == "kernel_call_syntax"), None)
    if syntax is not None:
        scope.launch(node, syntax)
        return None
    function = node.child_by_field_name("function")
    given = given_in(node.child_by_field_name("arguments"))
    if function is None or function.type == "lambda_expression":
        return scope.value(function, depth)
    if function.type == "field_expression":
        return _method(scope, function, given, depth)
    name = called(node)
    if name in _SILENT:
        return None
    listed = function.child_by_field_name("arguments")
    if name == "cudaCreateChannelDesc":
        return channels_of([scope.value(one) for one in given], text_of(listed).strip("<> "))
    if name.startswith("cuda"):
        return _runtime(scope, name, given)
    if _ROUNDED_UP.match(name) and len(given) == 2:  # whichever way it is written
        values = [scope.value(one, depth) for one in given]
        if any(isinstance(one, Formula) for one in values):
            texts = (one.text if isinstance(one, Formula) else str(one) for one in values)
            return Formula(f"ceil({' / '.join(texts)})") if None not in values else None
    place = scope.function(name, len(given))
    if place is not None and name not in ("main",):
        return scope.call(place, given, scope.this, listed)
    macro = scope.macros.get(name)
    if macro is not None and macro.parameters is not None and not _is_statement(macro.text):
        return scope.value(scope.inlined(name, given), depth)
    if name == "dim3" or name in scope.run.known.records or name in CONTAINERS:
        return scope.construct(name, given)
    return _known(scope, name, given, listed, depth)


def _is_statement(text: str) -> bool:
    return text.startswith(("do", "{", "if")) or ";" in text


def _known(
    scope: HostScope, name: str, given: Sequence[Node], listed: Node | None, depth: int
) -> Held:
    values = [_argument(scope, one, depth) for one in given]
    numbers = [one for one in values if isinstance(one, int | float)]
    if name in FUNCTIONS and len(numbers) == len(values) > 0:
        return FUNCTIONS[name](*numbers)
    if name in ("static_cast", "reinterpret_cast", "const_cast") or name in SCALARS:
        kind = text_of(listed).strip("<> ") if listed is not None else name
        return _as(kind, values[0]) if values else None
    if name in _WRITTEN and any(isinstance(one, Formula) for one in values):
        return applied(_WRITTEN[name], values)
    if name in CASTS and len(numbers) == 1:
        return int(numbers[0])
    if name == "move" or name == "raw_pointer_cast":
        return values[0] if values else None
    if name in ("malloc", "aligned_alloc"):
        return HostArray(bytes=values[-1] if values else None)
    if name == "calloc" and values:
        known = values[0] if isinstance(values[0], int) else LOOP
        return HostArray(values[0], dict.fromkeys(range(min(known, LOOP)), 0), known > LOOP)
    if name == "make_cudaExtent":
        return Record(zip(("width", "height", "depth"), values, strict=False))
    if name.startswith("make_"):
        return Record(zip("xyzw", values, strict=False))
    return None


def _argument(scope: HostScope, node: Node, depth: int) -> Held:
    """What a function that nobody knows is given: what it is a pointer to may be anything then."""
    held = scope.value(node, depth)
    if isinstance(held, Address) and isinstance(held.held, int | float):
        held.held = None
    return held


def _method(scope: HostScope, function: Node, given: Sequence[Node], depth: int) -> Held:
    whole = scope.value(function.child_by_field_name("argument"), depth)
    whole = whole.held if isinstance(whole, Address) else whole
    name = text_of(function.child_by_field_name("field")).partition("<")[0]
    if isinstance(whole, DevicePointer):
        return None if name in ("size", "length") else whole
    if isinstance(whole, HostArray):
        if name in ("size", "length"):
            return whole.count
        if name == "push_back" and given and isinstance(whole.count, int):
            whole.cells[whole.count] = scope.value(given[0], depth)
            whole.count += 1
        elif name == "resize" and given:
            whole.count = scope.value(given[0], depth)
        return whole
    place = scope.function(name, len(given))
    if place is not None:
        return scope.call(place, given, whole)
    for one in given:
        _argument(scope, one, depth)
    return None


def _new(scope: HostScope, node: Node, depth: int) -> Held:
    kind = scope.type_name(text_of(node.child_by_field_name("type")))
    declarator = node.child_by_field_name("declarator")
    if declarator is not None:
        return HostArray(scope.value(next(iter(declarator.named_children), None), depth))
    return scope.construct(kind, given_in(node.child_by_field_name("arguments")))


def _last(scope: HostScope, node: Node, depth: int) -> Held:
    values = [scope.value(one, depth) for one in node.named_children]
    return values[-1] if values else None


def _listed(scope: HostScope, node: Node, depth: int) -> Held:
    values = [scope.value(one, depth) for one in given_in(node)]
    return dimensions(values) if 0 < len(values) < 4 else None


def _bracketed(scope: HostScope, node: Node, depth: int) -> Held:
    """What stands in the brackets of `dim3 x(...)`."""
    given = given_in(node)
    return scope.value(given[0], depth) if len(given) == 1 else _listed(scope, node, depth)


def container(scope: HostScope, type_: str, given: Sequence[Node], node: Node | None) -> Held:
    """`std::vector<float> v(n)`; one of the device, whose bytes are those of floats of its type."""
    if node is not None and node.type == "initializer_list":
        values = [scope.value(one) for one in given]
        return HostArray(len(values), dict(enumerate(values)))
    held = scope.value(given[0]) if given else 0
    if type_ == "device_vector":
        content = held if isinstance(held, HostArray) else None
        return DevicePointer(DeviceBuffer(None, content is not None, content))
    made = HostArray(held if isinstance(held, int) else None)
    if len(given) == 2 and (value := scope.value(given[1])) is not None:
        made.cells, made.filled = {0: value}, True
    return made


def _pitched(scope: HostScope, given: Sequence[Node], held: Sequence[Held]) -> None:
    pitch = -(-held[2] // _PITCH) * _PITCH
    scope.assign_through(given[0], DevicePointer(DeviceBuffer(pitch * held[3])))
    scope.assign_through(given[1], pitch)


def _copied(scope: HostScope, given: Sequence[Node], held: Sequence[Held]) -> None:
    to, source = held[:2]
    array, first = array_at(source)
    sent = "HostToDevice" in text_of(given[-1]) or array or not isinstance(source, DevicePointer)
    if isinstance(to, DevicePointer) and sent:
        to.to.copied, to.to.shared = True, False
        to.to.content = array.kept() if array is not None and not first + to.offset else None


def _cleared(scope: HostScope, given: Sequence[Node], held: Sequence[Held]) -> None:
    to = held[0]
    if isinstance(to, DevicePointer):
        to.to.content = HostArray(cells={0: 0}, filled=True) if held[1] == 0 else None


def _to_symbol(scope: HostScope, given: Sequence[Node], held: Sequence[Held]) -> None:
    symbol = text_of(given[0]).strip('&"() ').partition("[")[0].rpartition("::")[2]
    source, first = array_at(held[1])
    whole = source.kept() if source is not None and not first else None
    scope.run.symbols[symbol] = whole or copied(_pointee(held[1]))


def _pointee(held: Held) -> Held:
    return held.held if isinstance(held, Address) else held


_ATTRIBUTES = {"cudadevattr" + name.lower(): value for name, value in DEVICE.items()}
_ATTRIBUTES["cudadevattrmaxsharedmemoryperblockoptin"] = DEVICE["sharedMemPerBlockOptin"]
_THREADS = DEVICE["maxThreadsPerMultiProcessor"]
# What a function of the runtime makes of its first argument, by what all are.
_FILLED: Mapping[str, Callable[[Sequence[Node], Sequence[Held]], Held]] = {
    **dict.fromkeys(_ALLOCATES, lambda given, held: DevicePointer(DeviceBuffer(held[1]))),
    **dict.fromkeys(
        _ALLOCATES_HERE,
        lambda given, held: DevicePointer(
            DeviceBuffer(held[1], content=HostArray(bytes=held[1]), shared=True)
        ),
    ),
    "cudaGetDeviceProperties": lambda given, held: Record(DEVICE),
    "cudaDeviceGetAttribute": lambda given, held: _ATTRIBUTES.get(text_of(given[1]).lower()),
    "cudaMallocArray": lambda given, held: array_of(_pointee(held[1]), held[2:4]),
    "cudaMalloc3DArray": lambda given, held: array_of(_pointee(held[1]), held[2:3]),
    "cudaCreateTextureObject": lambda given, held: image_of(*map(_pointee, held[1:3])),
    "cudaCreateSurfaceObject": lambda given, held: image_of(_pointee(held[1])),
    "cudaGetDeviceCount": lambda given, held: 1,
    "cudaGetDevice": lambda given, held: 0,
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor": lambda given, held: _THREADS // held[2],
    "cudaOccupancyMaxPotentialBlockSize": lambda given, held: 8 * DEVICE["multiProcessorCount"],
}
_DONE: Mapping[str, Callable[[Any, Sequence[Node], Sequence[Held]], None]] = {
    "cudaMallocPitch": _pitched,
    **dict.fromkeys(("cudaMemcpy", "cudaMemcpyAsync"), _copied),
    **dict.fromkeys(("cudaMemset", "cudaMemsetAsync"), _cleared),
    **dict.fromkeys(("cudaMemcpyToSymbol", "cudaMemcpyToSymbolAsync"), _to_symbol),
    "cudaOccupancyMaxPotentialBlockSize": lambda s, g, held: s.assign_through(g[1], 256),
}


def _runtime(scope: HostScope, name: str, given: Sequence[Node]) -> Held:
    """Of the runtime: all goes well."""
    if name not in _FILLED and name not in _DONE:
        return 0
    held = [scope.value(one) for one in given]
    with suppress(LookupError, TypeError, ArithmeticError):
        if name in _FILLED:
            scope.assign_through(given[0], _FILLED[name](given, held))
        if name in _DONE:
            _DONE[name](scope, given, held)
    return 0


VALUES: Mapping[str, Callable[[Any, Node, int], Held]] = {
    **dict.fromkeys(("identifier", "qualified_identifier", "type_identifier"), _identifier),
    "field_identifier": _identifier,
    "template_function": lambda scope, node, depth: node,  # a kernel, to be launched elsewhere
    "this": lambda scope, node, depth: scope.this,
    "binary_expression": _binary,
    "assignment_expression": _assignment,
    "update_expression": _update,
    "pointer_expression": _pointer,
    "subscript_expression": _subscript,
    "field_expression": _field,
    "conditional_expression": _conditional,
    "cast_expression": _cast,
    "sizeof_expression": _sizeof,
    "call_expression": _call,
    "new_expression": _new,
    "lambda_expression": _lambda,
    "comma_expression": _last,
    "parenthesized_expression": _last,
    "condition_clause": _last,
    "compound_literal_expression": _last,
    "initializer_list": _listed,
    "argument_list": _bracketed,
}


def _name_place(scope: HostScope, node: Node, depth: int) -> Address | None:
    name = text_of(node).rpartition("::")[2]
    holder = scope.holder(name)
    if holder is None:
        holder = scope.run.globals
        holder[name] = None
    found = holder[name]
    return (
        Address(found.holder, found.name) if isinstance(found, Reference) else Address(holder, name)
    )


def _field_place(scope: HostScope, node: Node, depth: int) -> Address | None:
    whole = _whole(scope, node, depth)
    if whole is None:
        return None
    return Address(whole, text_of(node.child_by_field_name("field")))


def _element_place(scope: HostScope, node: Node, depth: int) -> Address | None:
    whole = scope.value(node.child_by_field_name("argument"), depth)
    index = _index(scope, node, depth)
    array, first = array_at(whole)
    if array is None:
        return whole if isinstance(whole, Address) and index == 0 else None
    if index is None:
        array.cells.clear()
        return None
    return Address(array.cells, first + index)


def _pointed_place(scope: HostScope, node: Node, depth: int) -> Address | None:
    inner = node.child_by_field_name("argument")
    if text_of(node.children[0]) == "&":
        return scope.place(inner, depth)
    held = scope.value(inner, depth)
    array, first = array_at(held)
    if array is not None:
        return Address(array.cells, first)
    return held if isinstance(held, Address) else None


PLACES: Mapping[str, Callable[[Any, Node, int], Address | None]] = {
    **dict.fromkeys(("identifier", "qualified_identifier"), _name_place),
    "field_expression": _field_place,
    "subscript_expression": _element_place,
    "pointer_expression": _pointed_place,
    "parenthesized_expression": lambda s, n, d: s.place(n.named_children[-1], d),
}
