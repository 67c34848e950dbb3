"""`gpuviz device`: the GPUs of this machine, and whether their counters can be read."""

import argparse
import json
from dataclasses import asdict

from gpuviz.cli.options import declare
from gpuviz.gpu.client import Gpu
from gpuviz.recordings.measurement import DeviceFacts, Telemetry
from gpuviz.words.terminal import out


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    declare(parser, "device")


def run(arguments: argparse.Namespace) -> int:
    """Print, 0."""
    with Gpu(arguments.device) as gpu:
        devices, own, now = gpu.devices(), gpu.facts(), gpu.telemetry()
    if arguments.json:
        out(
            json.dumps(
                {
                    "devices": [asdict(one) for one in devices],
                    "device": own.index,
                    "telemetry": asdict(now),
                },
                indent=1,
            )
        )
    else:
        out("\n\n".join(as_text(one, now if one == own else None) for one in devices))
    return 0


def as_text(facts: DeviceFacts, now: Telemetry | None) -> str:
    """A GPU for people; counters and telemetry only of the one asked for."""
    lines = [
        f"{facts.index}  {facts.name}  compute capability {facts.capability}, {facts.sm}",
        f"   driver {facts.driver or 'unknown'}, CUDA {facts.cuda}, bus {facts.bus}",
        f"   {facts.multiprocessors} multiprocessors, {facts.memory / 2**30:.1f} GiB, "
        f"L2 {facts.l2 / 2**20:.0f} MiB, up to {facts.clock_mhz:.0f} MHz",
        *(f"   {name} {value:,}" for name, value in facts.limits.items()),
    ]
    if now is not None:
        lines.append("   counters: " + (facts.counters or "available"))
        lines.append("   now: " + _now(now))
    return "\n".join(lines)


def _now(now: Telemetry) -> str:
    told = [
        f"{value:.0f} {unit}"
        for value, unit in ((now.sm_clock, "MHz"), (now.temperature, "°C"), (now.power, "W"))
        if value is not None
    ]
    return ", ".join([*told, *(f"held back by {why}" for why in now.throttle)]) or "unknown"
