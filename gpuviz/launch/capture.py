"""Launches that a program made, kept in one file (.gpucapture) that opens on any machine.

It holds texts and arrays: the PTX and machine code of each program, the source as far as it was
known, grid, block and arguments as SPECs, and what was in the buffers, where the user agreed. To be
opened it is unpacked into the cache, as kernel files like any others.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from gpuviz.arguments import (
    DTYPES,
    ArraySpec,
    BufferSpec,
    Field,
    PointerSpec,
    ScalarSpec,
    Spec,
    StructSpec,
    parse,
)
from gpuviz.arguments.specs import ArrayArgument, renamed
from gpuviz.base.arrays import Array
from gpuviz.base.errors import InputError
from gpuviz.compile import Program, load_program
from gpuviz.files import archive, bounded, folders, writing
from gpuviz.files.archive import Content, Form
from gpuviz.launch.job import Job
from gpuviz.source.kernel_names import plain_name
from gpuviz.traces.geometry import Triple

FORM = Form("gpuviz capture", 1, "capture", "buffers.npz", 2 << 30)
_KINDS = {np.dtype(kind): name for name, kind in reversed(DTYPES.items())}
_SOURCES = (".cu", ".py")
_FILES = 100  # that a PTX text names, at most


@dataclass(frozen=True)
class _Code:
    """A program: what was launched, and what its lines are of."""

    ptx: str
    cubin: bytes
    source: str
    name: str


@dataclass(frozen=True)
class _Launch:
    """A launch of program number `code`; `@NAME` in its arguments is an array of the file."""

    code: int
    entry: str
    grid: Triple
    block: Triple
    arguments: tuple[str, ...]
    shared: int
    names: tuple[str, ...] = ()  # of the arguments
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Manifest:
    script: str
    programs: tuple[_Code, ...]
    launches: tuple[_Launch, ...]


@dataclass
class _Buffers:
    """The arrays of a file. Those that are not kept are drawn anew, and told."""

    keep: bool
    limit: int
    arrays: dict[str, Array] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)

    def of(self, values: Array, name: str) -> BufferSpec:
        """The elements of a buffer, kept under this name."""
        flat = np.ascontiguousarray(values).reshape(-1)
        if flat.dtype not in _KINDS:  # such as complex numbers and truth values
            flat = flat.view(np.float32 if flat.dtype.kind == "c" else np.uint8)
        kind = _KINDS[flat.dtype]
        if self.keep and flat.nbytes <= self.limit:
            self.arrays[name] = flat
            return BufferSpec(kind, flat.size, f"@{name}")
        fill = "rand" if kind[0] == "f" else "zeros"
        why = f"{flat.nbytes:,} bytes are above the limit" if self.keep else "not to be kept"
        self.left.append(f"{name.partition('.')[2]} holds {fill}: its content was left out, {why}")
        return BufferSpec(kind, flat.size, fill)


def write(
    path: Path, script: str, jobs: Sequence[Job], *, keep: bool, limit: int
) -> tuple[str, ...]:
    """Keep launches of a script, with the content of buffers of at most `limit` bytes each if it is
    to be kept; what was left out, in words.

    Raises
    ------
    InputError : the file cannot be written, or an argument is of a kind that a file cannot hold
    """
    codes: dict[str, _Code] = {}
    launches, left = [], list[str]()
    buffers = _Buffers(keep, limit)
    for number, job in enumerate(jobs, 1):
        program = job.program
        code = _Code(program.ptx, program.cubin, program.source, program.name)
        codes.setdefault(program.ptx, code)
        at = list(codes).index(program.ptx)
        buffers.left = []
        arguments = tuple(map(str, _written(job, number, buffers)))
        launches.append(
            _Launch(
                at,
                job.entry,
                job.grid,
                job.block,
                arguments,
                job.dynamic_shared,
                job.names,
                tuple(buffers.left),
            )
        )
        left += (f"launch {number}, {plain_name(job.entry)}: {one}" for one in buffers.left)
    archive.write(
        path, FORM, _Manifest(script, tuple(codes.values()), tuple(launches)), buffers.arrays
    )
    return tuple(left)


def _written(job: Job, number: int, buffers: _Buffers) -> Iterable[Spec]:
    """The arguments as SPECs; an array that was given before is a pointer to it."""
    seen: dict[int, int] = {}
    for at, spec in enumerate(job.arguments):
        name = job.names[at] if at < len(job.names) else f"arg{at}"
        if isinstance(spec, ArrayArgument) and spec.values.ndim:
            first = seen.setdefault(id(spec.values), at)
            if first != at:
                yield PointerSpec(first)
                continue
        yield _plain(spec, f"{number}.{name}", buffers)


def _plain(spec: Any, name: str, buffers: _Buffers) -> Any:
    """An argument, or what lies in one, as a SPEC with a text."""
    if isinstance(spec, StructSpec):
        fields = (
            Field(one.name, one.offset, _plain(one.spec, f"{name}.{one.name}", buffers))
            for one in spec.fields
        )
        return replace(spec, fields=tuple(fields))
    if not isinstance(spec, ArrayArgument):
        return spec
    if spec.values.ndim:
        return buffers.of(spec.values, name)
    kind = _KINDS.get(spec.values.dtype)
    if kind is not None:
        return ScalarSpec(kind, spec.values.item())
    content = np.frombuffer(spec.values.tobytes(), np.uint8)
    return ArraySpec("u8", content.size, f"[{','.join(map(str, content))}]")


@dataclass(frozen=True)
class CapturedLaunch:
    """A launch out of a capture, whose program and buffers lie in files of this machine now."""

    path: Path  # of the PTX
    entry: str
    grid: Triple
    block: Triple
    arguments: tuple[str, ...]
    shared: int
    names: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def name(self) -> str:
        """Of the kernel, as in its source."""
        return plain_name(self.entry)

    def job(self) -> Job:
        """What is run; a stranger's, as nobody knows whose program it was."""
        program: Program = load_program(self.path)
        specs = tuple(map(parse, self.arguments))
        how = self.grid, self.block, specs, self.shared
        return Job(program, self.entry, *how, names=self.names)


def unpacked(path: Path) -> tuple[CapturedLaunch, ...]:
    """The launches in a file, in the order in which they were made.

    Raises
    ------
    InputError : the file cannot be read, or unpacked
    FormatError : it is no capture, damaged, or of a newer gpuviz
    """
    content = archive.read(path, FORM, _Manifest)
    said = content.manifest
    codes = [len(one.ptx) + len(one.source) + len(one.cubin) for one in said.programs]
    if sum(codes[one.code] for one in said.launches if 0 <= one.code < len(codes)) > FORM.largest:
        raise content.damaged(f"it would unpack to more than {bounded.amount(FORM.largest)}")
    key = hashlib.sha256(repr((said, *map(_digest, content.arrays.items()))).encode()).hexdigest()
    home = folders.cache() / "captures" / key[:16]
    arrays = {name: home / f"{n}.npy" for n, name in enumerate(content.arrays, 1)}
    for name, file in arrays.items():
        packed = io.BytesIO()
        np.save(packed, content.arrays[name], allow_pickle=False)
        _put(file, packed.getvalue())
    return tuple(_launch(content, n, home, arrays) for n in range(len(said.launches)))


def _digest(named: tuple[str, Array]) -> tuple[str, str]:
    return named[0], hashlib.sha256(named[1].tobytes()).hexdigest()


def _unpack_code(home: Path, number: int, code: _Code) -> Path:
    """The files of a launch's program; its PTX."""
    name = PurePosixPath(code.name.replace("\\", "/")).name
    stem, suffix = PurePosixPath(name).stem, PurePosixPath(name).suffix
    plain = "".join(c if c.isalnum() or c in "-_" else "_" for c in stem)[:60]
    place = home / f"{number}-{plain}.ptx"
    lines = place.with_suffix(suffix if suffix in _SOURCES else _SOURCES[0])
    ptx = code.ptx.replace(f'"{code.name}"', f'"{lines.name}"', _FILES)  # in its .file
    _put(place, ptx.encode())
    _put(lines, code.source.encode())
    _put(place.with_suffix(".cubin"), code.cubin)
    return place


def _put(file: Path, content: bytes) -> None:
    """What was unpacked before is not believed."""
    if content and not (file.is_file() and bounded.read(file, FORM.largest) == content):
        writing.write(file, content, parents=True, durable=False)


def _launch(
    content: Content[_Manifest], number: int, home: Path, arrays: dict[str, Path]
) -> CapturedLaunch:
    one, programs = content.manifest.launches[number], content.manifest.programs
    if not 0 <= one.code < len(programs):
        raise content.damaged(f"there is no program {one.code}")

    def placed(name: str) -> str:
        if name not in arrays:
            raise content.damaged(f"it holds no array {name!r}")
        return str(arrays[name])

    try:
        specs = tuple(str(renamed(parse(text), placed)) for text in one.arguments)
    except InputError as error:
        raise content.damaged(str(error)) from None
    place, sizes = _unpack_code(home, number + 1, programs[one.code]), (one.grid, one.block)
    return CapturedLaunch(place, one.entry, *sizes, specs, one.shared, one.names, one.notes)
