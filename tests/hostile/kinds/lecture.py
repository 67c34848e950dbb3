"""Lectures: the TOML of ours and of kernels beside the file, changed as text and as values."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random

from gpuviz.base import resources
from tests.hostile import nasty
from tests.hostile.kind import Kind
from tests.hostile.mutation import changed_bytes, changed_text, encoded

_HEAD = 'gpuviz-lecture = 1\ntitle = "Mine"\nminutes = 5\nlanguage = "en"\n\n'
_KERNEL = """[[slide]]
title = "Mine"
stops = "steps"
[slide.kernel]
file = "mine.cu"
entry = "in_order"
grid = "2"
block = "64"
arguments = "f32[256]=@data.npy f32[256]=zeros"
[slide.question]
ask = "How many?"
choices = [4, 8]
count = "global_load_sectors"

"""
_LESSON = """[[slide]]
lesson = "banks"
values = { stride = 8 }
compare = { stride = 1 }
arch = "sm_80"
stops = [0, 1.5]
numbers = ["shared_load_wavefronts", "time"]
words = "Some **words**"
notes = "[1 min] Say this."

"""
_WORDS = r"""[[slide]]
title = "Words"
markdown = true
words = '''
# Head **bold** `code` $\frac{1}{s}$ <b>
- one
  1. ![here](data.png) ![there](../../secret.png) ![far](http://x.org/a.png)
> quoted [link](javascript:alert)

```cuda
int x = 2; // comment
```
$$\sum_{i=0}^{31} \left( x_i \right)$$

| a | b |
|--:|---|
| 1 | **2** |
'''
notes = "Say this."

"""
_KEYS = (
    *("title", "lesson", "values", "arch", "level", "compare", "compare_arch", "kernel", "trace"),
    *("stops", "question", "numbers", "words", "notes", "slide", "markdown"),
    *("a" + ".b" * 20_000, '"\\u0000"'),
)
_VALUES = (
    *('"don\'t"', "[[[[]]]]", "{ a = { b = {} } }", "[" * 3000, "1979-05-27T07:32:00Z", "07:32:00"),
    *("inf", "-inf", "nan", "9" * 9000, "1e400", "0x" + "f" * 400, "true", '""', "[]", "{}", "-1"),
    *(
        '"~/secret.key"',
        '"/etc/passwd"',
        '"pipe.npy"',
        '"loop.cu"',
        '"/dev/zero"',
        '"../in/mine.cu"',
    ),
    *(
        '"u8[1]=@~/secret.key"',
        '"u8[1]=@/etc/passwd"',
        '"f32[256]=@pipe.npy"',
        '"u8[9]=@/dev/zero"',
    ),
    *('"2147483647"', '"1,2,3,4"', '"0"', '"-1"', '"1e9"', "[2, 64]", '"9999999999999999999"'),
    *(
        '"""' + "long\n" * 3000 + '"""',
        '"\\u001b[2J"',
        '"mine.ptx"',
        '"strided"',
        '"sm_10"',
        '"sm_999"',
    ),
    *("'''" + text + "'''" for text in ("> " * 900, "[" * 5000, "*" * 5000, "$" * 5000)),
    *("'''" + text + "'''" for text in ("`" * 5000, "|a" * 3000 + "\n" + "|-" * 3000)),
    "'''$$" + "\\frac{1}{" * 60 + "x" + "}" * 60 + "$$'''",
    *("[nan, inf]", "[3, 2, 1]", '["a", 1, 2.5]', '["time"] * 3', "[0" + ", 0" * 3000 + "]"),
)


def make(random: Random) -> bytes:
    """A lecture of a few slides."""
    slides = [
        random.choice((_KERNEL, _LESSON, _WORDS, *_ours())) for _ in range(random.choice((1, 1, 2)))
    ]
    text = _HEAD + "".join(slides)
    for _ in range(random.choice((0, 1, 1, 2, 3))):
        text = _keyed(random, text)
    if random.random() < 0.5:
        text = changed_text(random, text, _VALUES if random.random() < 0.5 else ())
    made = encoded(text)
    return changed_bytes(random, made) if random.random() < 0.1 else made


@cache
def _ours() -> tuple[str, ...]:
    texts = [file.read_text() for file in sorted(resources.path("lectures").iterdir())]
    return tuple(f"[[slide]]{part}" for text in texts for part in text.split("[[slide]]")[1:])


def _keyed(random: Random, text: str) -> str:
    """With a key that gets another value."""
    lines = text.splitlines(keepends=True)
    keyed = [n for n, line in enumerate(lines) if "=" in line and not line.startswith("[")]
    value = random.choice(_VALUES)
    if random.random() < 0.2:
        value = f'"{nasty.word(random)}"'.replace("\n", " ")
    if not keyed or random.random() < 0.25:
        lines.insert(random.randrange(len(lines) + 1), f"{random.choice(_KEYS)} = {value}\n")
    else:
        at = random.choice(keyed)
        lines[at] = f"{lines[at].partition('=')[0]}= {value}\n"
    return "".join(lines)


def check(file: Path) -> Sequence[str]:
    """What of it cannot be read."""
    return "present", str(file), "--check"


def pack(file: Path) -> Sequence[str]:
    """As a bundle."""
    return "present", str(file), "--pack", "packed.gpuviz-lecture"


def render(file: Path) -> Sequence[str]:
    """All its pages."""
    return "render", "--lecture", str(file), "-o", "pages", "--format", "svg", "--size", "640x400"


def edited(file: Path) -> None:
    """Written again, as the window keeps what is edited."""
    from gpuviz.lectures.reading import read
    from gpuviz.lectures.writing import write

    made = read(file)
    write(made, Path("kept.gpuviz-lecture"))
    read(Path("kept.gpuviz-lecture"))


KIND = Kind("lecture", 200, ".gpuviz-lecture", make, (check, pack, render), calls=(edited,))
