"""A launch as plain values: which kernel of which file, how that is compiled, over how much."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpuviz.traces.geometry import Geometry, Triple


@dataclass(frozen=True)
class LaunchSpec(Geometry):
    """One launch of a lesson. `arguments` are SPECs of the command line (`f32[64]=rand`).

    `role` names the run within the lesson ("tiled", "naive"); `kernel` is a file in
    resources/kernels, or the absolute path of a user's own; `defines` are macros with their values,
    `options` those of the compiler, and folders of headers (`-IFOLDER`) of a user's own kernel.
    """

    role: str
    kernel: str
    entry: str
    grid: Triple
    block: Triple
    arguments: tuple[str, ...]
    defines: tuple[tuple[str, str], ...] = ()
    dynamic_shared: int = 0
    options: tuple[str, ...] = field(default=(), kw_only=True)
