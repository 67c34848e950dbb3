"""What sinks hear of a launch, and in which order."""

import numpy as np
import pytest

from gpuviz.base.errors import KernelFault
from gpuviz.ptx.checks.race import RaceCheck
from gpuviz.ptx.decode import locate
from gpuviz.ptx.emulator import Options
from gpuviz.traces.observe import Listeners, Sink, Warps
from gpuviz.traces.trace import lane_mask
from tests.ptx.launching import launch

# Blocks of 80 threads: 3 warps, the last half full. Blocks below `odd` read one word for all.
KERNEL = """
extern "C" __global__ void k(const int* in, int* out, int apart)
{
    __shared__ int s[80];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x];
    __syncthreads();
    if (t % 2 < apart) s[t] += in[t];
    __syncthreads();
    out[blockIdx.x * 80 + t] = s[79 - t];
}
"""


class Diary(Sink):
    """Writes everything down."""

    def __init__(self) -> None:
        self.events: list[tuple] = []

    def launch_begin(self, launch, report):
        self.events.append(("launch_begin", launch.blocks))

    def launch_end(self):
        self.events.append(("launch_end",))

    def blocks_begin(self, first, count):
        self.events.append(("blocks_begin", first, count))

    def blocks_end(self, first, count):
        self.events.append(("blocks_end", first, count))

    def instructions(self, stretch, lanes):
        warps, active = lanes.rows()
        count = 32 * len(warps.first) if active is None else int(active.sum())
        assert count * warps.repeat == lanes.threads
        assert len(warps.first) * warps.repeat == lanes.warps
        self.events.append(("instructions", stretch, lanes.threads, lanes.warps))

    def access(self, access):
        assert access.repeat == access.warps.repeat
        self.events.append(("access", access))

    def branch(self, at, warps, divergent, taken, not_taken):
        self.events.append(("branch", at.line, warps, divergent, taken, not_taken))

    def barrier(self, at, blocks, meeting=None):
        self.events.append(("barrier", at.line, blocks.tolist()))

    def finding(self, finding):
        self.events.append(("finding", finding.kind))

    def of(self, *kinds: str) -> list[tuple]:
        return [event for event in self.events if event[0] in kinds]


def heard(apart: int = 1, blocks: int = 5, sinks=(), **options):
    diary = Diary()
    given = np.arange(80, dtype=np.int32), np.zeros(80 * blocks, np.int32)
    more = {"sinks": [diary, *sinks], "options": Options(**options)}
    return diary, launch(KERNEL, "k", blocks, 80, *given, apart, **more)


def test_only_what_is_overridden_is_heard() -> None:
    class Ends(Sink):
        def launch_end(self) -> None: ...

    told = Listeners([Sink(), Ends(), Diary()])
    assert len(told.launch_end) == 2
    once = {event for event in vars(told) if len(getattr(told, event)) == 1}
    both = {event for event in vars(Sink) if event in vars(Diary)}
    assert once == {event for event in both if not event.startswith("__")} - {"launch_end"}


def test_events_come_in_their_order() -> None:
    diary, result = heard()
    kinds = [event[0] for event in diary.events]
    assert kinds[:2] == ["launch_begin", "blocks_begin"]
    assert kinds[-2:] == ["blocks_end", "launch_end"]
    assert diary.of("blocks_begin", "blocks_end") == [("blocks_begin", 0, 5), ("blocks_end", 0, 5)]
    assert diary.of("barrier") == [("barrier", line, [0, 1, 2, 3, 4]) for line in (7, 9)]
    assert diary.of("branch") == [("branch", 8, 15, 15, 200, 200)]
    phases: list[list[str]] = [[]]
    for event in diary.of("access", "barrier"):
        if event[0] == "barrier":
            phases.append([])
        else:
            phases[-1].append(f"{event[1].instruction.op} {event[1].instruction.space}")
    assert [sorted(phase) for phase in phases] == [
        ["load global", "store shared"],
        ["load global", "load shared", "store shared"],
        ["load shared", "store global"],
    ]
    at = kinds.index("barrier")
    assert kinds[at - 2 : at] == ["access", "instructions"]


def test_stretches_add_up_to_the_launch() -> None:
    diary, result = heard()
    ran = diary.of("instructions")
    assert sum(s.count * threads for _, s, threads, _ in ran) == result.trace.thread_instructions
    assert sum(s.count * warps for _, s, _, warps in ran) == result.trace.warp_instructions


@pytest.mark.parametrize("part", [(0, 1, 2, 3, 4), (3,), (1, 4), ()])
def test_accesses_tell_whose_they_are(part: tuple[int, ...]) -> None:
    """Whether rows stand for one warp or for many, spread out they are one a warp."""
    diary, result = heard(apart=2, record=tuple(range(5)))
    for _, access in diary.of("access"):
        row, block, warp = access.warps.of(np.array(part, np.int64))
        assert list(zip(block, warp, strict=True)) == [(b, w) for b in part for w in range(3)]
        kept = result.trace.requests
        mine = np.array([result.trace.instructions[i] for i in kept.instruction])
        rows = (mine == access.instruction) & np.isin(kept.block, part)
        active = np.ones((len(row), 32), bool) if access.active is None else access.active[row]
        assert np.array_equal(lane_mask(kept.active[rows]), active)
        assert np.array_equal(kept.address[rows][active], access.address[row][active])


def test_alike_warps_share_a_row() -> None:
    diary, _ = heard(blocks=4)
    loads = [e[1] for e in diary.of("access") if e[1].instruction.space == "global"]
    rows = [(len(a.address), a.warps.blocks, a.warps.warps) for a in loads]
    assert rows[:2] == [(12, 1, 1), (3, 4, 1)]


@pytest.mark.parametrize(
    "warps, blocks, expected",
    [
        (Warps(np.array([6, 8, 9, 11]), 3), [2, 3], [(0, 2, 0), (1, 2, 2), (2, 3, 0), (3, 3, 2)]),
        (Warps(np.array([6, 8]), 3, blocks=2), [3], [(0, 3, 0), (1, 3, 2)]),
        (Warps(np.array([6, 9]), 3, warps=3), [3, 4], [(1, 3, 0), (1, 3, 1), (1, 3, 2)]),
        (Warps(np.array([2]), 2, 2, 2), [1, 2, 5], [(0, b, w) for b in (1, 2) for w in (0, 1)]),
        (Warps(np.array([6]), 3), [], []),
    ],
)
def test_rows_are_spread_out_by_block_and_warp(warps, blocks, expected) -> None:
    found = warps.of(np.array(blocks, np.int64))
    assert list(zip(*(column.tolist() for column in found), strict=True)) == expected


def test_what_nobody_hears_is_not_made(monkeypatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("nobody listens")

    monkeypatch.setattr(locate, "access_of", fail)
    out = np.zeros(80, np.int32)
    given = np.arange(80, dtype=np.int32), out, 1
    launch(KERNEL, "k", 1, 80, *given, options=Options(record=()))
    with pytest.raises(AssertionError, match="nobody listens"):
        launch(KERNEL, "k", 1, 80, *given, options=Options(record=(0,)))


def test_what_a_sink_reports_is_heard_and_kept() -> None:
    clean, dirty = RaceCheck(), RaceCheck()
    assert not heard(sinks=[clean])[0].of("finding")
    racing = KERNEL.replace("__syncthreads();", "")
    diary, given = Diary(), (np.arange(80, dtype=np.int32), np.zeros(400, np.int32), 1)
    result = launch(racing, "k", 5, 80, *given, sinks=[diary, dirty])
    assert diary.of("finding")
    assert {f.kind for f in result.trace.findings} >= {"race, read after write"}


def test_a_launch_that_fails_has_no_end() -> None:
    diary = Diary()
    with pytest.raises(KernelFault):
        launch(KERNEL, "k", 2, 80, np.zeros(1, np.int32), np.zeros(80, np.int32), 1, sinks=[diary])
    assert diary.of("blocks_begin") and not diary.of("blocks_end", "launch_end")


MEETINGS = """
extern "C" __global__ void k(int* out)
{
    __shared__ int s[96];
    int t = threadIdx.x;
    if (t < 32) asm volatile("bar.arrive 1, 64;" ::: "memory");
    else if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    if (t < 8) { out[t] = 1; return; }
    s[t] = 1 + t;
    __syncwarp(0xffffu << (t & 16));
    __threadfence();
    __threadfence_block();
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 2;" ::: "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[t] = __shfl_xor_sync(0xffffffff, s[t], 1);
}
"""


class Meetings(Sink):
    """Hears how threads meet."""

    def __init__(self) -> None:
        self.stores, self.syncs, self.fences = [], [], []
        self.groups, self.barriers, self.exits = [], [], []

    def stored(self, access, values):
        warps = access.warps.first + access.warps.per_block * (access.warps.blocks - 1)
        lanes = access.active if access.active is not None else np.ones((len(warps), 32), bool)
        (new,), (old,) = values.written(warps), values.before(warps)
        self.stores.append((access.instruction.space, new[lanes].tolist(), old[lanes].tolist()))

    def warp_sync(self, sync):
        self.syncs.append(sync)

    def fence(self, at, wide, lanes):
        self.fences.append((at.line, wide, lanes.threads))

    def copies(self, left, lanes):
        self.groups.append((left, lanes.threads))

    def barrier(self, at, blocks, meeting=None):
        self.barriers.append((at.line, blocks.tolist(), meeting))

    def exit(self, stretch, lanes):
        self.exits.append((stretch.lines, lanes.threads))


@pytest.fixture(scope="module")
def met() -> Meetings:
    sink = Meetings()
    launch(MEETINGS, "k", 2, 96, np.full(96, 9, np.int32), sinks=[sink])
    return sink


def test_stores_tell_what_they_write_over_what(met) -> None:
    assert ("global", [1] * 8, [9] * 8) in met.stores  # of the last block that a row stands for
    assert ("shared", [1 + t for t in range(8, 96)], [0] * 88) in met.stores
    assert ("global", [1 + (t ^ 1) for t in range(8, 96)]) in [store[:2] for store in met.stores]
    assert len(met.stores) == 3


def test_warps_tell_who_synchronises_with_whom(met) -> None:
    barrier, shuffle = met.syncs
    assert barrier.at.line == 10 and barrier.sources is None
    assert barrier.warps.repeat * len(barrier.warps.first) == 6
    first = barrier.warps.first % 3 == 0
    assert not barrier.running[first][:, :8].any() and barrier.running[~first].all()
    assert barrier.active is not None and np.array_equal(barrier.active, barrier.running)
    assert barrier.members[~first][0].tolist() == [0xFFFF] * 16 + [0xFFFF0000] * 16
    assert shuffle.sources[0].tolist()[8:] == [lane ^ 1 for lane in range(8, 32)]


def test_fences_groups_of_copies_and_ends_are_told(met) -> None:
    assert met.fences == [(11, True, 176), (12, False, 176)]
    assert met.groups == [(None, 176), (2, 176), (-1, 176)]
    assert sum(count for _, count in met.exits) == 192


def test_a_barrier_of_part_of_a_block_tells_who_came_and_who_waits(met) -> None:
    ((line, blocks, meeting),) = met.barriers
    assert (line, blocks, meeting.count) == (7, [0, 1], 64)
    waits = dict(zip((p.line for p in meeting.places), meeting.waits, strict=True))
    assert waits == {6: False, 7: True}
    lines = np.array([0, *(p.line for p in meeting.places)])[meeting.came]
    assert lines.tolist() == [[6] * 32 + [7] * 32 + [0] * 32] * 2
