"""Coalescing: who reads which address, from lanes to bytes, sectors and lines."""

from dataclasses import replace

from gpuviz.arch import Architecture, architecture
from gpuviz.base.errors import InputError
from gpuviz.course import named
from gpuviz.memory.request import requests_of
from gpuviz.memory.units import in_bytes
from gpuviz.panels.picture import Picture
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Values, number
from gpuviz.story.lesson import no_such_warp as problem
from gpuviz.story.measured import rate_figures
from gpuviz.story.requests.acts import Pace, RequestAct, acts_of, request_board, total
from gpuviz.story.requests.fate import fate_of
from gpuviz.story.requests.sentences import shape, title, verdict
from gpuviz.story.script import Script
from gpuviz.words.language import english, grouped, tr

_ROLE, _KERNEL = "copy", "coalescing.cu"
_KINDS = {1: ("u8", 1), 2: ("u16", 1), 4: ("f32", 1), 8: ("f32", 2), 16: ("f32", 4)}
_NAMES = {1: "unsigned char", 2: "unsigned short", 4: "float", 8: "float2", 16: "float4"}
_END = 1.5  # seconds for the result
_MOST_BLOCKS = 65535  # along x, before CC 3.0
_ROOM, _INDICES = 320 << 20, 1 << 22  # most bytes of the arrays, and most elements of an index
# Kernel, and the elements it skips, of the patterns that take no stride.
_FIXED = {
    "in order": ("in_order", 0),
    "gap": ("with_gap", 2),
    "pair": ("swapped_pair", 0),
    "misaligned": ("misaligned", 1),
    "some lanes": ("some_lanes", 0),
}

LOOK_FOR = "How many 32-byte sectors one warp's request needs, and how many of their bytes it uses."
WORDS = ("request", "sector", "line", "transaction", "coalescing", "stride", "offset", "waste")

PARAMETERS = (
    Parameter(
        "pattern",
        "pattern",
        "strided",
        offers={
            "strided": "strided",
            "random": "random permutation",
            "in order": "in order",
            "gap": "with a gap",
            "pair": "permuted pair",
            "misaligned": "misaligned start",
            "some lanes": "inactive lanes",
        },
        hint="strided: in[i * stride + offset]; random: in[index[i]]; the others are those "
        "of the lecture slides and leave stride and offset aside",
    ),
    Parameter(
        "stride",
        "stride",
        2,
        1,
        32,
        hint="elements from one lane's element to the next; for the strided pattern",
    ),
    Parameter(
        "offset",
        "offset",
        0,
        0,
        31,
        hint="elements skipped before the first; for the strided pattern",
    ),
    Parameter(
        "bytes",
        "element",
        4,
        compiled=True,
        hint="what one thread copies",
        offers={
            n: english(f"{name}, {{n}} byte", f"{name}, {{n}} bytes", n)
            for n, name in _NAMES.items()
        },
    ),
    Parameter("threads", "threads per block", 256, offers=(32, 64, 128, 256, 512, 1024)),
    Parameter(
        "blocks",
        "blocks",
        65536,
        1,
        65536,
        small=64,
        hint="fewer where the arrays would take more than 320 MB, or an index more than 16",
    ),
    Parameter("warp", "warp shown", 0, 0, 31, hint="of block 0"),
)

PRESETS = (
    Preset("Stride 1", {"pattern": "strided", "stride": 1, "offset": 0, "bytes": 4}),
    Preset("Stride 2", {"pattern": "strided", "stride": 2, "offset": 0, "bytes": 4}),
    Preset("Stride 32", {"pattern": "strided", "stride": 32, "offset": 0, "bytes": 4}),
    Preset("Offset 1", {"pattern": "strided", "stride": 1, "offset": 1, "bytes": 4}),
    Preset("Random", {"pattern": "random", "stride": 1, "offset": 0, "bytes": 4}),
    Preset("In order", {"pattern": "in order", "bytes": 4}),
    Preset("With a gap", {"pattern": "gap", "bytes": 4}),
    Preset("Permuted pair", {"pattern": "pair", "bytes": 4}),
    Preset("Misaligned start", {"pattern": "misaligned", "bytes": 4}),
    Preset("Inactive lanes", {"pattern": "some lanes", "bytes": 4}),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """One launch of the copy kernel, of fewer blocks where the first architectures take no more."""
    blocks = _blocks(values)
    made = _launched(values, blocks)
    if blocks <= _MOST_BLOCKS:
        return (made,)
    fewer = _launched(values, blocks // 2)
    size = tr("{size} (here at most {n} blocks)", size=fewer.size, n=grouped(_MOST_BLOCKS))
    return (replace(made, otherwise=replace(fewer, size=size)),)


def _launched(values: Values, blocks: int) -> Plan:
    """The copy kernel, so many blocks of it."""
    width, threads = number(values, "bytes"), number(values, "threads")
    count = threads * blocks
    kind, parts = _KINDS[width]
    entry, reach, rest = _kernel(values, count)
    buffers = (f"{kind}[{reach * parts}]=rand", f"{kind}[{count * parts}]=zeros")
    size = tr("{n} elements of {bytes}", n=grouped(count), bytes=in_bytes(width))
    defines = (("BYTES", str(width)),)
    grid, block = (blocks, 1, 1), (threads, 1, 1)
    arguments = buffers + rest
    return Plan(_ROLE, _KERNEL, entry, grid, block, arguments, defines, size=size, outputs=False)


def _blocks(values: Values) -> int:
    """The blocks asked for, halved until arrays have room on a laptop; a shuffle takes long."""
    count, threads, width = (number(values, name) for name in ("blocks", "threads", "bytes"))
    shuffled = values["pattern"] == "random"
    apart = number(values, "stride") if values["pattern"] == "strided" else 1
    most = min(_ROOM // (width * (apart + 1)), _INDICES if shuffled else _ROOM)
    while count > 1 and count * threads > most:
        count //= 2
    return count


def _kernel(values: Values, count: int) -> tuple[str, int, tuple[str, ...]]:
    """The kernel of a pattern, the elements `in` must have, and arguments after the buffers."""
    pattern = str(values["pattern"])
    if pattern == "random":
        return "permuted", count, (f"i32[{count}]=shuffle",)
    if pattern in _FIXED:
        entry, more = _FIXED[pattern]
        return entry, count + more, (f"i32={more}",) if more else ()
    stride, offset = number(values, "stride"), number(values, "offset")
    return "strided", (count - 1) * stride + offset + 1, (f"i32={stride}", f"i32={offset}")


def narrate(values: Values, runs: Runs) -> Story:
    """The story of one warp's requests."""
    run = runs[_ROLE]
    arch, warp = architecture(run.arch), number(values, "warp")
    script = Script(_ROLE)
    acts = acts_of(script, requests_of(run.trace, arch, 0, warp), Pace())
    if not acts:
        raise InputError(f"the trace has no request of warp {warp} of block 0; record block 0")
    script.act(_END, "result", tr("result"), total(acts))
    main, launch = _main(acts), rate_figures(run)
    fate = fate_of(run.trace, arch, main.request)
    said = " ".join(filter(None, (verdict(main.request), fate.said() if fate else "")))

    def at(t: float) -> Picture:
        now = next((act for act in acts if t < act.end), main)
        return Picture(
            title(main.request), _sentence(main, now, said), request_board(acts, now, t, launch)
        )

    return Story.of(script, at, _expected(values, arch), said)


def _main(acts: tuple[RequestAct, ...]) -> RequestAct:
    """The request the lesson is about: the last load, that of the elements themselves."""
    loads = [act for act in acts if not act.request.is_store]
    return loads[-1] if loads else acts[-1]


def _expected(values: Values, arch: Architecture) -> str:
    """What arithmetic alone, or the slides, say about the load."""
    if arch.needs_order:
        return tr(
            "published (lecture slides on the G80): a half warp in order on an aligned "
            "segment takes 1 transaction of 64 B (4-byte words), 1 of 128 B (8-byte) or "
            "2 of 128 B (16-byte), lanes left out or not; else 16"
        )
    steps = {
        "strided": (number(values, "stride"), number(values, "offset")),
        "in order": (1, 0),
        "misaligned": (1, 1),
        "pair": (1, 0),
    }
    if str(values["pattern"]) not in steps or not arch.has_sectors:
        return ""
    rest = number(values, "bytes"), number(values, "warp")
    count = expected_sectors(*steps[str(values["pattern"])], *rest)
    return tr("by arithmetic: {count} sectors a load request of this warp", count=count)


def expected_sectors(stride: int, offset: int, width: int, warp: int) -> int:
    """Sectors of one warp's strided load when `in` starts on a sector.

    Steps of a sector or less leave none out between the first and the last; longer ones take one a
    lane.
    """
    if stride * width > 32:
        return 32
    first = (warp * 32 * stride + offset) * width
    return (first + 31 * stride * width) // 32 - first // 32 + 1


def _sentence(main: RequestAct, act: RequestAct, said: str) -> str:
    """What the request under way does to its bytes; the title has named the main one."""
    request = act.request
    if act is main:
        return said
    what = {"what": shape(request), "verdict": verdict(request)}
    if act.end < main.end:
        return tr("First it reads {what}. {verdict}", **what)
    if request.is_store:
        return tr("Then it writes {what}. {verdict}", **what)
    return tr("Then it reads {what}. {verdict}", **what)


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, problem, WORDS)
