"""Arguments that follow a launch: its size, and the signature of its kernel."""

from collections.abc import Iterator
from dataclasses import replace

from gpuviz.arch import architecture
from gpuviz.arguments import parse
from gpuviz.base.errors import InputError
from gpuviz.compile import HostLaunch, Program, entry_name
from gpuviz.launch.host_launch import guessed_by, proposed_by
from gpuviz.launch.job import Job, check_limits
from gpuviz.launch.proposals import guess
from gpuviz.launch.signature import KernelParameter, short_name
from gpuviz.launch.texts import Kernel, LaunchTexts
from gpuviz.story.kernel_launch import KernelLaunch


def written(launch: KernelLaunch, kernel: Kernel) -> LaunchTexts:
    """The launch as its user wrote it; where that is not known, as it is, without the arguments
    that would be proposed for it.
    """
    if launch.said != LaunchTexts():
        try:
            if made(launch, kernel, launch.said) == launch:
                return launch.said
        except InputError:
            pass  # the kernel takes something else now
    threads, arguments, data = launch.threads, dict[str, str](), dict[str, str]()
    for one, text in zip(kernel.taken, launch.arguments, strict=False):
        for leaf, said in _leaves(one, text):
            if said != guess(leaf, threads):
                arguments[leaf.name] = said
    held = {one.mangled: one for one in kernel.data}
    for text in launch.arguments[len(kernel.taken) :]:
        name, _, said = text.partition(":=")
        if name in held:
            data |= {leaf.name: value for leaf, value in _leaves(held[name].taken, said)}
    grid, block = (",".join(map(str, sizes)) for sizes in (launch.grid, launch.block))
    return LaunchTexts(grid, block, str(launch.dynamic_shared), arguments, data)


def _leaves(taken: KernelParameter, text: str) -> Iterator[tuple[KernelParameter, str]]:
    """The texts of the fields of an argument."""
    spec = parse(text)
    fields = {field.offset: str(field.spec) for field in getattr(spec, "fields", ())}
    for leaf in taken.leaves:
        yield leaf, fields.get(leaf.offset, "0") if taken.kind == "struct" or fields else text


def made(launch: KernelLaunch, kernel: Kernel, texts: LaunchTexts) -> KernelLaunch:
    """The launch that texts come to; InputError when they come to none."""
    found = kernel.launch(texts, launch.path.parent)
    return replace(
        launch,
        grid=found.grid,
        block=found.block,
        dynamic_shared=found.shared,
        arguments=tuple(map(str, found.arguments)),
        said=texts,
        guesses=tuple(found.proposed),
    )


def as_written(base: KernelLaunch, host: HostLaunch, entry: str, kernel: Kernel) -> KernelLaunch:
    """The launch that the host code of a file writes, built as `base` is; InputError when what is
    known of it comes to none.
    """
    named = replace(base, entry=entry, name=short_name(entry))
    stated = proposed_by(host, kernel).over(guessed_by(host, kernel))
    return made(named, kernel, stated.over(LaunchTexts("16", "256")))


def fitted(launch: KernelLaunch, entry: str, before: Kernel, kernel: Kernel) -> KernelLaunch:
    """The launch of a kernel (`entry`) in place of the one before.

    What was written goes to the parameter of the same name, or else of the same place, where that
    is of the same kind; the rest is proposed.
    """
    texts = written(launch, before)
    old, new = {one.name: one for one in before.leaves}, {one.name: one for one in kernel.leaves}
    moved = [one for one in before.leaves if one.name not in new]
    room = [one for one in kernel.leaves if one.name not in old]
    renamed = {a.name: b.name for a, b in zip(moved, room, strict=False)}
    kept: dict[str, str] = {}
    for name, text in texts.arguments.items():
        now = new.get(renamed.get(name, name))
        if name in old and now and _kind(now) == _kind(old[name]):
            kept[now.name] = text
    known = {leaf.name for one in kernel.data for leaf in one.taken.leaves}
    data = {name: text for name, text in texts.data.items() if name in known}
    named = replace(launch, entry=entry, name=short_name(entry))
    try:
        return made(named, kernel, replace(texts, arguments=kept, data=data))
    except InputError:  # a name is gone that something else used
        grid, block = (",".join(map(str, size)) for size in (launch.grid, launch.block))
        return made(named, kernel, LaunchTexts(grid, block))


def _kind(taken: KernelParameter) -> tuple[str, bool, int]:
    return taken.kind, taken.buffer, taken.count


def entry_of(launch: KernelLaunch, program: Program) -> str:
    """The kernel that a launch means in a program whose source has been edited since: of the same
    mangled name, or of the same plain one.

    Raises
    ------
    InputError : there is none, or several of that name
    """
    try:
        return entry_name(program.kernels, launch.entry)
    except InputError:
        return entry_name(program.kernels, launch.name)


def check_launch(launch: KernelLaunch, program: Program) -> None:
    """InputError when no device of the program's architecture would accept the launch."""
    given = tuple(map(parse, launch.arguments))
    job = Job(program, launch.entry, launch.grid, launch.block, given, launch.dynamic_shared)
    check_limits(job, architecture(program.arch))
