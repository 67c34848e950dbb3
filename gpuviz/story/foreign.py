"""What of a number of launches is a stranger's code: to be asked about before it runs on a GPU."""

from collections.abc import Iterable
from dataclasses import replace

from gpuviz.base.errors import Error
from gpuviz.gpu.consent import Code, asked
from gpuviz.recordings.measurement import DeviceFacts
from gpuviz.run.session import Library, shipped
from gpuviz.story.lesson import Plan
from gpuviz.story.perform import job_of
from gpuviz.story.sources import JobOf


def codes_of(
    plans: Iterable[Plan],
    device: DeviceFacts,
    file: str,
    library: Library | None = None,
    job_of: JobOf = job_of,
) -> tuple[Code, ...]:
    """The strangers' launches of a file, compiled for a GPU, once each.

    What cannot be compiled cannot run either; it is told of when it is to be shown.
    """
    found: dict[str, Code] = {}
    for plan in plans:
        try:
            job = job_of(plan, device.sm, library=library or shipped())
            code = asked(replace(job, file=file), device.known_by)
        except Error:
            continue
        if code is not None:
            found.setdefault(code.digest, code)
    return tuple(found.values())
