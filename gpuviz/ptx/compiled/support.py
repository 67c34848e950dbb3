"""Functions that the generated code calls: checks and counts of accesses, and the driver of blocks.

Written in LLVM IR, once for all kernels; each module takes along those that it uses.
"""

from __future__ import annotations

import re

from gpuviz.ptx.compiled.memory_map import (
    ACCESS,
    ACCESS_SIZE,
    BARRIER,
    CONFLICT,
    ENTRIES,
    ENTRY_COUNTS,
    ENTRY_RELATIVE,
    FAULT,
    FRAME,
    PERIODS,
    PLACES,
    ROW,
    TWICE,
    WORKER,
)
from gpuviz.ptx.compiled.writing import lanes


def field(name: str, kind: str = "i64") -> str:
    """Two statements that load a field of the worker into %name."""
    safe = name.replace(".", "_")
    return (
        f"  %p_{safe} = getelementptr i8, ptr %c, i64 {WORKER[name]}\n"
        f"  %{safe} = load {kind}, ptr %p_{safe}\n"
    )


def _access(*names: str) -> str:
    """Statements that load fields of access number %k."""
    text = field("accesses", "ptr")
    text += f"  %k64 = zext i32 %k to i64\n  %ko = mul i64 %k64, {ACCESS_SIZE}\n"
    text += "  %d = getelementptr i8, ptr %accesses, i64 %ko\n"
    for name in names:
        kind = "ptr" if name in ("histogram", "table", "marks") else "i64"
        text += f"  %pd_{name} = getelementptr i8, ptr %d, i64 {ACCESS[name]}\n"
        text += f"  %{name} = load {kind}, ptr %pd_{name}\n"
    return text


def _splat(name: str, value: str, bits: int) -> str:
    kind = f"<32 x i{bits}>"
    return (
        f"  %{name}1 = insertelement {kind} poison, i{bits} {value}, i64 0\n"
        f"  %{name} = shufflevector {kind} %{name}1, {kind} poison, <32 x i32> zeroinitializer\n"
    )


_STOP = f"""
define internal void @stop(ptr %c, i32 %why, i32 %k) cold noinline {{
  %p = getelementptr i8, ptr %c, i64 {WORKER["stop"]}
  store volatile i32 %why, ptr %p
  %q = getelementptr i8, ptr %c, i64 {WORKER["stop_at"]}
  store i32 %k, ptr %q
  ret void
}}
"""

# Lanes whose access is in no buffer at all.
_ELSEWHERE = f"""
define internal i32 @elsewhere(ptr %c, <32 x i64> %a, i32 %m, i64 %width) cold noinline {{
start:
{field("buffers", "ptr")}{field("buffer_count")}
{_splat("w", "%width", 64)}
  br label %loop
loop:
  %i = phi i64 [0, %start], [%i1, %next]
  %left = phi i32 [%m, %start], [%left1, %next]
  %more = icmp ult i64 %i, %buffer_count
  br i1 %more, label %next, label %done
next:
  %o = shl i64 %i, 4
  %pl = getelementptr i8, ptr %buffers, i64 %o
  %l = load i64, ptr %pl
  %ph = getelementptr i8, ptr %pl, i64 8
  %h = load i64, ptr %ph
{_splat("lo", "%l", 64)}{_splat("hi", "%h", 64)}
  %last = sub <32 x i64> %hi, %w
  %x = icmp uge <32 x i64> %a, %lo
  %y = icmp ule <32 x i64> %a, %last
  %z = and <32 x i1> %x, %y
  %b = bitcast <32 x i1> %z to i32
  %nb = xor i32 %b, -1
  %left1 = and i32 %left, %nb
  %i1 = add i64 %i, 1
  br label %loop
done:
  ret i32 %left
}}
"""

_MIX = [(0x9E3779B1 * (2 * i + 1)) & 0xFFFFFFFF | 1 for i in range(32)]


def _note(space: str) -> str:
    """Count a request by its pattern; one that fits none is handed on as it is."""
    period = PERIODS[space]
    return f"""
define internal void @note_{space}(ptr %c, i32 %k, <32 x i64> %a, i32 %m) noinline {{
start:
{_access("table", "entry_size", "width")}
  %arr = alloca <32 x i64>, align 64
  store <32 x i64> %a, ptr %arr, align 64
  %first = call i32 @llvm.cttz.i32(i32 %m, i1 false)
  %f64 = zext i32 %first to i64
  %fp = getelementptr i64, ptr %arr, i64 %f64
  %base = load i64, ptr %fp
{_splat("b", "%base", 64)}
  %r64 = sub <32 x i64> %a, %b
  %mv = bitcast i32 %m to <32 x i1>
  %r0 = select <32 x i1> %mv, <32 x i64> %r64, <32 x i64> zeroinitializer
  %r = trunc <32 x i64> %r0 to <32 x i32>
  %rs = sext <32 x i32> %r to <32 x i64>
  %df = icmp ne <32 x i64> %rs, %r0
  %dfb = bitcast <32 x i1> %df to i32
  %far = icmp ne i32 %dfb, 0
  br i1 %far, label %asis, label %look
look:
  %h0 = mul <32 x i32> %r, {lanes(_MIX, 32)}
  %h1 = call i32 @llvm.vector.reduce.add.v32i32(<32 x i32> %h0)
  %h2 = mul i32 %m, -1640531535
  %h3 = add i32 %h1, %h2
  %h4 = lshr i32 %h3, 16
  %h5 = xor i32 %h4, %h3
  %h6 = and i32 %h5, {ENTRIES - 1}
  %h7 = zext i32 %h6 to i64
  %eo = mul i64 %h7, %entry_size
  %e = getelementptr i8, ptr %table, i64 %eo
  %er = getelementptr i8, ptr %e, i64 {ENTRY_RELATIVE}
  %em = load i32, ptr %e
  %old = load <32 x i32>, ptr %er, align 4
  %ne = icmp ne <32 x i32> %old, %r
  %neb = bitcast <32 x i1> %ne to i32
  %dm = xor i32 %em, %m
  %no = or i32 %neb, %dm
  %hit = icmp eq i32 %no, 0
  br i1 %hit, label %count, label %miss
miss:
  %free = icmp eq i32 %em, 0
  br i1 %free, label %take, label %asis
take:
  store i32 %m, ptr %e
  store <32 x i32> %r, ptr %er, align 4
  br label %count
count:
  %ph = and i64 %base, {period - 1}
  %sh = call i64 @llvm.cttz.i64(i64 %width, i1 false)
  %idx = lshr i64 %ph, %sh
  %i8 = shl i64 %idx, 3
  %ec = getelementptr i8, ptr %e, i64 {ENTRY_COUNTS}
  %cp = getelementptr i8, ptr %ec, i64 %i8
  %n = load i64, ptr %cp
  %n1 = add i64 %n, 1
  store i64 %n1, ptr %cp
  ret void
asis:
{field("rows", "ptr")}{field("rows_used")}{field("rows_most")}
  %ro = mul i64 %rows_used, {ROW}
  %row = getelementptr i8, ptr %rows, i64 %ro
  store i32 %k, ptr %row
  %rm = getelementptr i8, ptr %row, i64 4
  store i32 %m, ptr %rm
  %ra = getelementptr i8, ptr %row, i64 8
  store <32 x i64> %a, ptr %ra, align 8
  %u1 = add i64 %rows_used, 1
  store i64 %u1, ptr %p_rows_used
  %full = icmp uge i64 %u1, %rows_most
  br i1 %full, label %flush, label %end
flush:
{field("flush", "ptr").replace("%flush", "%flusher").replace("%p_flush", "%p_flusher")}
  call void %flusher(ptr %c)
  br label %end
end:
  ret void
}}
"""


_MARK = f"""
define internal void @mark(ptr %c, i32 %k, <32 x i64> %a, i32 %m) noinline {{
start:
{_access("marks")}
  %s = lshr <32 x i64> %a, {lanes([5] * 32, 64)}
  %arr = alloca <32 x i64>, align 64
  store <32 x i64> %s, ptr %arr, align 64
  br label %loop
loop:
  %left = phi i32 [%m, %start], [%rest, %loop]
  %l = call i32 @llvm.cttz.i32(i32 %left, i1 false)
  %l6 = zext i32 %l to i64
  %p = getelementptr i64, ptr %arr, i64 %l6
  %x = load i64, ptr %p
  %q = getelementptr i8, ptr %marks, i64 %x
  store i8 1, ptr %q
  %b = sub i32 %left, 1
  %rest = and i32 %left, %b
  %go = icmp ne i32 %rest, 0
  br i1 %go, label %loop, label %end
end:
  ret void
}}
"""


def _touch(space: str, marked: bool) -> str:
    """Check an access of many lanes, and count it; the lanes, or none after a fault."""
    size = {"shared": "shared_size", "local": "local_size"}.get(space)
    name = f"touch_{space}" + "_marked" * marked
    if space == "global":
        bounds = f"""
{_access("low", "span", "width", "known")}
{_splat("lo", "%low", 64)}{_splat("sp", "%span", 64)}
  %rel = sub <32 x i64> %a, %lo
  %out = icmp ugt <32 x i64> %rel, %sp
  %outb = bitcast <32 x i1> %out to i32
  %bad0 = and i32 %outb, %m
  %isbad = icmp ne i32 %bad0, 0
  br i1 %isbad, label %search, label %inside
search:
  %un = icmp eq i64 %known, 0
  br i1 %un, label %search2, label %fault
search2:
  %bad1 = call i32 @elsewhere(ptr %c, <32 x i64> %a, i32 %m, i64 %width)
  %none = icmp eq i32 %bad1, 0
  br i1 %none, label %inside, label %fault
"""
    else:
        bounds = f"""
{_access("width", "span")}
{field(size) if size else ""}
  %sz = add i64 0, {"%" + size if size else "%span"}
  %small = icmp ult i64 %sz, %width
  %room = sub i64 %sz, %width
{_splat("sp", "%room", 64)}
  %out = icmp ugt <32 x i64> %a, %sp
  %outb = bitcast <32 x i1> %out to i32
  %bad0 = and i32 %outb, %m
  %isbad0 = icmp ne i32 %bad0, 0
  %isbad = or i1 %isbad0, %small
  br i1 %isbad, label %fault, label %inside
"""
    counted = {"const": "constant", "param": ""}.get(space, space)
    note = (
        f"  call void @note_{counted}(ptr %c, i32 %k, <32 x i64> %a, i32 %m)\n" if counted else ""
    )
    mark = "  call void @mark(ptr %c, i32 %k, <32 x i64> %a, i32 %m)\n" if marked else ""
    return f"""
define internal i32 @{name}(ptr %c, i32 %k, <32 x i64> %a, i32 %m) noinline {{
start:
  %nobody = icmp eq i32 %m, 0
  br i1 %nobody, label %end, label %check
check:
{bounds}
inside:
  %wm = sub i64 %width, 1
{_splat("wv", "%wm", 64)}
  %low2 = and <32 x i64> %a, %wv
  %mis = icmp ne <32 x i64> %low2, zeroinitializer
  %misb = bitcast <32 x i1> %mis to i32
  %misa = and i32 %misb, %m
  %ismis = icmp ne i32 %misa, 0
  br i1 %ismis, label %fault, label %fine
fine:
{note}{mark}
  ret i32 %m
fault:
  call void @stop(ptr %c, i32 {FAULT}, i32 %k)
  ret i32 0
end:
  ret i32 0
}}
"""


def _gather(bits: int) -> str:
    """Load from the addresses of this machine."""
    return f"""
define internal <32 x i{bits}> @gather_{bits}(<32 x i64> %a, i32 %m) noinline {{
  %p = inttoptr <32 x i64> %a to <32 x ptr>
  %v = bitcast i32 %m to <32 x i1>
  %r = call <32 x i{bits}> @llvm.masked.gather.v32i{bits}.v32p0(<32 x ptr> align {bits // 8} %p, <32 x i1> %v, <32 x i{bits}> zeroinitializer)
  ret <32 x i{bits}> %r
}}
"""


def _scatter(bits: int) -> str:
    """Store to addresses of this machine; the highest lane wins."""
    return f"""
define internal void @scatter_{bits}(<32 x i{bits}> %x, <32 x i64> %a, i32 %m) noinline {{
  %p = inttoptr <32 x i64> %a to <32 x ptr>
  %v = bitcast i32 %m to <32 x i1>
  call void @llvm.masked.scatter.v32i{bits}.v32p0(<32 x i{bits}> %x, <32 x ptr> align {bits // 8} %p, <32 x i1> %v)
  ret void
}}
"""


# --- who wrote and who read a cell: a word is the turn (phase of a block, and warp) -------------


def _owned(space: str) -> str:
    """Conflicts with other warps, of cells from %i on; %n of them. Global: of all blocks."""
    written, readers = (
        ("global_written", "global_readers") if space == "global" else ("written", "readers")
    )
    other = (
        "or <32 x i1> %othertime, %otherblock"
        if space == "global"
        else "or <32 x i1> %othertime, zeroinitializer"
    )
    test = f"""
  %old = call <32 x i32> @gather_32(<32 x i64> %at, i32 %m)
  %notme = icmp ne <32 x i32> %old, %me
  %now = icmp uge <32 x i32> %old, %phase
  %othertime = and <32 x i1> %notme, %now
  %some = icmp ne <32 x i32> %old, zeroinitializer
  %before = icmp ult <32 x i32> %old, %begin
  %otherblock = and <32 x i1> %some, %before
  %clash = {other}
"""

    def places(name: str) -> str:
        return f"""
{field(name)}
{_splat("bs", "%" + name, 64)}
  %i4 = shl <32 x i64> %i, {lanes([2] * 32, 64)}
  %at = add <32 x i64> %i4, %bs
"""

    turn = f"""
{field("turn", "i32")}{field("since", "i32")}
  %ph = and i32 %turn, -64
{_splat("me", "%turn", 32)}{_splat("phase", "%ph", 32)}{_splat("begin", "%since", 32)}
"""
    hit = f"""
  %clb = bitcast <32 x i1> %clash to i32
  %cla = and i32 %clb, %m
  %bad = icmp ne i32 %cla, 0
  br i1 %bad, label %conflict, label %fine
conflict:
  call void @stop(ptr %c, i32 {CONFLICT}, i32 0)
  ret void
fine:
"""
    return f"""
define internal void @claim_{space}(ptr %c, <32 x i64> %i, i32 %m) noinline {{
start:
{turn}{places(written)}{test}{hit}
  call void @scatter_32(<32 x i32> %me, <32 x i64> %at, i32 %m)
  ret void
}}
define internal void @unread_{space}(ptr %c, <32 x i64> %i, i32 %m) noinline {{
start:
{turn}{places(readers)}{test}
  %several0 = icmp eq <32 x i32> %old, {lanes([-1] * 32, 32)}
  %clash2 = or <32 x i1> %clash, %several0
{hit.replace("%clash to", "%clash2 to")}
  ret void
}}
define internal void @seen_{space}(ptr %c, <32 x i64> %i, i32 %m) noinline {{
start:
{turn}{places(written)}{test}{hit}
  ret void
}}
define internal void @reads_{space}(ptr %c, <32 x i64> %i, i32 %m) noinline {{
start:
{turn}{places(readers)}{test}
  %many = or <32 x i32> %phase, {lanes([63] * 32, 32)}
  %several = icmp eq <32 x i32> %old, {lanes([-1] * 32, 32)}
  %inphase = select <32 x i1> %othertime, <32 x i32> %many, <32 x i32> %me
  %beyond = {"or <32 x i1> %otherblock, %several" if space == "global" else "and <32 x i1> %several, zeroinitializer"}
  %v = select <32 x i1> %beyond, <32 x i32> {lanes([-1] * 32, 32)}, <32 x i32> %inphase
  call void @scatter_32(<32 x i32> %v, <32 x i64> %at, i32 %m)
  ret void
}}
"""


# Cells that are written once at most have a bit each.
_ONCE = f"""
define internal void @once(ptr %c, <32 x i64> %i, i32 %m) noinline {{
start:
{field("once", "ptr")}
  %arr = alloca <32 x i64>, align 64
  store <32 x i64> %i, ptr %arr, align 64
  br label %loop
loop:
  %left = phi i32 [%m, %start], [%rest, %one]
  %seen = phi i32 [0, %start], [%seen1, %one]
  %go = icmp ne i32 %left, 0
  br i1 %go, label %one, label %end
one:
  %l = call i32 @llvm.cttz.i32(i32 %left, i1 false)
  %l6 = zext i32 %l to i64
  %p = getelementptr i64, ptr %arr, i64 %l6
  %x = load i64, ptr %p
  %word = lshr i64 %x, 5
  %q = getelementptr i32, ptr %once, i64 %word
  %x32 = trunc i64 %x to i32
  %place = and i32 %x32, 31
  %bit = shl i32 1, %place
  %old = load i32, ptr %q
  %hit = and i32 %old, %bit
  %seen1 = or i32 %seen, %hit
  %new = or i32 %old, %bit
  store i32 %new, ptr %q
  %b = sub i32 %left, 1
  %rest = and i32 %left, %b
  br label %loop
end:
  %twice = icmp ne i32 %seen, 0
  br i1 %twice, label %bad, label %fine
bad:
  call void @stop(ptr %c, i32 {TWICE}, i32 0)
  ret void
fine:
  ret void
}}
"""
_ONCE_RUN = f"""
define internal void @once_run(ptr %c, i64 %i, i64 %n) noinline {{
start:
{field("once", "ptr")}
  %w = lshr i64 %i, 5
  %first = getelementptr i32, ptr %once, i64 %w
  %place = and i64 %i, 31
  %mask = shl i64 4294967295, %place
  br label %loop
loop:
  %k = phi i64 [0, %start], [%k1, %loop]
  %seen = phi i64 [0, %start], [%seen1, %loop]
  %q = getelementptr i32, ptr %first, i64 %k
  %old = load i64, ptr %q, align 4
  %hit = and i64 %old, %mask
  %seen1 = or i64 %seen, %hit
  %new = or i64 %old, %mask
  store i64 %new, ptr %q, align 4
  %k1 = add i64 %k, 1
  %go = icmp ult i64 %k1, %n
  br i1 %go, label %loop, label %end
end:
  %twice = icmp ne i64 %seen1, 0
  br i1 %twice, label %bad, label %fine
bad:
  call void @stop(ptr %c, i32 {TWICE}, i32 0)
  ret void
fine:
  ret void
}}
"""

_NUMPY_LOOP = f"""
define internal <32 x i64> @numpy_loop(ptr %c, i32 %n, <32 x i64> %x) noinline {{
  %in = alloca <32 x i64>, align 64
  %out = alloca <32 x i64>, align 64
  %args = alloca [2 x ptr]
  %steps = alloca [2 x i64]
  %size = alloca i64
  store <32 x i64> %x, ptr %in, align 64
  store ptr %in, ptr %args
  %a1 = getelementptr ptr, ptr %args, i64 1
  store ptr %out, ptr %a1
  store i64 8, ptr %steps
  %s1 = getelementptr i64, ptr %steps, i64 1
  store i64 8, ptr %s1
  store i64 32, ptr %size
  %o = zext i32 %n to i64
  %pf = getelementptr i8, ptr %c, i64 {WORKER["loop0"]}
  %pfn = getelementptr ptr, ptr %pf, i64 %o
  %f = load ptr, ptr %pfn
  %pd = getelementptr i8, ptr %c, i64 {WORKER["loop_data0"]}
  %pdn = getelementptr ptr, ptr %pd, i64 %o
  %data = load ptr, ptr %pdn
  call void %f(ptr %args, ptr %size, ptr %steps, ptr %data)
  %r = load <32 x i64>, ptr %out, align 64
  ret <32 x i64> %r
}}
"""

FUNCTIONS: dict[str, str] = {
    "stop": _STOP,
    "elsewhere": _ELSEWHERE,
    "mark": _MARK,
    "once": _ONCE,
    "once_run": _ONCE_RUN,
    "numpy_loop": _NUMPY_LOOP,
    **{f"note_{space}": _note(space) for space in PERIODS},
    **{f"touch_{s}": _touch(s, False) for s in ("global", "shared", "local", "const", "param")},
    "touch_global_marked": _touch("global", True),
    **{f"gather_{bits}": _gather(bits) for bits in (8, 16, 32, 64)},
    **{f"scatter_{bits}": _scatter(bits) for bits in (8, 16, 32, 64)},
}
_GROUPS = {
    f"{name}_{space}": _owned(space)
    for space in ("global", "shared")
    for name in ("claim", "unread", "seen", "reads")
}
DECLARED = "\n".join(
    (
        "declare i32 @llvm.cttz.i32(i32, i1)",
        "declare i64 @llvm.cttz.i64(i64, i1)",
        "declare i32 @llvm.ctpop.i32(i32)",
        "declare i32 @llvm.vector.reduce.add.v32i32(<32 x i32>)",
        "declare i32 @llvm.vector.reduce.umin.v32i32(<32 x i32>)",
        "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
        *(
            f"declare <32 x i{b}> @llvm.masked.gather.v32i{b}.v32p0(<32 x ptr>, <32 x i1>, <32 x i{b}>)\n"
            f"declare void @llvm.masked.scatter.v32i{b}.v32p0(<32 x i{b}>, <32 x ptr>, <32 x i1>)"
            for b in (8, 16, 32, 64)
        ),
    )
)


_BODIES = tuple(dict.fromkeys((*FUNCTIONS.values(), *_GROUPS.values())))
_HEAD = re.compile(r"^define internal (.*?) @(\w+)\((.*)\) [^()]*\{$", re.MULTILINE)
_HEADS = {m[2]: (m[1], m[3]) for body in _BODIES for m in _HEAD.finditer(body)}
_CALLED = re.compile(rf"@({'|'.join(_HEADS)})\(")
NAMES = tuple(_HEADS)
PREFIX = "gpuviz_"  # other libraries of the process have functions, too


def named(text: str) -> str:
    """Code that calls these functions by the names they have in the library."""
    return _CALLED.sub(rf"@{PREFIX}\1(", text)


def declared(text: str) -> list[str]:
    """Declarations of those that some code calls."""
    return [
        f"declare {result} @{PREFIX}{name}({re.sub(' %[a-z0-9]+', '', given)}) #0"
        for name, (result, given) in _HEADS.items()
        if f"@{PREFIX}{name}(" in text
    ]


def library() -> str:
    """The module of all these functions."""
    text = "".join(_BODIES).replace("define internal", "define")
    return f"{DECLARED}\n{named(text).replace('noinline {', 'noinline #0 {')}"


def _driver() -> str:
    """Runs the blocks of a worker: warps in turn, from barrier to barrier."""
    frame = {name: f"getelementptr i8, ptr %f, i64 {offset}" for name, offset in FRAME.items()}
    return f"""
{_STOP}
define i32 @run(ptr %c) {{
start:
{field("frames", "ptr")}{field("frame_size")}{field("warps")}{field("last_block")}
{field("shared", "ptr")}{field("shared_size")}{field("local", "ptr")}{field("local_warp")}
{field("parted", "ptr")}{field("regions", "ptr")}{field("exists", "ptr")}
{field("nctaid.x")}{field("nctaid.y")}
  %p_block = getelementptr i8, ptr %c, i64 {WORKER["block"]}
  %p_warp = getelementptr i8, ptr %c, i64 {WORKER["warp"]}
  %p_inside = getelementptr i8, ptr %c, i64 {WORKER["inside"]}
  %p_turn = getelementptr i8, ptr %c, i64 {WORKER["turn"]}
  %p_since = getelementptr i8, ptr %c, i64 {WORKER["since"]}
  %p_stop = getelementptr i8, ptr %c, i64 {WORKER["stop"]}
  %p_votes = getelementptr i8, ptr %c, i64 {WORKER["votes"]}
  %p_threads = getelementptr i8, ptr %c, i64 {WORKER["threads"]}
  %p_lw = getelementptr i8, ptr %c, i64 {WORKER["local"]}
  br label %next
next:
  %b = load i64, ptr %p_block
  %more = icmp ult i64 %b, %last_block
  br i1 %more, label %enter, label %alldone
alldone:
  ret i32 {0}
enter:
  %in = load i64, ptr %p_inside
  %isin = icmp ne i64 %in, 0
  br i1 %isin, label %warps_go, label %begin
begin:
  call void @llvm.memset.p0.i64(ptr %shared, i8 0, i64 %shared_size, i1 false)
  %lb = mul i64 %local_warp, %warps
  call void @llvm.memset.p0.i64(ptr %local, i8 0, i64 %lb, i1 false)
  %t0 = load i32, ptr %p_turn
  %t1 = add i32 %t0, 64
  %t2 = and i32 %t1, -64
  %over = icmp ult i32 %t2, %t0
  br i1 %over, label %strange, label %fresh_block
fresh_block:
  store i32 %t2, ptr %p_turn
  store i32 %t2, ptr %p_since
  %xy = mul i64 %nctaid_x, %nctaid_y
  %cz = udiv i64 %b, %xy
  %rem = urem i64 %b, %xy
  %cy = udiv i64 %rem, %nctaid_x
  %cx = urem i64 %rem, %nctaid_x
  %pcx = getelementptr i8, ptr %c, i64 {WORKER["ctaid.x"]}
  store i64 %cx, ptr %pcx
  %pcy = getelementptr i8, ptr %c, i64 {WORKER["ctaid.y"]}
  store i64 %cy, ptr %pcy
  %pcz = getelementptr i8, ptr %c, i64 {WORKER["ctaid.z"]}
  store i64 %cz, ptr %pcz
  store i64 1, ptr %p_inside
  store i64 0, ptr %p_warp
  br label %init
init:
  %iw = phi i64 [0, %fresh_block], [%iw1, %init]
  %ifo = mul i64 %iw, %frame_size
  %f = getelementptr i8, ptr %frames, i64 %ifo
  %pe = getelementptr i32, ptr %exists, i64 %iw
  %ex = load i32, ptr %pe
  %fully = icmp ne i32 %ex, -1
  %part = zext i1 %fully to i32
  %i_parted = {frame["parted"]}
  store i32 %part, ptr %i_parted
  %i_status = {frame["status"]}
  store i32 0, ptr %i_status
  %i_resume = {frame["resume"]}
  store i32 0, ptr %i_resume
  %i_region = {frame["region"]}
  store i32 0, ptr %i_region
  %i_live = {frame["live"]}
  store i32 %ex, ptr %i_live
  %i_waiting = {frame["waiting"]}
  store i32 0, ptr %i_waiting
  %i_blocked = {frame["blocked"]}
  store i32 0, ptr %i_blocked
  %i_pc = getelementptr i8, ptr %f, i64 {PLACES}
  store <32 x i32> zeroinitializer, ptr %i_pc, align 64
  %iw1 = add i64 %iw, 1
  %im = icmp ult i64 %iw1, %warps
  br i1 %im, label %init, label %warps_go
warps_go:
  br label %warp
warp:
  %w = load i64, ptr %p_warp
  %wm = icmp ult i64 %w, %warps
  br i1 %wm, label %one, label %phase
one:
  %fo = mul i64 %w, %frame_size
  %g = getelementptr i8, ptr %frames, i64 %fo
  %lo = mul i64 %w, %local_warp
  %lp = getelementptr i8, ptr %local, i64 %lo
  %gs = getelementptr i8, ptr %g, i64 {FRAME["status"]}
  %st = load i32, ptr %gs
  %run = icmp eq i32 %st, 0
  br i1 %run, label %turn, label %warpdone
turn:
  %tt = load i32, ptr %p_turn
  %tp = and i32 %tt, -64
  %w32 = trunc i64 %w to i32
  %tn = or i32 %tp, %w32
  store i32 %tn, ptr %p_turn
  store ptr %lp, ptr %p_lw
  br label %step
step:
  %gp = getelementptr i8, ptr %g, i64 {FRAME["parted"]}
  %pt = load i32, ptr %gp
  %isp = icmp ne i32 %pt, 0
  br i1 %isp, label %dopart, label %dofull
dofull:
  %gr = getelementptr i8, ptr %g, i64 {FRAME["region"]}
  %rg = load i32, ptr %gr
  %rg6 = zext i32 %rg to i64
  %pf = getelementptr ptr, ptr %regions, i64 %rg6
  %fn = load ptr, ptr %pf
  %nofn = icmp eq ptr %fn, null
  br i1 %nofn, label %need, label %callfull
callfull:
  %r1 = call i32 %fn(ptr %c, ptr %g)
  br label %after
dopart:
  %nopart = icmp eq ptr %parted, null
  br i1 %nopart, label %need, label %callpart
callpart:
  %r2 = call i32 %parted(ptr %c, ptr %g)
  br label %after
need:
  store ptr %local, ptr %p_lw
  ret i32 4
after:
  %r = phi i32 [%r1, %callfull], [%r2, %callpart]
  switch i32 %r, label %stopped [ i32 0, label %warpend
    i32 1, label %warpwait
    i32 2, label %step ]
stopped:
  store ptr %local, ptr %p_lw
  ret i32 3
warpend:
  store i32 2, ptr %gs
  br label %warpdone
warpwait:
  store i32 1, ptr %gs
  br label %warpdone
warpdone:
  %w1 = add i64 %w, 1
  store i64 %w1, ptr %p_warp
  br label %warp
phase:
  store ptr %local, ptr %p_lw
  %sv = load volatile i32, ptr %p_stop
  %stp = icmp ne i32 %sv, 0
  br i1 %stp, label %stopped2, label %scan
stopped2:
  ret i32 3
scan:
  %sw = phi i64 [0, %phase], [%sw1, %scan]
  %nwait = phi i32 [0, %phase], [%nwait1, %scan]
  %low = phi i32 [2147483647, %phase], [%low1, %scan]
  %high = phi i32 [-1, %phase], [%high1, %scan]
  %so = mul i64 %sw, %frame_size
  %h = getelementptr i8, ptr %frames, i64 %so
  %hs = getelementptr i8, ptr %h, i64 {FRAME["status"]}
  %hst = load i32, ptr %hs
  %isw = icmp eq i32 %hst, 1
  %isw32 = zext i1 %isw to i32
  %nwait1 = add i32 %nwait, %isw32
  %hb = getelementptr i8, ptr %h, i64 {FRAME["barrier"]}
  %bar = load i32, ptr %hb
  %barl = select i1 %isw, i32 %bar, i32 2147483647
  %barh = select i1 %isw, i32 %bar, i32 -1
  %l0 = icmp slt i32 %barl, %low
  %low1 = select i1 %l0, i32 %barl, i32 %low
  %h0 = icmp sgt i32 %barh, %high
  %high1 = select i1 %h0, i32 %barh, i32 %high
  %sw1 = add i64 %sw, 1
  %sm = icmp ult i64 %sw1, %warps
  br i1 %sm, label %scan, label %decide
decide:
  %nobody = icmp eq i32 %nwait1, 0
  br i1 %nobody, label %blockdone, label %together
blockdone:
  store i64 0, ptr %p_inside
  %b1 = add i64 %b, 1
  store i64 %b1, ptr %p_block
  br label %next
together:
  %apart = icmp ne i32 %low1, %high1
  br i1 %apart, label %strange, label %pass
strange:
  call void @stop(ptr %c, i32 {BARRIER}, i32 0)
  ret i32 3
pass:
  %u0 = load i32, ptr %p_turn
  %u1 = add i32 %u0, 64
  %u2 = and i32 %u1, -64
  store i32 %u2, ptr %p_turn
  %wrapped = icmp ult i32 %u2, %u0
  br i1 %wrapped, label %strange, label %pass2
pass2:
  br label %wake
wake:
  %kw = phi i64 [0, %pass2], [%kw1, %wake]
  %ko = mul i64 %kw, %frame_size
  %kf = getelementptr i8, ptr %frames, i64 %ko
  %ks = getelementptr i8, ptr %kf, i64 {FRAME["status"]}
  store i32 0, ptr %ks
  %kwm = getelementptr i8, ptr %kf, i64 {FRAME["waiting"]}
  store i32 0, ptr %kwm
  %kw1 = add i64 %kw, 1
  %km = icmp ult i64 %kw1, %warps
  br i1 %km, label %wake, label %again
again:
  %vv = load i64, ptr %p_votes
  %vt = load i64, ptr %p_threads
  %p_vote = getelementptr i8, ptr %c, i64 {WORKER["vote"]}
  store i64 %vv, ptr %p_vote
  %p_vt = getelementptr i8, ptr %c, i64 {WORKER["vote_threads"]}
  store i64 %vt, ptr %p_vt
  store i64 0, ptr %p_votes
  store i64 0, ptr %p_threads
  store i64 0, ptr %p_warp
  br label %warp
}}
"""


def driver() -> str:
    """The module of the driver, the same for all kernels."""
    return f"{DECLARED}\n{_driver()}"
