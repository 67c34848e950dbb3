"""Launches of which nobody said how long their buffers are: as long as the kernel wants them.

A proposal for an argument knows neither how a kernel computes its indices nor how far they lead.
Where an access ends a launch beyond what was only proposed, the proposal was too short; it says
nothing of the kernel. What somebody did say stays as it is, and an access beyond it is a fault.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from gpuviz.arch import Architecture
from gpuviz.arguments import BufferSpec, Spec, StructSpec, buffers_of
from gpuviz.base.errors import KernelFault
from gpuviz.launch.job import Job
from gpuviz.launch.signature import taken_by
from gpuviz.ptx.emulator import Options
from gpuviz.ptx.text.choices import choosing
from gpuviz.ptx.text.parser import parse
from gpuviz.run import emulated
from gpuviz.run.run import Level, Run
from gpuviz.source.kernel_names import source_parameters
from gpuviz.traces.trace import Finding
from gpuviz.words.language import grouped

_OF_SIZES = ("memory", "race", "init")  # checks whose findings may follow from sizes
_BUFFER = re.compile(r"buffer (\S+) \(")
_WHOLE = re.compile(r"(?:[iu]\d+=)?\d+$")  # a number that may be a size
_TIMES = 8  # as long, each time
_MOST = 1 << 28  # bytes of all buffers that are only proposed


def run(
    job: Job, arch: Architecture, *, level: Level = "sass", options: Options | None = None
) -> tuple[Job, Run]:
    """As `emulated.run`, and the launch that was run: with more room where it was proposed.

    Raises
    ------
    LaunchError, UnsupportedError, KernelFault, Cancelled : as `emulated.run` does, of the launch as
        it was asked for
    """
    tried, first = job, None
    while True:
        try:
            return tried, emulated.run(tried, arch, level=level, options=options)
        except KernelFault as fault:
            first = first or fault
            roomier = larger(tried, fault, arch)
            if roomier is None:
                raise (first if _beyond(fault) else fault) from None
            tried = roomier


def larger(job: Job, fault: KernelFault, arch: Architecture) -> Job | None:
    """A launch with more of the memory that a fault lies beyond; None where that was said, or
    where more would not do.
    """
    if not (kind := _beyond(fault)):
        return None
    if "shared" in kind:
        return _with_shared(job, arch) if job.loose_shared else None
    if (named := _beside(job, fault)) is not None and named not in job.loose:
        return None
    arguments = tuple(
        _longer(one) if number in job.loose else one for number, one in enumerate(job.arguments)
    )
    room = sum(one.size for n in job.loose for one in buffers_of(arguments[n]))
    if arguments == job.arguments or room > _MOST:
        return None
    return replace(job, arguments=arguments)


def _beyond(fault: KernelFault) -> str:
    """What kind of access outside of all memory it is; "" for another fault."""
    found = fault.finding
    return found.kind if isinstance(found, Finding) and found.kind.startswith("illegal ") else ""


def _beside(job: Job, fault: KernelFault) -> int | None:
    """The argument whose buffer is the nearest to an access; None where that is not told."""
    names = source_parameters(job.program.source, job.entry, len(job.arguments))
    named = _nearest(str(getattr(fault.finding, "message", "")))
    return names.index(named) if named in names else None


def _nearest(message: str) -> str:
    found = _BUFFER.search(message)
    return found[1] if found else ""


def as_proposed(run: Run, job: Job) -> Run:
    """A run whose findings accuse no kernel where they may follow from sizes, or buffers, that were
    only proposed: they are warnings that say so, and what to say instead.
    """
    if not job.guesses:
        return run
    function = parse(job.program.ptx).by_name[job.entry]
    taken = taken_by(job.program, job.entry)
    called = {one.name: a.name for one, a in zip(function.params, taken, strict=True)}
    choices = {
        line: {called.get(one, "") for one in names} for line, names in choosing(function).items()
    }
    findings = tuple(_as_proposed(one, job, choices) for one in run.trace.findings)
    return replace(run, trace=replace(run.trace, findings=findings))


def _as_proposed(finding: Finding, job: Job, choices: Mapping[int, Collection[str]]) -> Finding:
    """`choices` are by PTX line the arguments whose values choose what is accessed there."""
    nearest = _nearest(finding.message)
    chosen = choices.get(finding.ptx_line, [one.removesuffix("[]") for one in job.guesses])
    guilty = {
        name: text
        for name, text in job.guesses.items()
        if name == nearest
        or name in ("grid", "block")
        or name.removesuffix("[]").partition(".")[0] in chosen
        or _WHOLE.match(text)
    }
    if not guilty or finding.check not in _OF_SIZES:
        return finding
    said = ", ".join(f"{name} = {text}" for name, text in guilty.items())
    return replace(
        finding,
        severity="warning",
        message=f"as proposed ({said}): {finding.message}",
        remedy=f"say what is right of {', '.join(guilty)}: nobody did, and the kernel may be right",
    )


def _with_shared(job: Job, arch: Architecture) -> Job | None:
    """With all that a block may have: it changes no count."""
    static = job.resources.static_shared_bytes if job.resources else 0
    most = arch.shared_per_block_optin - static
    return replace(job, dynamic_shared=most) if job.dynamic_shared < most else None


def _longer(spec: Spec) -> Spec:
    if isinstance(spec, BufferSpec):
        return _longer_buffer(spec)
    if isinstance(spec, StructSpec):
        fields = (
            replace(one, spec=_longer_buffer(one.spec)) if isinstance(one.spec, BufferSpec) else one
            for one in spec.fields
        )
        return replace(spec, fields=tuple(fields))
    return spec


def _longer_buffer(spec: BufferSpec) -> BufferSpec:
    """What a file or a list fills is as long as that is."""
    return spec if spec.fill[0] in "@[" else replace(spec, count=spec.count * _TIMES)


def told(asked: Job, ran: Job, names: Sequence[str]) -> str:
    """What was given more room than was proposed, in words; "" where nothing was."""
    made = [
        f"{names[number] if number < len(names) else number + 1}: {now}"
        for number, (before, now) in enumerate(zip(asked.arguments, ran.arguments, strict=True))
        if before != now
    ]
    if asked.dynamic_shared != ran.dynamic_shared:
        made.append(f"{grouped(ran.dynamic_shared)} bytes of dynamic shared memory")
    return ", ".join(made)
