"""A lesson made of a user's own kernel: what can be chosen of its launch, the story of that, and
its moments found by words: `line 12`, `store conflict`, `warp 3 barrier`, a buffer's name.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from gpuviz.arch import architecture
from gpuviz.base.arrays import F64, Bool
from gpuviz.base.errors import InputError
from gpuviz.draw.hit import following
from gpuviz.draw.marks import Frame
from gpuviz.draw.stage import Stage
from gpuviz.launch.capture import CapturedLaunch
from gpuviz.memory.banks import wavefronts
from gpuviz.memory.coalescing import transactions
from gpuviz.panels.figures import Provenance
from gpuviz.panels.layout import rows
from gpuviz.panels.picture import Picture
from gpuviz.run.run import Run, not_checked
from gpuviz.story.kernel_launch import KernelLaunch, record_of
from gpuviz.story.lesson import Lesson, Parameter, Plan, Search, Story, Values, number
from gpuviz.story.own_kernel import findings, pictures
from gpuviz.story.own_kernel.events import ALL, Events, events_of
from gpuviz.story.own_kernel.moment import Moment, shares, steps_of
from gpuviz.story.own_kernel.pictures import FINDINGS, NAME, picture
from gpuviz.story.script import KINDS, LongSteps, Script, step_at
from gpuviz.traces.trace import MemoryInstruction, lane_mask
from gpuviz.words.language import later, tr, trn

_AT_ONCE = 1 << 13  # requests counted at once, each of which takes kilobytes meanwhile
_WORD = re.compile(r"(line|warp|lane|phase|turn)\s*(\d+)|#(\d+)|(0x[0-9a-f]+)|(\S+)")
Test = Callable[[MemoryInstruction], bool]

# What an instruction is, by the words for it.
_OF_INSTRUCTIONS: dict[str, Test] = {
    "load": lambda did: did.op == "load",
    "store": lambda did: did.op == "store",
    "atomic": lambda did: did.op in ("atomic", "reduction"),
    "copy": lambda did: did.op == "copy",
    "global": lambda did: did.space == "global",
    "shared": lambda did: did.space == "shared",
    "local": lambda did: did.space == "local",
    "constant": lambda did: did.space == "constant",
}


def search(events: Events, steps: LongSteps) -> Search:
    """What finds moments of events on their time line."""
    tests = _Tests(events)

    def find(text: str) -> F64:
        return np.asarray(steps.stops[np.flatnonzero(tests.of(text))])

    return Search(tr("find: line 12, store, barrier, conflict, uncoalesced …"), find)


class _Tests:
    """Which events words mean."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._excess = lru_cache(maxsize=1)(lambda: _excess(events))

    def of(self, text: str) -> Bool:
        """(N,) the events that all words mean."""
        fits: Bool = np.ones(len(self._events), bool)
        turn = 0
        for named, count, place, address, word in _WORD.findall(text.lower()):
            if named == "turn":
                turn = int(count)
            elif place:
                fits &= self._place(int(place))
            elif address:
                fits &= self._address(int(address, 16))
            else:
                fits &= self._word(named or word, count)
        if turn:  # of all that fit
            fits &= np.cumsum(fits) == turn
        return fits

    def _address(self, address: int) -> Bool:
        """Requests in which a lane touches an address."""
        rows = self._events.rows
        width = np.array([did.width for did in self._events.trace.instructions], np.uint64)
        low = np.uint64(max(address - 31, 0))
        near = np.flatnonzero(((rows.address >= low) & (rows.address <= np.uint64(address))).any(1))
        end = rows.address[near] + width[rows.instruction[near]][:, None]
        hit = (rows.address[near] <= np.uint64(address)) & (np.uint64(address) < end)
        fits: Bool = np.zeros(len(rows), bool)
        fits[near] = (hit & lane_mask(rows.active[near])).any(axis=1)
        return self._rows(fits)

    def _place(self, number: int) -> Bool:
        """One event by its number, from 1."""
        fits: Bool = np.zeros(len(self._events), bool)
        fits[number - 1 : number] = number > 0
        return fits

    def _word(self, word: str, number: str) -> Bool:
        events = self._events
        if word.isdigit() or (word == "line" and number):
            return np.asarray(events.lines == int(number or word))
        if word == "barrier":
            return np.asarray(events.kinds == KINDS.index("barrier"))
        if word == "phase" and number:
            return np.asarray(events.phase == int(number))
        if word.rstrip("s") in _OF_INSTRUCTIONS:
            test = _OF_INSTRUCTIONS[word.rstrip("s")]
            return self._rows(self._by_instruction(test))
        if word.rstrip("s") == "conflict":
            return self._excessive("shared")
        if word == "uncoalesced":
            return self._excessive("global")
        return self._other(word, number)

    def _other(self, word: str, number: str) -> Bool:
        rows = self._events.rows
        if word == "warp" and number:
            return self._rows(rows.warp == int(number))
        if word == "lane" and number:
            return self._rows((rows.active >> np.uint32(min(int(number), 31))) & np.uint32(1) != 0)
        if word == "partial":
            return self._rows(rows.active != np.uint32(0xFFFFFFFF))
        for buffer in self._events.trace.launch.buffers:
            if buffer.name.lower() == word:
                low, high = np.uint64(buffer.address), np.uint64(buffer.address + buffer.size)
                first = rows.address.max(axis=1, initial=0)
                return self._rows((first >= low) & (first < high))
        names = ", ".join(b.name for b in self._events.trace.launch.buffers)
        raise InputError(
            tr(
                "{word} cannot be looked for: try line 12, load, store, atomic, barrier, shared, "
                "global, conflict, uncoalesced, partial, warp 3, lane 5, phase 2, turn 4, #100, or "
                "a buffer: {names}",
                word=repr(word),
                names=names,
            )
        )

    def _by_instruction(self, test: Test) -> Bool:
        """(R,) the requests of some instructions."""
        each = np.array([test(did) for did in self._events.trace.instructions], bool)
        which = self._events.rows.instruction
        return np.asarray(each[which]) if len(which) else np.zeros(0, bool)

    def _rows(self, of_rows: Bool) -> Bool:
        """(N,) from what is known of the (R,) requests; barriers are none."""
        row = self._events.row
        if not len(of_rows):
            return np.zeros(len(row), bool)
        return np.asarray((row >= 0) & of_rows[row])

    def _excessive(self, space: str) -> Bool:
        """Requests to a space that cost more than as many lanes in a row would."""
        return self._rows(self._excess() & self._by_instruction(lambda did: did.space == space))


def _excess(events: Events) -> Bool:
    """(R,) requests that take more wavefronts, or transactions, than the same lanes need."""
    rows, found = events.rows, np.zeros(len(events.rows), bool)
    for which, did in enumerate(events.trace.instructions):
        if did.space not in ("shared", "global"):
            continue
        places = np.flatnonzero(rows.instruction == np.int32(which))
        for start in range(0, len(places), _AT_ONCE):
            some = places[start : start + _AT_ONCE]
            address, active = rows.address[some], lane_mask(rows.active[some])
            if did.space == "shared":
                cost = wavefronts(events.arch, address, active, did.width, did.op)
                found[some] = cost.count > cost.ideal
            else:
                moved = transactions(events.arch, address, active, did.width, did.op, did.path)
                found[some] = moved.count > moved.ideal
    return found


CHAPTER = later("Your kernels")
ROLE = "kernel"
FORMER = ("turn",)  # the how-manieth time around a loop; now all are on the time line
_MOST_BLOCKS = 1 << 20
_END = 1.5  # seconds


def parameters_of(block: Parameter, warps: int, runs: bool = True) -> tuple[Parameter, ...]:
    """Which block and warp, or all, in which picture; what happens after faults where it `runs`."""
    warp = Parameter("warp", tr("warp shown"), 0, 0, warps - 1)
    hint = tr("What all warps of the block do, in the order in which they were run here.")
    every = (Parameter("every", tr("all warps"), False, hint=hint),) if warps > 1 else ()
    chosen = (one for one in (block, warp) if len(one.choices) > 1 or one.maximum > one.minimum)
    return (*chosen, *every, *pictures.parameters(runs))


def lesson_of(launch: KernelLaunch) -> Lesson:
    """The launch as a lesson."""
    last = min(launch.blocks, _MOST_BLOCKS) - 1
    block = Parameter("block", tr("block shown"), 0, 0, last)
    plan = Plan(
        ROLE,
        str(launch.path.absolute()),
        launch.entry,
        launch.grid,
        launch.block,
        launch.arguments,
        launch.defines,
        launch.dynamic_shared,
        path=True,
        options=launch.options,
        guesses=launch.guesses,
    )
    return Lesson(
        _id(launch),
        f"{launch.name} ({launch.path.name})",
        CHAPTER,
        tr("What the memory system makes of your own kernel, request by request."),
        parameters_of(block, launch.warps_per_block),
        (),
        lambda values: (_planned(plan, values),),
        partial(narrate, guesses=launch.guesses),
        launch=record_of(launch),
        former=FORMER,
    )


def captured_lesson(one: CapturedLaunch) -> Lesson:
    """A launch out of a capture as a lesson."""
    sizes = one.grid, one.block
    return lesson_of(KernelLaunch(one.path, one.entry, one.name, *sizes, one.arguments, one.shared))


def _planned(plan: Plan, values: Values) -> Plan:
    """The launch, of which the block shown is recorded."""
    return replace(plan, record=(_chosen(values, "block"),), goes_on=bool(values.get("goes_on")))


def _id(launch: KernelLaunch) -> str:
    """Of the kernel, however it is launched."""
    told = repr((str(launch.path), launch.name))
    return "kernel-" + hashlib.sha256(told.encode()).hexdigest()[:12]


def _chosen(values: Values, name: str) -> int:
    """A parameter's value; those with one possible value are left out of the lesson."""
    return number(values, name) if name in values else 0


def narrate(values: Values, runs: Mapping[str, Run], guesses: Sequence[str] = ()) -> Story:
    """What the chosen warp, or all warps of the block, did, from the first event to the last;
    below, what of the launch nobody said.
    """
    run, block = runs[ROLE], _chosen(values, "block")
    warp = ALL if values.get("every") else _chosen(values, "warp")
    events = events_of(run.trace, architecture(run.arch), block, warp)
    doubt = (*_doubt(run.unchecked), *_guessed(guesses))
    if not len(events) and values.get(NAME) == FINDINGS:  # which are of all warps
        events = events_of(run.trace, architecture(run.arch), block, ALL)
    if not len(events):
        return _nothing(block, warp, doubt)
    steps = steps_of(events, ROLE)

    def moment_at(t: float) -> Moment:
        number = step_at(steps, t)
        return Moment(run, events, number, *shares(steps.edges, number, t), values)

    def at(t: float) -> Picture:
        told = picture(moment_at(t))
        return Picture(told.title, told.sentence, rows(told.body, *doubt))

    story = Story.of(steps, at, search=search(events, steps))
    if values.get(NAME) != FINDINGS:
        return story
    frame = story.frame

    def lit(t: float, stage: Stage) -> Frame:
        lane = findings.lane_at(moment_at(t))
        return frame(t, stage) if lane is None else following(frame(t, stage), lane)

    return replace(story, frame=lit)


def _doubt(file: str) -> tuple[Provenance, ...]:
    """Below the picture of a program that a file brought: what it is worth."""
    return (Provenance((not_checked(file),), tr("not checked"), whole=True),) if file else ()


def _guessed(names: Sequence[str]) -> tuple[Provenance, ...]:
    """Below the picture of a launch of which some was only proposed: what that is."""
    every = (
        trn(
            "rests on {n} guess: {names}",
            "rests on {n} guesses: {names}",
            len(names),
            names=", ".join((*names[:most], *("…" for _ in names[most : most + 1]))),
        )
        for most in (len(names), 3, 1)
    )
    return (Provenance(tuple(every), tr("proposed")),) if names else ()


def _nothing(block: int, warp: int, doubt: tuple[Provenance, ...]) -> Story:
    """A warp without requests to show is no error: it may be beyond the data."""
    who: dict[str, object] = {"warp": warp, "block": block}
    words = (
        tr("Block {block} asks nothing of memory", **who)
        if warp == ALL
        else tr("Warp {warp} of block {block} asks nothing of memory", **who)
    )
    said = tr("Choose another warp or block; the counts beside are of the whole launch.")
    script = Script(ROLE)
    script.act(_END, "result", tr("nothing"))
    return Story.of(script, lambda t: Picture(words, said, rows(*doubt)))
