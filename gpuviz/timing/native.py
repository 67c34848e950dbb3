"""A Python function of numbers and arrays, as machine code.

What is compiled is a small part of Python: parameters annotated `int`, `float`, `I32`, `I64` or
`F64` (flat arrays), or as a dataclass of these and of other such dataclasses, whose other fields do
not exist here; assignments, `if`, `while`, `for ... in range(...)`; arithmetic, comparisons, `min`
and `max` of two, `int`, `float`, `math.ceil`; constants of the module, and those of enumerations. A
variable is an integer or a float for good, as its first assignment says. `name = Record(...)` makes
a record of numbers. `and`, `or` and `a if b else c` look at both sides.

The call of another such function is replaced by its body: it has its own variables, but the arrays
and records it was given, so that it may change what is in them. Numbers in records that come from
outside change only inside. `//` and `%` are for numbers that are not negative. Where LLVM is
missing, the function itself runs.
"""

from __future__ import annotations

import ast
import ctypes
import dis
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from operator import attrgetter
from types import FunctionType
from typing import Any, cast

import numpy as np

_ARRAYS = {"I32": np.int32, "I64": np.int64, "F64": np.float64}
_NUMBERS: dict[str, Any] = {"int": ctypes.c_int64, "float": ctypes.c_double}


def with_constants(function: Callable[..., float], **constants: int) -> Callable[..., float]:
    """The same function where constants have other values, for it and for all that it calls."""
    known = function.__globals__
    called = {
        name: with_constants(known[name], **constants)
        for name in {i.argval for i in dis.get_instructions(function) if i.opname == "LOAD_GLOBAL"}
        if isinstance(known.get(name), FunctionType)
    }
    return FunctionType(function.__code__, {**known, **called, **constants}, function.__name__)


@cache
def native(function: Callable[..., float]) -> Callable[..., float]:
    """The function as machine code, or as it is where LLVM is missing; compiled once."""
    try:
        import llvmlite.binding  # noqa: F401

        assert isinstance(function, FunctionType)
        return _compiled(function)
    except (ImportError, OSError):  # there is no LLVM, or no source of the function beside it
        return function


def _compiled(function: FunctionType) -> Callable[..., float]:
    from llvmlite import binding as llvm

    definition = _parsed(function)
    parameters = list(_parameters(definition, function.__globals__))
    text = _Writer(definition, function.__globals__).text(parameters)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), opt=2, jit=True
    )
    module = llvm.parse_assembly(text)
    builder = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(speed_level=2))
    builder.getModulePassManager().run(module, builder)
    engine = llvm.create_mcjit_compiler(module, target)
    engine.finalize_object()
    types = [_NUMBERS.get(p.kind, ctypes.c_void_p) for p in parameters]
    address = engine.get_function_address(definition.name)
    return _Call(ctypes.CFUNCTYPE(ctypes.c_double, *types)(address), parameters, engine)


@cache
def _parsed(function: FunctionType) -> ast.FunctionDef:
    definition = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(definition, ast.FunctionDef)
    return definition


@dataclass(frozen=True)
class _Parameter:
    """A number or an array that machine code is called with: which argument, or which field of
    fields of it.
    """

    argument: int
    name: str
    path: tuple[str, ...]
    kind: str


def _parameters(definition: ast.FunctionDef, known: Mapping[str, Any]) -> Iterator[_Parameter]:
    for number, argument in enumerate(definition.args.args):
        annotation = ast.unparse(argument.annotation) if argument.annotation else ""
        for path, kind in _flat(annotation, known):
            yield _Parameter(number, argument.arg, path, kind)


def _flat(annotation: str, known: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """What can be compiled of a type: its fields, and theirs, with the kind of each."""
    if annotation in _ARRAYS or annotation in _NUMBERS:
        yield (), annotation
    elif is_dataclass(record := known.get(annotation)):
        around = vars(sys.modules[record.__module__])
        for field in fields(record):
            for path, kind in _flat(str(field.type), around):
                yield (field.name, *path), kind


class _Call:
    """Machine code that is called like the function it was made of."""

    def __init__(
        self, entry: Callable[..., float], parameters: Sequence[_Parameter], engine: Any
    ) -> None:
        self._entry, self._engine = entry, engine
        self._wanted = [
            (p.argument, attrgetter(".".join(p.path)) if p.path else None, p.kind)
            for p in parameters
        ]

    def __call__(self, *arguments: Any) -> float:
        """Call it with numbers, arrays and records of the annotated types."""
        passed = []
        for argument, field, kind in self._wanted:
            given = field(arguments[argument]) if field else arguments[argument]
            if kind in _ARRAYS:
                if given.dtype != _ARRAYS[kind] or not given.flags.c_contiguous:
                    raise TypeError(f"an array of {given.dtype} was passed for {kind}")
                given = given.ctypes.data
            passed.append(given)
        return float(self._entry(*passed))


_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_OPERATIONS: dict[type[ast.operator], dict[str, str]] = {
    ast.Add: {"int": "add", "float": "fadd"},
    ast.Sub: {"int": "sub", "float": "fsub"},
    ast.Mult: {"int": "mul", "float": "fmul"},
    ast.Div: {"float": "fdiv"},
    ast.FloorDiv: {"int": "sdiv"},
    ast.Mod: {"int": "srem"},
    ast.BitAnd: {"int": "and_"},
    ast.BitOr: {"int": "or_"},
    ast.RShift: {"int": "ashr"},
    ast.LShift: {"int": "shl"},
}
# An LLVM value and "int", "float", "bool" or the kind of an array; or the fields of a record.
_Value = tuple[Any, str]
_RECORD = "record"


class _Writer(ast.NodeVisitor):
    """Writes one function as LLVM IR; every variable has a place that LLVM makes a register of."""

    def __init__(self, definition: ast.FunctionDef, constants: dict[str, Any]) -> None:
        from llvmlite import ir

        self.ir, self._definition, self._constants = ir, definition, constants
        self._int, self._float, self._bool = ir.IntType(64), ir.DoubleType(), ir.IntType(1)
        self._places: dict[str, _Value] = {}
        self._loops: list[tuple[Any, Any]] = []  # where `continue` and `break` go
        self._left: tuple[_Value | None, Any] | None = None  # where a result goes, and who returns

    def text(self, parameters: Sequence[_Parameter]) -> str:
        """The module as text."""
        ir = self.ir
        cell = {"I32": ir.IntType(32), "I64": self._int, "F64": self._float}
        types = [
            cell[p.kind].as_pointer() if p.kind in cell else self._type(p.kind) for p in parameters
        ]
        module = ir.Module()
        made = ir.Function(module, ir.FunctionType(self._float, types), self._definition.name)
        entry = made.append_basic_block("entry")
        self._entry = ir.IRBuilder(entry)
        self._made = made
        self._b = ir.IRBuilder(made.append_basic_block("body"))
        first = self._b.block
        for parameter, value in zip(parameters, made.args, strict=True):
            place = value
            if parameter.kind in cell:
                value.add_attribute("noalias")
            else:
                place = self._variable((value, parameter.kind))
            self._bind((parameter.name, *parameter.path), (place, parameter.kind))
        self._ceil = module.declare_intrinsic("llvm.ceil", [self._float])
        self._body(self._definition.body)
        if not self._b.block.is_terminated:
            self._b.ret(ir.Constant(self._float, 0.0))
        self._entry.branch(first)
        return str(module)

    def _variable(self, value: _Value) -> Any:
        """The place of a new variable that has a value."""
        place = self._entry.alloca(self._type(value[1]))
        self._b.store(value[0], place)
        return place

    def _bind(self, path: Sequence[str], place: _Value) -> None:
        """Say where a variable is, or a field of fields of a record."""
        *records, name = path
        known = self._places
        for record in records:
            known = known.setdefault(record, ({}, _RECORD))[0]
        known[name] = place

    def _type(self, kind: str) -> Any:
        return {"int": self._int, "float": self._float, "bool": self._bool}[kind]

    # Statements

    def _body(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if self._b.block.is_terminated:
                return
            self.visit(statement)

    def generic_visit(self, node: ast.AST) -> None:
        """Whatever is not in the small part of Python."""
        raise TypeError(f"{self._definition.name}: {ast.unparse(node)!r} cannot be compiled")

    def visit_Expr(self, node: ast.Expr) -> None:
        """A docstring; a call of another function."""
        if isinstance(node.value, ast.Constant):
            return
        called = isinstance(node.value, ast.Call) and self._known(node.value.func)
        if not isinstance(called, FunctionType):
            self.generic_visit(node)
            return
        assert isinstance(node.value, ast.Call)
        self._inline(called, node.value.args)

    def _known(self, node: ast.expr) -> Any:
        """A constant, function or class that a name, or one of an enumeration, stands for."""
        if isinstance(node, ast.Attribute):
            return getattr(self._known(node.value), node.attr, None)
        return self._constants.get(node.id) if isinstance(node, ast.Name) else None

    def _inline(self, function: FunctionType, given: Sequence[ast.expr]) -> _Value | None:
        """The body of a function, and its result; its variables are its own, its arrays and records
        those it is given.
        """
        definition, places = _parsed(function), dict[str, _Value]()
        for parameter, argument in zip(definition.args.args, given, strict=True):
            place = self._whole(argument)
            if place is None:
                value = self._value(argument)
                place = self._variable(value), value[1]
            places[parameter.arg] = place
        outside = self._places, self._constants, self._definition, self._left
        self._places, self._constants = places, function.__globals__
        self._definition = definition
        kind = ast.unparse(definition.returns) if definition.returns else "None"
        result = None if kind == "None" else (self._entry.alloca(self._type(kind)), kind)
        end = self._made.append_basic_block()
        self._left = result, end
        self._body(definition.body)
        if not self._b.block.is_terminated:
            self._b.branch(end)
        self._b.position_at_end(end)
        self._places, self._constants, self._definition, self._left = outside
        return result and (self._b.load(result[0]), result[1])

    def _whole(self, node: ast.expr) -> _Value | None:
        """An array or a record that a variable or a field is; None for anything else."""
        place = self._place(node)
        return place if place and place[1] in (*_ARRAYS, _RECORD) else None

    def _place(self, node: ast.expr) -> _Value | None:
        """Where a variable is, or a field of a record; None for anything else."""
        if isinstance(node, ast.Name):
            return self._places.get(node.id)
        around = self._place(node.value) if isinstance(node, ast.Attribute) else None
        if around is None or around[1] != _RECORD:
            return None
        assert isinstance(node, ast.Attribute)
        found: _Value | None = around[0].get(node.attr)
        return found

    def visit_Assign(self, node: ast.Assign) -> None:
        """name = value, record.name = value, array[index] = value, name = Record(...)."""
        target, value = node.targets[0], node.value
        made = self._known(value.func) if isinstance(value, ast.Call) else None
        if is_dataclass(made) and isinstance(target, ast.Name) and isinstance(value, ast.Call):
            self._record(target.id, made, value)
        elif (found := self._whole(value)) and isinstance(target, ast.Name):
            self._places[target.id] = found
        else:
            self._assign(target, self._value(value))

    def _record(self, name: str, made: Any, node: ast.Call) -> None:
        """A record of numbers, each as given, or as its class says."""
        given = dict(zip((f.name for f in fields(made)), node.args, strict=False))
        given |= {k.arg: k.value for k in node.keywords if k.arg}
        for field in fields(made):
            if field.name not in given and field.default is MISSING:
                self.generic_visit(node)
            value = self._value(given.get(field.name) or ast.Constant(cast(float, field.default)))
            kind = str(field.type)
            place = self._variable((self._as(value, kind), kind))
            self._bind((name, field.name), (place, kind))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """name += value, array[index] += value."""
        read: ast.expr = node.target
        self._assign(read, self._value(ast.BinOp(read, node.op, node.value)))

    def visit_If(self, node: ast.If) -> None:
        """if, elif, else."""
        yes, no, end = (self._made.append_basic_block() for _ in range(3))
        self._b.cbranch(self._truth(node.test), yes, no)
        for block, body in ((yes, node.body), (no, node.orelse)):
            self._b.position_at_end(block)
            self._body(body)
            if not self._b.block.is_terminated:
                self._b.branch(end)
        self._b.position_at_end(end)

    def visit_While(self, node: ast.While) -> None:
        """while."""
        test, body, end = (self._made.append_basic_block() for _ in range(3))
        self._b.branch(test)
        self._b.position_at_end(test)
        self._b.cbranch(self._truth(node.test), body, end)
        self._loop(body, node.body, test, end)
        self._b.branch(test)
        self._b.position_at_end(end)

    def visit_For(self, node: ast.For) -> None:
        """for name in range(...)."""
        assert isinstance(node.iter, ast.Call)
        bounds = [self._value(a) for a in node.iter.args]
        start = bounds[0] if len(bounds) > 1 else (self.ir.Constant(self._int, 0), "int")
        stop = self._as(bounds[-1] if len(bounds) < 3 else bounds[1], "int")
        counter = self._entry.alloca(self._int)
        self._b.store(self._as(start, "int"), counter)
        test, body, step, end = (self._made.append_basic_block() for _ in range(4))
        self._b.branch(test)
        self._b.position_at_end(test)
        now = self._b.load(counter)
        self._b.cbranch(self._b.icmp_signed("<", now, stop), body, end)
        self._b.position_at_end(body)
        self._store(node.target, (now, "int"))
        self._loop(body, node.body, step, end)
        self._b.branch(step)
        self._b.position_at_end(step)
        self._b.store(self._b.add(self._b.load(counter), self.ir.Constant(self._int, 1)), counter)
        self._b.branch(test)
        self._b.position_at_end(end)

    def _loop(self, block: Any, body: Sequence[ast.stmt], again: Any, end: Any) -> None:
        self._b.position_at_end(block)
        self._loops.append((again, end))
        self._body(body)
        self._loops.pop()
        if self._b.block.is_terminated:  # whatever comes after it is never reached
            self._b.position_at_end(self._made.append_basic_block())

    def visit_Continue(self, node: ast.Continue) -> None:
        """continue."""
        self._b.branch(self._loops[-1][0])

    def visit_Break(self, node: ast.Break) -> None:
        """break."""
        self._b.branch(self._loops[-1][1])

    def visit_Return(self, node: ast.Return) -> None:
        """return, return value."""
        result, end = self._left or (None, None)
        if (node.value is None) != (end is not None and result is None):
            self.generic_visit(node)
        value = self._value(node.value) if node.value else None
        if value and end is None:
            self._b.ret(self._as(value, "float"))
            return
        if value and result:
            self._b.store(self._as(value, result[1]), result[0])
        self._b.branch(end)

    def _assign(self, target: ast.expr, value: _Value) -> None:
        if not isinstance(target, ast.Subscript):
            self._store(target, value)
            return
        place, kind = self._element(target)
        if kind == "F64":
            self._b.store(self._as(value, "float"), place)
            return
        whole = self._as(value, "int")
        short = self._b.trunc(whole, self.ir.IntType(32)) if kind == "I32" else whole
        self._b.store(short, place)

    def _store(self, target: ast.expr, value: _Value) -> None:
        place = self._place(target)
        if place is not None and place[1] not in (*_ARRAYS, _RECORD):
            self._b.store(self._as(value, place[1]), place[0])
        elif place is None and isinstance(target, ast.Name):
            self._places[target.id] = self._variable(value), value[1]
        else:
            self.generic_visit(target)

    # Expressions

    def _element(self, node: ast.Subscript) -> _Value:
        place = self._place(node.value)
        if place is None or place[1] not in _ARRAYS:
            self.generic_visit(node)
        assert place is not None
        return self._b.gep(place[0], [self._as(self._value(node.slice), "int")]), place[1]

    def _as(self, value: _Value, kind: str) -> Any:
        """A value of a kind; a float becomes no integer by itself."""
        found, own = value
        if own == kind:
            return found
        if own == "bool":
            return self._as((self._b.zext(found, self._int), "int"), kind)
        if kind == "float":
            return self._b.sitofp(found, self._float)
        raise TypeError(f"{self._definition.name}: a {own} where {kind} is wanted")

    def _truth(self, node: ast.expr) -> Any:
        value = self._value(node)
        if value[1] == "bool":
            return value[0]
        return self._b.icmp_signed("!=", self._as(value, "int"), self.ir.Constant(self._int, 0))

    def _value(self, node: ast.expr) -> _Value:
        """The value of an expression."""
        found: _Value = getattr(self, "_" + type(node).__name__.lower(), self._unknown)(node)
        return found

    def _unknown(self, node: ast.expr) -> _Value:
        self.generic_visit(node)
        raise AssertionError

    def _constant(self, node: ast.Constant) -> _Value:
        if isinstance(node.value, float):
            return self.ir.Constant(self._float, node.value), "float"
        if not isinstance(node.value, int):
            self.generic_visit(node)
        return self.ir.Constant(self._int, int(cast(int, node.value))), "int"

    def _name(self, node: ast.Name | ast.Attribute) -> _Value:
        place, known = self._place(node), self._known(node)
        if place is None and isinstance(known, (int, float)):
            return self._constant(ast.Constant(known))
        if place is None or place[1] in (*_ARRAYS, _RECORD):
            return self._unknown(node)
        return self._b.load(place[0]), place[1]

    _attribute = _name

    def _subscript(self, node: ast.Subscript) -> _Value:
        place, kind = self._element(node)
        found = self._b.load(place)
        if kind == "F64":
            return found, "float"
        return (self._b.sext(found, self._int) if kind == "I32" else found), "int"

    def _unaryop(self, node: ast.UnaryOp) -> _Value:
        value = self._value(node.operand)
        if isinstance(node.op, ast.Not):
            return self._b.not_(self._truth(node.operand)), "bool"
        if isinstance(node.op, ast.Invert):
            return self._b.not_(self._as(value, "int")), "int"
        return (self._b.fneg if value[1] == "float" else self._b.neg)(value[0]), value[1]

    def _boolop(self, node: ast.BoolOp) -> _Value:
        join = self._b.and_ if isinstance(node.op, ast.And) else self._b.or_
        found = self._truth(node.values[0])
        for value in node.values[1:]:
            found = join(found, self._truth(value))
        return found, "bool"

    def _compare(self, node: ast.Compare) -> _Value:
        sign = _SIGNS[type(node.ops[0])]
        a, b, kind = self._alike(self._value(node.left), self._value(node.comparators[0]))
        compare = self._b.fcmp_ordered if kind == "float" else self._b.icmp_signed
        return compare(sign, a, b), "bool"

    def _ifexp(self, node: ast.IfExp) -> _Value:
        a, b, kind = self._alike(self._value(node.body), self._value(node.orelse))
        return self._b.select(self._truth(node.test), a, b), kind

    def _alike(self, a: _Value, b: _Value) -> tuple[Any, Any, str]:
        kind = "float" if "float" in (a[1], b[1]) else "int"
        return self._as(a, kind), self._as(b, kind), kind

    def _binop(self, node: ast.BinOp) -> _Value:
        left, right, kind = self._alike(self._value(node.left), self._value(node.right))
        if isinstance(node.op, ast.Div) and kind == "int":
            left, right, kind = *(self._as((v, "int"), "float") for v in (left, right)), "float"
        if not (name := _OPERATIONS.get(type(node.op), {}).get(kind)):
            self.generic_visit(node)
        return getattr(self._b, str(name))(left, right), kind

    def _call(self, node: ast.Call) -> _Value:
        name, called = ast.unparse(node.func), self._known(node.func)
        if isinstance(called, FunctionType):
            return self._inline(called, node.args) or self._unknown(node)
        values = [self._value(a) for a in node.args]
        if name == "float":
            return self._as(values[0], "float"), "float"
        if name == "int" and values[0][1] == "float":
            return self._b.fptosi(values[0][0], self._int), "int"
        if name == "int":
            return self._as(values[0], "int"), "int"
        if name == "math.ceil":
            return self._b.call(self._ceil, [self._as(values[0], "float")]), "float"
        if name in ("min", "max") and len(values) == 2:
            a, b, kind = self._alike(*values)
            compare = self._b.fcmp_ordered if kind == "float" else self._b.icmp_signed
            return self._b.select(compare("<" if name == "min" else ">", a, b), a, b), kind
        return self._unknown(node)
