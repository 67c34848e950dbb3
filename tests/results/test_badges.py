from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from gpuviz.recordings.measurement import Measurement
from gpuviz.results.badges import captions, sizes_listed, sizes_said


def test_days_of_recordings_of_one_device_are_told_together() -> None:
    device: Any = SimpleNamespace(name="NVIDIA H200")
    days = ("2026-11-22", "2026-11-20", "2026-11-22")
    found = [Measurement("recorded", day, device) for day in days]
    assert captions(found) == ("recorded on NVIDIA H200, 2026-11-20, 2026-11-22",)
    assert len(captions([*found, replace(found[0], file="mine.gpurec")])) == 2


def test_many_sizes_are_a_short_line_that_lists_all_when_pointed_at() -> None:
    few = {"naive": "16 x 16", "tiled": "32 x 32"}
    assert sizes_said(few) == "naive: 16 x 16 · tiled: 32 x 32" and not sizes_listed(few)
    same = few | {"private": "32 x 32"}
    assert sizes_said(same) == "naive: 16 x 16 · tiled, private: 32 x 32"
    many = {f"{n} warps": f"{n} blocks" for n in (1, 2, 4, 8, 16)}
    assert sizes_said(many) == "5 launches, from 1 blocks to 16 blocks"
    assert sizes_listed(many).splitlines()[2] == "4 warps: 4 blocks"
    assert sizes_said(dict.fromkeys(many, "one size")) == "one size"


def test_launches_of_one_size_are_named_together() -> None:
    sizes = {"A": "32 warps", "B": "8 warps", "C": "32 warps"}
    assert sizes_said(sizes) == "A, C: 32 warps · B: 8 warps"
