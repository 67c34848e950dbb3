"""A Python function of numbers and arrays, as machine code.

What is compiled is a small part of Python: parameters annotated `int`, `float`, `I32`, `I64` or
`F64` (flat arrays); assignments, `if`, `while`, `for ... in range(...)`; arithmetic, comparisons,
`min` and `max` of two, `int`, `float`, `math.ceil`; constants of the module. A variable is an
integer or a float for good, as its first assignment says. `and` and `or` look at both sides.
A call that stands alone, of another such function that returns nothing, is replaced by its body.
`//` and `%` are for numbers that are not negative. Where LLVM is missing, the function itself runs.
"""

from __future__ import annotations

import ast
import ctypes
import inspect
import textwrap
from collections.abc import Callable, Sequence
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

_ARRAYS = {"I32": np.int32, "I64": np.int64, "F64": np.float64}


def with_constants(function: Callable[..., float], **constants: int) -> Callable[..., float]:
    """The same function where constants of its module have other values."""
    return FunctionType(function.__code__, {**function.__globals__, **constants}, function.__name__)


@cache
def native(function: Callable[..., float]) -> Callable[..., float]:
    """The function as machine code, or as it is where LLVM is missing; compiled once."""
    try:
        import llvmlite.binding  # noqa: F401

        return _compiled(function)
    except (ImportError, OSError):  # there is no LLVM, or no source of the function beside it
        return function


def _compiled(function: Callable[..., float]) -> Callable[..., float]:
    from llvmlite import binding as llvm

    definition = _parsed(function)
    kinds = [ast.unparse(a.annotation) for a in definition.args.args if a.annotation]
    text = _Writer(definition, function.__globals__).text(kinds)
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
    types = [
        ctypes.c_int64 if k == "int" else ctypes.c_double if k == "float" else ctypes.c_void_p
        for k in kinds
    ]
    address = engine.get_function_address(definition.name)
    return _Call(ctypes.CFUNCTYPE(ctypes.c_double, *types)(address), kinds, engine)


def _parsed(function: Callable[..., Any]) -> ast.FunctionDef:
    definition = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(definition, ast.FunctionDef)
    return definition


class _Call:
    """Machine code that is called like the function it was made of."""

    def __init__(self, entry: Callable[..., float], kinds: Sequence[str], engine: Any) -> None:
        self._entry, self._kinds, self._engine = entry, kinds, engine

    def __call__(self, *arguments: Any) -> float:
        """Call it with numbers and arrays of the annotated types."""
        passed = []
        for kind, given in zip(self._kinds, arguments, strict=True):
            if kind not in _ARRAYS:
                passed.append(given)
                continue
            if given.dtype != _ARRAYS[kind] or not given.flags.c_contiguous:
                raise TypeError(f"an array of {given.dtype} was passed for {kind}")
            passed.append(given.ctypes.data)
        return float(self._entry(*passed))


_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_Value = tuple[Any, str]  # an LLVM value, and "int", "float", "bool" or the kind of an array


class _Writer(ast.NodeVisitor):
    """Writes one function as LLVM IR; every variable has a place that LLVM makes a register of."""

    def __init__(self, definition: ast.FunctionDef, constants: dict[str, Any]) -> None:
        from llvmlite import ir

        self.ir, self._definition, self._constants = ir, definition, constants
        self._int, self._float, self._bool = ir.IntType(64), ir.DoubleType(), ir.IntType(1)
        self._places: dict[str, _Value] = {}
        self._loops: list[tuple[Any, Any]] = []  # where `continue` and `break` go

    def text(self, kinds: Sequence[str]) -> str:
        """The module as text."""
        ir = self.ir
        cell = {"I32": ir.IntType(32), "I64": self._int, "F64": self._float}
        types = [cell[k].as_pointer() if k in cell else self._type(k) for k in kinds]
        module = ir.Module()
        made = ir.Function(module, ir.FunctionType(self._float, types), self._definition.name)
        entry = made.append_basic_block("entry")
        self._entry = ir.IRBuilder(entry)
        self._made = made
        self._b = ir.IRBuilder(made.append_basic_block("body"))
        first = self._b.block
        for argument, value, kind in zip(self._definition.args.args, made.args, kinds, strict=True):
            if kind in cell:
                value.add_attribute("noalias")
                self._places[argument.arg] = value, kind
            else:
                self._store(argument.arg, (value, kind))
        self._ceil = module.declare_intrinsic("llvm.ceil", [self._float])
        self._body(self._definition.body)
        if not self._b.block.is_terminated:
            self._b.ret(ir.Constant(self._float, 0.0))
        self._entry.branch(first)
        return str(module)

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
        known = self._constants.get(ast.unparse(getattr(node.value, "func", node.value)))
        if not isinstance(known, FunctionType) or not isinstance(node.value, ast.Call):
            self.generic_visit(node)
            return
        self._inline(known, node.value.args)

    def _inline(self, function: FunctionType, given: Sequence[ast.expr]) -> None:
        """The body of a function; its variables are its own, its arrays those it is given."""
        definition, places = _parsed(function), dict[str, _Value]()
        for parameter, argument in zip(definition.args.args, given, strict=True):
            if isinstance(argument, ast.Name) and self._places[argument.id][1] in _ARRAYS:
                places[parameter.arg] = self._places[argument.id]
                continue
            value, kind = self._value(argument)
            places[parameter.arg] = self._entry.alloca(self._type(kind)), kind
            self._b.store(value, places[parameter.arg][0])
        outside = self._places, self._constants, self._definition
        self._places, self._constants = places, function.__globals__
        self._definition = definition
        self._body(definition.body)
        self._places, self._constants, self._definition = outside

    def visit_Assign(self, node: ast.Assign) -> None:
        """name = value, array[index] = value."""
        self._assign(node.targets[0], self._value(node.value))

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
        assert isinstance(node.iter, ast.Call) and isinstance(node.target, ast.Name)
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
        self._store(node.target.id, (now, "int"))
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
        """return value."""
        if node.value is None:
            self.generic_visit(node)
        assert node.value is not None
        self._b.ret(self._as(self._value(node.value), "float"))

    def _assign(self, target: ast.expr, value: _Value) -> None:
        if isinstance(target, ast.Name):
            self._store(target.id, value)
            return
        assert isinstance(target, ast.Subscript)
        place, kind = self._element(target)
        if kind == "F64":
            self._b.store(self._as(value, "float"), place)
            return
        whole = self._as(value, "int")
        short = self._b.trunc(whole, self.ir.IntType(32)) if kind == "I32" else whole
        self._b.store(short, place)

    def _store(self, name: str, value: _Value) -> None:
        if name not in self._places:
            self._places[name] = self._entry.alloca(self._type(value[1])), value[1]
        place, kind = self._places[name]
        self._b.store(self._as(value, kind), place)

    # Expressions

    def _element(self, node: ast.Subscript) -> _Value:
        assert isinstance(node.value, ast.Name)
        base, kind = self._places[node.value.id]
        return self._b.gep(base, [self._as(self._value(node.slice), "int")]), kind

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
        kind = "float" if isinstance(node.value, float) else "int"
        return self.ir.Constant(self._type(kind), node.value), kind

    def _name(self, node: ast.Name) -> _Value:
        if node.id in self._places:
            place, kind = self._places[node.id]
            return self._b.load(place), kind
        return self._constant(ast.Constant(self._constants[node.id]))

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
        b = self._b
        whole = {
            ast.Add: b.add, ast.Sub: b.sub, ast.Mult: b.mul, ast.FloorDiv: b.sdiv, ast.Mod: b.srem,
            ast.BitAnd: b.and_, ast.BitOr: b.or_, ast.RShift: b.ashr, ast.LShift: b.shl,
        }  # fmt: skip
        broken = {ast.Add: b.fadd, ast.Sub: b.fsub, ast.Mult: b.fmul, ast.Div: b.fdiv}
        left, right, kind = self._alike(self._value(node.left), self._value(node.right))
        if isinstance(node.op, ast.Div) and kind == "int":
            left, right, kind = *(self._as((v, "int"), "float") for v in (left, right)), "float"
        table = broken if kind == "float" else whole
        if type(node.op) not in table:
            self.generic_visit(node)
        return table[type(node.op)](left, right), kind

    def _call(self, node: ast.Call) -> _Value:
        name = ast.unparse(node.func)
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
