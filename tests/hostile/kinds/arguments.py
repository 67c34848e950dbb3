"""Arguments of commands, one a line: launches, sizes, macros, names, options."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from tests.hostile import nasty
from tests.hostile.kind import Kind
from tests.hostile.mutation import changed_text, encoded

_KINDS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32", "f64")
_FILLS = ("zeros", "ones", "arange", "rand", "shuffle", "@data.npy", "@mine.cu", "@/dev/zero", "@")
_LINES = (
    "count|mine.ptx|--entry|strided|--grid|2|--block|64|--arg|f32[512]=rand|--arg|f32[256]=zeros"
    "|--arg|i32=1|--arg|i32=0|--budget|0.5",
    "count|--scene|coalescing|--set|stride=2|--arch|sm_80|--json",
    "count|--scene|banks|--set|stride=33|--level|ptx|--blocks|1",
    "check|mine.ptx|--arch|sm_80|--json",
    "check|mine.cu|--define|BYTES=8",
    "render|--scene|banks|--set|stride=4|--time|2|--size|640x400|-o|out.svg",
    "render|--scene|coalescing|--compare|stride=32|--range|0|2|--fps|1|-o|out.json",
    "list|--json",
    "present|coalescing-and-banks|--slide|3|--check",
    "record|--scene|coalescing|--check|-o|mine.gpurec",
    "verify|data.npy|--json",
    "sweep|mine.ptx|--entry|in_order|--vary|n=1..4|--grid|{n}|--block|64|--arg|f32[512]=rand"
    "|--arg|f32[512]=zeros|--level|ptx|--workers|1|-o|out.jsonl",
    "run|--scene|coalescing|--device|0",
    "device|--json",
)


def make(random: Random) -> bytes:
    """A command line."""
    words = random.choice(_LINES).split("|")
    for _ in range(random.randint(1, 3)):
        at = random.randrange(1, len(words)) if len(words) > 1 else 0
        match random.randrange(7):
            case 0:
                words[at] = nasty.word(random)[:60_000]
            case 1:
                words[at] = nasty.number(random)
            case 2:
                words[at] = _spec(random)
            case 3:
                words.insert(at, random.choice(words))
            case 4:
                del words[at]
            case 5:
                words[at] = f"{nasty.number(random)},{nasty.number(random)},1"
            case _:
                words[at] = changed_text(random, words[at], most=2)[:60_000]
    return b"\0".join(encoded(word.replace("\0", "")) for word in words)


def _spec(random: Random) -> str:
    count = random.choice(("", "[256]", f"[{nasty.number(random)}]", "[]", "[1e9]"))
    fill = random.choice((*_FILLS, nasty.number(random), nasty.word(random)[:300]))
    return f"{random.choice(_KINDS)}{count}={fill}"


def command(file: Path) -> Sequence[str]:
    """As a shell gives it; what would open a window, or fill the disk, is refused here."""
    words = file.read_bytes().decode(errors="surrogateescape").split("\0")
    if words[:1] == ["present"] and "--check" not in words:
        words.append("--check")
    return words if len(words) > 1 else [*words, "--help"]


KIND = Kind("arguments", 200, ".args", make, (command,))
