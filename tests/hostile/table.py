"""All kinds of inputs. A new one is a file in `kinds` and a row here."""

from __future__ import annotations

from tests.hostile.kind import Kind
from tests.hostile.kinds import (
    arguments,
    bundle,
    cache,
    cuda,
    exported,
    forged,
    launches,
    lecture,
    link,
    named,
    names,
    npy,
    older,
    profile,
    ptx,
    ptx_made,
    recording,
    settings,
    sweep,
    tensors,
    trace,
    window,
)

_ALL: tuple[Kind, ...] = (
    ptx.KIND,
    ptx_made.KIND,
    cuda.KIND,
    arguments.KIND,
    npy.KIND,
    launches.KIND,
    lecture.KIND,
    bundle.KIND,
    recording.KIND,
    trace.KIND,
    exported.KIND,
    link.KIND,
    settings.KIND,
    window.KIND,
    cache.KIND,
    sweep.KIND,
    names.KIND,
    named.KIND,
    forged.KIND,
    older.KIND,
    tensors.KIND,
    profile.KIND,
)
KINDS = {kind.name: kind for kind in _ALL}
