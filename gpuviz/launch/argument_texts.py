"""Arguments as people write them, with what is known of the parameter, as a launch takes them.

1024, n, n*m, ceil(n/256)      a scalar; names are other arguments, sizes, block.x, threads
rand(n), zeros(f32, n), rand(n, seed=3), ones    a buffer
rand(n + 6) + 3, a + 3         a pointer into it, or into the buffer of argument `a`
@file.npy, @file.bin, @image.png                 a buffer as long as the file
[1, 2, 3]                      its elements
tensormap(f16[n, k]=rand, box=64x64, swizzle=128)   a CUtensorMap; `a[n, k]` of buffer a
{n=4, data=rand(n)}            a structure; one of its fields alone is called p.n
f32[n*m]=rand, i32=n           with the type said
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from gpuviz.arguments import (
    DTYPES,
    FILLS,
    FLOATS,
    MODES,
    ArraySpec,
    BufferSpec,
    Field,
    ImageSpec,
    PointerSpec,
    ScalarSpec,
    Spec,
    StructSpec,
    TensorMapSpec,
    parse,
    size_of,
)
from gpuviz.arguments.expressions import evaluate, number
from gpuviz.arguments.filling import count_in, size_of_image
from gpuviz.base.errors import InputError
from gpuviz.launch.signature import KernelParameter
from gpuviz.source.kernel_names import split_at_commas as split

_TYPE_BEFORE = re.compile(r"\s*[a-z]+\d\w*\s*=(.*)$", re.DOTALL)  # `i32=7`: only its value counts


class Scope(Mapping[str, Fraction]):
    """Names as the numbers that their texts come to, whatever order they refer to each other in."""

    def __init__(
        self, texts: Mapping[str, str], constant: Callable[[str], int | None] = lambda name: None
    ) -> None:
        """`texts` are expressions by name; `constant` knows those of the source."""
        self._texts, self._constant = texts, constant
        self._known: dict[str, Fraction] = {}
        self._asked: list[str] = []

    def __getitem__(self, name: str) -> Fraction:
        if name not in self._known and name not in self._texts:
            self._known[name] = Fraction(self._constant(name) or 0)
        if name not in self._known:
            if name in self._asked:
                circle = " -> ".join((*self._asked[self._asked.index(name) :], name))
                raise InputError(f"{name} depends on itself: {circle}; give one of them a number")
            self._asked.append(name)
            try:
                typed = _TYPE_BEFORE.match(self._texts[name])
                self._known[name] = number(typed[1] if typed else self._texts[name], self)
            except InputError as error:
                if len(self._asked) > 1 or "depends on itself" in str(error):
                    raise
                raise InputError(f"{name}: {error}") from None
            finally:
                self._asked.pop()
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __contains__(self, name: object) -> bool:
        return name in self._texts or self._constant(str(name)) is not None


_TYPED = re.compile(r"(\w+)\s*(?:\[(.*?)\]\s*(?:\+([^=]*))?|\*([^=]*))?=(.*)$", re.DOTALL)
_CALL = re.compile(rf"({'|'.join(FILLS)})\s*\((.*)\)\s*(?:\+(.*))?$", re.DOTALL)
_IMAGE = re.compile(r"(?:image\s+)?(\w+?)(?:\*(\d))?\[(.*?)\]([a-z ]*)=(.*)$", re.DOTALL)
_TENSOR = re.compile(
    r"tensormap\s*\(\s*(\w+)\s*\[(.*?)\]\s*(=.*?)?((?:,\s*[a-z]+\s*=\s*\w+\s*)*)\)$", re.DOTALL
)
_INTO = re.compile(r"([A-Za-z_][\w.]*)\s*(?:\+(.*))?$", re.DOTALL)
_SUFFIXED = re.compile(r"[+-]?[\d.]+(?:[eE][+-]?\d+)?[fFuUlL]+")
_WORDS = (*FILLS, "nan", "inf", "-inf", "+inf", "infinity", "-infinity", "true", "false")
Plain = BufferSpec | ArraySpec | ScalarSpec | PointerSpec | ImageSpec | TensorMapSpec


@dataclass(frozen=True)
class Reader:
    """Reads the texts of one launch: what there is to give, what names mean, how long a buffer is
    where its text does not say (by the name of what it is for).
    """

    taken: tuple[KernelParameter, ...]
    scope: Scope
    lengths: Mapping[str, int] = field(default_factory=dict)
    folder: Path = field(default_factory=Path)

    def spec(self, taken: KernelParameter, texts: Mapping[str, str]) -> Spec:
        """The argument for a parameter from the texts of it, or of its fields.

        Raises
        ------
        InputError : names the parameter or field, and says what is wrong
        """
        if taken.kind != "struct":
            return self._one(taken, texts[taken.name])
        fields = []
        for one in taken.fields:
            inner = self._one(one, texts[one.name])
            assert not isinstance(inner, TensorMapSpec)  # those are parameters of their own
            name = one.name.partition(".")[2] or one.name
            fields.append(Field(name, one.offset, inner))
        return StructSpec(taken.size, tuple(fields))

    def _one(self, taken: KernelParameter, text: str) -> Plain:
        try:
            found = self._read(taken, text.strip())
        except InputError as error:
            said = str(error)
            raise InputError(
                said if said.startswith(taken.name) else f"{taken.name}: {said}"
            ) from None
        if isinstance(found, TensorMapSpec):
            return found
        by_value = isinstance(found, ArraySpec | ScalarSpec)
        given = found.size if by_value else 8  # type: ignore[union-attr]
        if taken.offset + given > taken.offset + taken.size or (by_value and given != taken.size):
            raise InputError(
                f"{taken.name}: {found} has {given} bytes, and {taken.size} are wanted"
                f" ({_wanted(taken)})"
            )
        return found

    def _read(self, taken: KernelParameter, text: str) -> Plain:
        if taken.kind in ("texture", "surface"):
            return self._image(taken, text)
        if taken.kind == "tensormap":
            return self._tensor_map(text)
        if typed := _TYPED.match(text):
            if typed[1] not in DTYPES:
                raise InputError(f"{text!r}: {self._unknown(typed[1])}")
            return self._typed(taken, text, typed)
        if taken.buffer:
            return self._buffer(taken, text)
        if taken.count > 1:
            return _plain(f"{taken.kind}*{taken.count}={self._fill(taken.kind, text)}")
        if text.split("(")[0].strip() in FILLS or text[:1] in "@{[":
            raise InputError(f"{text!r} is for a buffer; this is one number ({taken.kind})")
        return self._scalar(taken.kind, text)

    def _unknown(self, word: str) -> str:
        """What a word before `=` could be, which is no type: perhaps a parameter, misspelt."""
        names = ", ".join(taken.name for taken in self.taken)
        return f"{word!r} is no parameter ({names}) and no type ({', '.join(DTYPES)})"

    def _typed(self, taken: KernelParameter, text: str, typed: re.Match[str]) -> Plain:
        """`f32[n]=rand`, `f32*4=ones`, `i32=n`."""
        kind, count, offset, inline, value = (
            typed[1],
            typed[2],
            typed[3],
            typed[4],
            typed[5].strip(),
        )
        if count is None and inline is None:
            if taken.buffer and value not in ("0", "null", "nullptr"):
                raise InputError(
                    f"{text!r} is one number; this is a pointer: write rand(1024) or "
                    f"{taken.kind}[1024]=rand"
                )
            return self._scalar(kind, value)
        fill = self._fill(kind, value)
        if inline is not None:
            return _plain(f"{kind}*{evaluate(inline, self.scope)}={fill}")
        after = f"+{evaluate(offset, self.scope)}" if offset else ""
        return _plain(f"{kind}[{evaluate(count, self.scope)}]{after}={fill}")

    def _buffer(self, taken: KernelParameter, text: str) -> Plain:
        if text in ("0", "null", "NULL", "nullptr"):
            return ScalarSpec("u64", 0)
        if text.startswith("@"):
            name = self.placed(text[1:])
            count = count_in(Path(name), taken.kind, taken.lanes)
            return BufferSpec(taken.kind, count, f"@{name}")
        if text.startswith("["):
            return _plain(f"{taken.kind}[{len(split(text[1:-1]))}]={self._fill(taken.kind, text)}")
        if called := _CALL.match(text):
            return self._called(taken, called)
        head, _, after = text.partition("+")
        if head.strip() in FILLS:
            offset = f"+{evaluate(after, self.scope)}" if after else ""
            count = self.lengths.get(taken.name, 1)
            return _plain(f"{taken.kind}[{count}]{offset}={head.strip()}")
        into = _INTO.match(text)
        if into and into[1] in {one.name for one in self.taken if one.buffer}:
            return self._into(into[1], into[2])
        others = ", ".join(one.name for one in self.taken if one.buffer) or "none"
        raise InputError(
            f"{text!r} is no buffer: write {', '.join(FILLS)} with a length, as in rand(1024), "
            f"@file.npy, [1, 2, 3], or another buffer, as in a + 3 (there are: {others})"
        )

    def _image(self, taken: KernelParameter, text: str) -> Plain:
        """`image f32[64, n] wrap=rand`, `f32[64, 64]=rand`, `@photo.png linear float`."""
        kind = taken.image.partition("[")[0]
        if text.startswith("@"):
            name, *modes = text[1:].split(" ")
            path = self.placed(name)
            width, height = size_of_image(Path(path))
            return _plain(f"image {kind}[{width},{height}] {' '.join(modes)}=@{path}")
        found = _IMAGE.match(text)
        if found is None:
            raise InputError(
                f"{text!r} is no texture or surface: write {taken.image} MODES=FILL, as in "
                f"{taken.image} wrap=rand, or @photo.png (modes: {', '.join(MODES)})"
            )
        sizes = ",".join(str(evaluate(one, self.scope)) for one in split(found[3]))
        each = f"*{found[2]}" if found[2] else ""
        fill = self._fill(found[1], found[5].strip())
        return _plain(f"image {found[1]}{each}[{sizes}] {found[4].strip()}={fill}")

    def _tensor_map(self, text: str) -> TensorMapSpec:
        """`tensormap(f16[n, k]=rand, box=64x64)`, `tensormap(a[n, k], box=64x64, swizzle=128)`."""
        found = _TENSOR.match(text)
        if found is None:
            raise InputError(
                f"{text!r} is no tensor map: write tensormap(f16[ROWS, COLUMNS]=rand, "
                "box=ROWSxCOLUMNS, swizzle=128), or another buffer in place of f16"
            )
        kind, fill = found[1], (found[3] or "=zeros")[1:].strip()
        if kind in DTYPES:
            fill = self._fill(kind, fill)
        else:
            name = kind
            buffers = {one.name: one for one in self.taken if one.buffer}
            if name not in buffers:
                there = ", ".join(buffers) or "none"
                raise InputError(f"{name} is neither a type nor a buffer (there are: {there})")
            kind, fill = buffers[name].kind, str(self._into(name, None))
        sizes = ",".join(str(evaluate(one, self.scope)) for one in split(found[2]))
        made = parse(f"tensormap({kind}[{sizes}]={fill}{found[4]})")
        assert isinstance(made, TensorMapSpec)
        return made

    def _called(self, taken: KernelParameter, called: re.Match[str]) -> Plain:
        """`zeros(f32, n)`, `rand(n, seed=3) + 2`."""
        kind, seed, plain = taken.kind, "", list[str]()
        for part in split(called[2]):
            name, sign, value = part.partition("=")
            if sign and name.strip() == "seed":
                seed = f"({evaluate(value, self.scope)})"
            elif part.strip() in DTYPES:
                kind = part.strip()
            else:
                plain.append(part)
        if len(plain) > 1:
            raise InputError(
                f"{called[0]!r}: write {called[1]}(TYPE, LENGTH), as in {called[1]}(f32, 1024)"
            )
        count = evaluate(plain[0], self.scope) if plain else self.lengths.get(taken.name, 1)
        after = f"+{evaluate(called[3], self.scope)}" if called[3] else ""
        return _plain(f"{kind}[{count}]{after}={called[1]}{seed}")

    def _into(self, name: str, after: str | None) -> PointerSpec:
        number = next(n for n, one in enumerate(self.taken) if one.name == name and one.buffer)
        one = self.taken[number]
        elements = evaluate(after, self.scope) if after else 0
        if elements < 0:
            raise InputError(f"{name} + {elements} lies before the buffer")
        return PointerSpec(number, elements * one.lanes * size_of(one.kind))

    def _fill(self, kind: str, value: str) -> str:
        """A fill with the expressions in it worked out."""
        if value in FILLS or re.fullmatch(r"(rand|shuffle)\(\d+\)", value):
            return value
        if value.startswith("@"):
            return f"@{self.placed(value[1:])}"
        if value.startswith("[") and value.endswith("]"):
            return "[" + ",".join(self._number(kind, one) for one in split(value[1:-1])) + "]"
        return self._number(kind, value)

    def _scalar(self, kind: str, text: str) -> Plain:
        return _plain(f"{kind}={self._number(kind, text)}")

    def _number(self, kind: str, text: str) -> str:
        text = text.strip()
        plain = text.rstrip("fFuUlL") if _SUFFIXED.fullmatch(text) else text
        if plain.lower() in ("true", "false"):
            return str(int(plain.lower() == "true"))
        if re.fullmatch(r"'.'", plain):
            return str(ord(plain[1]))
        if plain in _WORDS or _is_literal(plain, kind):
            return plain
        if kind not in FLOATS:
            return str(evaluate(plain, self.scope))
        return repr(float(number(plain, self.scope)))

    def placed(self, name: str) -> str:
        """A file's whole name; a relative one is seen from the folder of what names it."""
        path = Path(name.strip()).expanduser()
        return str(path if path.is_absolute() else self.folder / path)


def flattened(
    taken: Iterable[KernelParameter], texts: Mapping[str, str], there_are: str = "there are"
) -> dict[str, str]:
    """Texts by the names of parameters and fields; `{n=4}` for `p` is `4` for `p.n`.

    Raises
    ------
    InputError : there is no such parameter or field
    """
    known = {leaf.name: leaf for one in taken for leaf in one.leaves}
    found: dict[str, str] = {}
    for name, text in texts.items():
        for path, value in _inside(name, text):
            if path not in known:
                there = ", ".join(known) or "none"
                raise InputError(f"there is no {path}: {there_are} {there}")
            found[path] = value
    return found


def _inside(name: str, text: str) -> Iterator[tuple[str, str]]:
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}")) or re.match(r"\{\s*\d+\s*[;}]", text):
        yield name, text
        return
    for part in split(text[1:-1]):
        field_name, sign, value = part.partition("=")
        if not sign or not field_name.strip():
            raise InputError(f"{name}: {part.strip()!r} is no field: write {{NAME=VALUE, ...}}")
        yield from _inside(f"{name}.{field_name.strip()}", value)


def _plain(text: str) -> Plain:
    found = parse(text)
    assert isinstance(found, Plain)
    return found


def _is_literal(text: str, kind: str) -> bool:
    try:
        return isinstance(ast.literal_eval(text), int | float if kind in FLOATS else int)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False


def _wanted(taken: KernelParameter) -> str:
    return taken.kind if taken.count == 1 else f"{taken.count} of {taken.kind}"
