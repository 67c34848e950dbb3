"""PTX made by a grammar: well-formed more often than not, and never what a compiler writes."""

from __future__ import annotations

from random import Random

from tests.hostile import nasty
from tests.hostile.kind import Kind
from tests.hostile.kinds.ptx import check, compiled, count, opcodes
from tests.hostile.mutation import encoded

_TYPES = ("pred", "b8", "u16", "b16", "s32", "u32", "b32", "f32", "u64", "b64", "f64", "f16x2")
_FAMILIES = {"8": "%h", "16": "%h", "32": "%r", "64": "%rd", "128": "%rc", "16x2": "%r"}
_FLOATS = {"f32": "%f", "f64": "%d", "pred": "%p"}
_STRANGE = ("%rc1", "_", "%tid.x", "%tid.w", "%ntid.y", "%laneid", "WARP_SZ", "%envreg2", "%none")
_SPACES = ("global", "shared", "local", "const", "param")
_NAMES = ("s", "g", "c", "l", "k_param_0", "callee", "k", "$T", "T1", "nobody")
_LABELS = ("A", "B", "$C", "T1", "nowhere")
_SOURCES = {1: "mov cvt abs neg not rcp sqrt rsqrt sin cos ex2 lg2 brev popc clz bfind cvta tanh"}
_SOURCES |= {3: "fma mad bfe prmt selp lop3 slct sad shf dp4a", 4: "bfi"}
_ARITY = {name: number for number, names in _SOURCES.items() for name in names.split()}
_PLAIN = 0.97  # how often a part is as it should be


def make(random: Random) -> bytes:
    """A module of one or two functions."""
    version = "9.0" if _fine(random) else random.choice(("1.0", "99", "x"))
    head = f".version {version}\n.target sm_90\n.address_size 64\n"
    globals_ = ".global .b32 g[4];\n.shared .b8 s[256];\n.const .b32 c[4] = {1, 2, 3, 4};\n"
    strangers = "\n".join(_variable(random) for _ in range(random.choice((0, 0, 0, 2))))
    kinds = [random.choice(("u64", "u32", "f32")) for _ in range(random.randrange(1, 4))]
    parameters = ", ".join(f".param .{kind} k_param_{n}" for n, kind in enumerate(kinds))
    callee = ".func (.param .b32 out) callee (.param .b32 in)" + _body(random, 4)
    kernel = f".visible .entry k({parameters})" + _body(random, random.choice((3, 12, 60)))
    called = callee if random.random() < 0.4 else ""
    return encoded("\n".join((head, globals_, strangers, called, kernel)))


def _fine(random: Random) -> bool:
    return random.random() < _PLAIN


def _body(random: Random, most: int) -> str:
    registers = (
        ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .b16 %h<9>; "
        ".reg .pred %p<9>; .reg .b128 %rc<3>; .local .align 8 .b8 l[64];\n"
        "mov.u32 %r1, %tid.x; mov.u64 %rd1, g; cvta.global.u64 %rd1, %rd1; setp.lt.s32 %p1, %r1, 7;"
    )
    lines = [_statement(random, 0) for _ in range(random.randint(1, most))]
    if _fine(random):
        lines += [f"T{number}: .branchtargets A, B, $C;" for number in range(3)]
    for label in _LABELS[:3]:
        lines.insert(random.randrange(len(lines) + 1), f"{label}:")
    return "{\n" + "\n".join((registers, *lines)) + "\nret;\n}\n"


def _statement(random: Random, depth: int) -> str:
    match random.randrange(30):
        case 0:
            return _variable(random)
        case 1 if depth < 4:
            inner = " ".join(_statement(random, depth + 1) for _ in range(random.randrange(4)))
            return "{ " + inner + " }"
        case 2 if not _fine(random):
            names = ", ".join(random.choices(_LABELS, k=random.randrange(1, 4)))
            return f"T{random.randrange(3)}: .branchtargets {names};"
        case 3 | 4:
            return f"{_guard(random)}bra{random.choice(('', '.uni'))} {_label(random)};"
        case 5:
            return f"brx.idx {_register(random, 'u32')}, {random.choice(('T0', 'T1', 'T2'))};"
        case 6:
            return f"call.uni ({_any(random)}), callee, ({_any(random)});"
        case 7:
            count = random.choice(("", "<3>", "1")) if _fine(random) else "<-1>"
            return f".reg .{random.choice(_TYPES)} %r{count};"
    return _guard(random) + _instruction(random)


def _instruction(random: Random) -> str:
    """An opcode, and operands as it takes them."""
    opcode = random.choice(opcodes())
    if not _fine(random):  # an end that belongs to another
        opcode = f"{opcode.rpartition('.')[0]}.{random.choice(opcodes()).rpartition('.')[2]}"
    name, *mods = opcode.split(".")
    kind = next((mod for mod in reversed(mods) if mod[-1:].isdigit() and mod[0] in "busf"), "b32")
    if name in ("bar", "barrier", "ret", "exit", "membar", "fence", "trap", "nanosleep"):
        operands = [] if name not in ("bar", "barrier", "nanosleep") else ["0"]
    elif name in ("ld", "st", "atom", "red"):
        wide = next((int(mod[1:]) for mod in mods if mod in ("v2", "v4", "v8")), 0)
        parts = [_register(random, kind) for _ in range(wide or 1)]
        value = "{" + ", ".join(parts) + "}" if wide else parts[0]
        operands = [value, _address(random)] if name == "ld" else [_address(random), value]
        if name == "atom":
            operands = [_register(random, kind), *operands]
            operands += [_register(random, kind)] if "cas" in mods else []
    else:
        first = _register(random, "pred" if name == "setp" else kind)
        operands = [first, *(_source(random, kind) for _ in range(_ARITY.get(name, 2)))]
    if not _fine(random):
        operands.insert(random.randrange(len(operands) + 1), _any(random))
    if not _fine(random) and operands:
        del operands[random.randrange(len(operands))]
    return f"{opcode} {', '.join(operands)};"


def _register(random: Random, kind: str) -> str:
    if not _fine(random):
        return _any(random)
    family = _FLOATS.get(kind) or _FAMILIES.get(kind.lstrip("busf"), "%r")
    return f"{family}{random.randrange(1, 9 if family != '%rc' else 3)}"


def _source(random: Random, kind: str) -> str:
    if random.random() < 0.75:
        return _register(random, kind)
    if kind.startswith("f"):
        return random.choice(("0f3F800000", "0f7FC00000", "0d7FF0000000000000", "1.5"))
    return random.choice(("0", "1", "-1", "31", "32", "0x7FFFFFFF", "0xFFFFFFFFFFFFFFFF"))


def _address(random: Random) -> str:
    base = random.choice(("%rd1", "%rd1", "g", "s", "c", "l", "k_param_0", "%r1", "%rd2"))
    return (
        f"[{base}{random.choice(('', '', '+4', '+8', '+-4'))}]" if _fine(random) else _any(random)
    )


def _guard(random: Random) -> str:
    if random.random() < 0.7:
        return ""
    return f"@{random.choice(('', '!'))}{_register(random, 'pred')} "


def _label(random: Random) -> str:
    return random.choice(_LABELS[:3] if _fine(random) else _LABELS)


def _any(random: Random) -> str:
    """An operand of any sort."""
    match random.randrange(6):
        case 0:
            return random.choice((*_STRANGE, *_NAMES, "-%r1", "!%p1", "%p1|%p2", "%r1|%p1"))
        case 1:
            return nasty.number(random)
        case 2:
            return f"[{random.choice((*_STRANGE, *_NAMES))}+{nasty.number(random)}]"
        case 3:
            inner = ", ".join(_any(random) for _ in range(random.choice((0, 1, 2, 4, 4, 8))))
            return "{" + inner + "}"
    return _register(random, random.choice(_TYPES))


def _variable(random: Random) -> str:
    if random.random() < 0.6:
        return f".shared .align 4 .b8 v{random.randrange(99)}[16];"
    space, name = random.choice(_SPACES[:4] if _fine(random) else _SPACES), random.choice(_NAMES)
    align = random.choice(("", ".align 16 ", ".align 0 ", ".align 3 ", f".align {2**40} "))
    size = random.choice(("", "[]", "[4]", "[4][4]", "[-1]", f"[{nasty.number(random)}]"))
    value = random.choice(
        ("", "", " = 5", " = {1, 2, {3}}", " = s", " = generic(g)+4", " = 0xFF00(c)", " = {}")
        + (f" = {nasty.number(random)}", " = {nobody, 1}")
    )
    extern = random.choice(("", "", ".extern ", ".visible "))
    return f"{extern}.{space} {align}.{random.choice(_TYPES)} {name}{size}{value};"


KIND = Kind("ptx_made", 320, ".ptx", make, (check, count), calls=(compiled,))
