"""PTX of our own kernels, with words, numbers, lines and blocks changed."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random

from gpuviz.base import resources
from tests.hostile import nasty
from tests.hostile.kind import Kind
from tests.hostile.mutation import changed_bytes, changed_text, encoded

_WORDS = (
    *(".reg .b32 %q<9999999>;", ".reg .pred %p;", ".shared .b8 s[1099511627776];", "%r99999999"),
    *(".local .align 16 .b8 l[4294967296];", ".global .u64 g = g+4;", "@!%p1", "@%r1", "@%f1"),
    *("{", "}", "{{{{", "}}}}", "(", ")", "[", "]", "<", ">", "|", "!", ";", ",", ":", "-", "+"),
    *("%tid.x", "%clock64", "%envreg2", "%laneid", "bra", "brx.idx", "call", "ret", "exit", "trap"),
    *("bar.sync 99;", "bar.sync 0, 33;", "barrier.sync %r1;", "membar.gl;", "nanosleep.u32 9;"),
    *("ld.global.v8.f64", "ld.shared.u128", "st.param.b8", "cp.async.cg.shared.global", "wmma"),
    *("shfl.sync.idx.b32", "vote.sync.all", "match.any.sync.b64", "redux.sync.add.s32", "elect"),
    *("div.s32", "rem.u64", "shl.b64", "bfe.u32", "prmt.b32", "cvt.rn.f16.f64", "fma.rn.bf16x2"),
    *("_", "%", "$L__BB0_1", ".loc 9 9 9", '.file 1 "x"', ".branchtargets $L;", ".pragma", ".u8"),
    *(".maxntid 99999999999, 9, 9", ".alias a, b;", ".func (.param .b8 r[9]) f (.reg .u8 x);"),
)
_REGISTER = re.compile(r"%[a-z]+\d*")
_OPCODE = re.compile(r"(?<=\t)[a-z]\w*(?:\.\w+)+")
_NUMBER = re.compile(r"\b(?:\d+|0[fd][0-9A-F]+)\b")
_STATEMENT = re.compile(r"^\t[a-z@].*;$", re.MULTILINE)
_KINDS = (_REGISTER, _REGISTER, _OPCODE, _OPCODE, _NUMBER, _NUMBER, _STATEMENT)
_ENTRY = re.compile(r"\.entry\s+([\w$.]+)\s*\(([^)]*)\)")
_SPECS = {"u64": "f32[4096]=ones", "b64": "f32[4096]=ones", "f32": "f32=1.5", "f64": "f64=1.5"}


@cache
def texts() -> tuple[str, ...]:
    """The PTX that ships."""
    return tuple(
        file.read_text() for file in sorted(resources.path("kernels/prebuilt").glob("*.ptx"))
    )


@cache
def opcodes() -> tuple[str, ...]:
    """Instructions that public CUDA files compile to."""
    with (Path(__file__).parents[2] / "data" / "ptx_opcodes.csv").open(newline="") as file:
        return tuple(row["instruction"] for row in csv.DictReader(file))


def text(random: Random) -> str:
    """A text of ours, changed."""
    ours = texts()
    start = random.choice(ours)
    match random.randrange(12):
        case 0:  # the beginning of one and the end of another
            other = random.choice(ours)
            start = start[: random.randrange(len(start))] + other[random.randrange(len(other)) :]
        case 1:
            return repeated(random, start)
        case 2 | 3 | 4:
            return changed_text(random, start, _WORDS if random.random() < 0.7 else ())
    return kin(random, start)


def kin(random: Random, start: str) -> str:
    """With words in place of others of their kind: it can still be read, more often than not."""
    for _ in range(random.randint(1, 4)):
        pattern = random.choice(_KINDS)
        places = list(pattern.finditer(start))
        if not places:
            continue
        place = random.choice(places)
        other = random.choice(places)[0]
        if pattern is _NUMBER and random.random() < 0.5:
            other = nasty.number(random)
        elif pattern is _OPCODE and random.random() < 0.7:
            other = random.choice(opcodes())
        start = start[: place.start()] + other + start[place.end() :]
    return start


def repeated(random: Random, start: str) -> str:
    """One statement many times, or braces within braces."""
    lines = start.splitlines()
    at = random.randrange(len(lines))
    times = random.choice((100, 3000, 30_000))
    many = random.choice((lines[at], "{", "{ .reg .b32 %x;", "(", "@%p1", "add.s32 %r1, %r1, 1;"))
    return "\n".join([*lines[:at], *[many] * times, *lines[at:]])[: 1 << 20]


def make(random: Random) -> bytes:
    """PTX."""
    made = encoded(text(random))
    return changed_bytes(random, made) if random.random() < 0.1 else made


def check(file: Path) -> Sequence[str]:
    """Is it supported?"""
    return "check", str(file)


def specs_of(kinds: Sequence[str]) -> list[str]:
    """Arguments for parameters of these types."""
    return [_SPECS.get(kind, "i32=1") for kind in kinds[:64]]


def count(file: Path) -> Sequence[str]:
    """Run its first kernel, with arguments as it declares them."""
    found = _ENTRY.search(file.read_bytes().decode(errors="replace"))
    kinds = re.findall(r"\.(u64|b64|f32|f64|u32|b32)\b", found[2]) if found else []
    specs = specs_of(kinds)
    where = ("--grid", "2", "--block", "64", "--budget", "0.5", "--level", "ptx")
    return "count", str(file), *where, *(x for spec in specs for x in ("--arg", spec))


def compiled(file: Path) -> None:
    """Run it as machine code."""
    from gpuviz.arguments import materialise, parse
    from gpuviz.ptx.emulator import Options, emulate
    from gpuviz.ptx.text import parser

    module = parser.parse(file.read_text(errors="replace"))
    options = Options(max_blocks=1, seconds=1.0, threads=1, engine="compiled")
    for name in module.kernels[:1]:
        specs = map(parse, specs_of([one.type for one in module.by_name[name].params]))
        given = [materialise(spec, number) for number, spec in enumerate(specs)]
        emulate(module, name, (2, 1, 1), (64, 1, 1), given, options=options)


KIND = Kind("ptx", 420, ".ptx", make, (check, count), calls=(compiled,))
