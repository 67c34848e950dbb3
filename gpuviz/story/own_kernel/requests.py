"""The picture of one request: lanes and their addresses, or lanes and the banks they want."""

from gpuviz.memory.bank_request import BankRequest
from gpuviz.memory.passes import served
from gpuviz.memory.request import Request
from gpuviz.memory.units import counted
from gpuviz.panels.bank_board import with_board
from gpuviz.panels.bank_map import BankMap
from gpuviz.panels.lane_words import LaneWords
from gpuviz.panels.layout import rows, spare
from gpuviz.panels.lines import Line, Lines
from gpuviz.story.own_kernel import phases
from gpuviz.story.own_kernel.moment import Moment, Narration
from gpuviz.story.requests.acts import RequestAct, request_board
from gpuviz.story.requests.sentences import shape, title, verdict
from gpuviz.story.script import Act
from gpuviz.traces.trace import MemoryInstruction
from gpuviz.words.language import tr

_SENT, _SERVED = Act(0.0, 1.0), Act(1.0, 2.0)


def picture(moment: Moment) -> Narration:
    """What the request of a moment asks for, and what the memory system makes of it."""
    did, made = moment.events.did(moment.number), moment.events.request(moment.number)
    if isinstance(made, BankRequest):
        return _banks(made, moment)
    if isinstance(made, Request):
        return _addresses(made, moment)
    if did is None:
        return _barrier(moment)
    if did.space == "constant":
        return _constants(did, moment)
    return _unknown(did, moment)


def _addresses(request: Request, moment: Moment) -> Narration:
    act = RequestAct(request, _SENT, _SERVED)
    return Narration(
        _title(request), verdict(request), request_board((act,), act, moment.sent + moment.served)
    )


def _title(request: Request) -> str:
    if request.instruction.op in ("atomic", "reduction"):
        return tr("One warp updates {what}, each lane as a whole", what=shape(request))
    return title(request)


def _banks(request: BankRequest, moment: Moment) -> Narration:
    done = moment.served * request.count
    shown = with_board(BankMap(request, moment.sent, done), request, done)
    return Narration(_bank_title(request), _conflict(request), shown)


def _bank_title(request: BankRequest) -> str:
    count = counted("wavefront", request.count)
    if request.instruction.op in ("atomic", "reduction"):
        return tr("One warp updates shared memory in {count}", count=count)
    if request.is_store:
        return tr("One warp writes to shared memory in {count}", count=count)
    return tr("One warp reads shared memory in {count}", count=count)


def _conflict(request: BankRequest) -> str:
    if request.worst is None:
        return tr("No two lanes want different words of one bank.")
    return tr(
        "Lanes want different words of one bank: {ideal} would do without conflicts.",
        ideal=counted("wavefront", request.ideal),
    )


def _barrier(moment: Moment) -> Narration:
    number = int(moment.events.phase[moment.number]) + 1
    said = tr("What was written to shared memory before it, every thread may read after it.")
    words = tr("Barrier {n}: nobody goes on before all warps of the block have come", n=number)
    return Narration(words, said, phases.with_key(moment))


def _constants(did: MemoryInstruction, moment: Moment) -> Narration:
    """Lanes and the words they read, one different word a pass."""
    events, row = moment.events, int(moment.events.row[moment.number])
    made = served(events.trace, events.arch, events.rows, row)
    first = int(made.address[made.active].min())
    word = (made.address - first) // did.width
    done = moment.served * made.count
    words = LaneWords(word, made.turn, made.counted, moment.sent, done, active=made.active)
    key = Line((tr("words from the lowest address read: {code}", code=did.text),), "muted")
    lanes = int(made.active.sum())
    said = tr("{lanes} of 32 lanes take part, {width} bytes each.", lanes=lanes, width=did.width)
    if made.count == 1:
        said = tr("A broadcast: constant memory serves the whole warp in one pass.")
    body = rows(words, spare(Lines((key,))))
    return Narration(
        tr("One warp reads constant memory in {count}", count=made.counted), said, body
    )


def _unknown(did: MemoryInstruction, moment: Moment) -> Narration:
    """A request to memory that has no buffers: local, or what malloc gave."""
    row = int(moment.events.row[moment.number])
    lanes = int(moment.events.rows.lanes(row).sum())
    titles = {
        "local": tr("One warp goes to local memory: registers that were spilled, or an array")
    }
    words = titles.get(did.space, tr("One warp goes to memory that is in no buffer"))
    said = tr("{lanes} of 32 lanes take part, {width} bytes each.", lanes=lanes, width=did.width)
    return Narration(words, said, Lines((Line((did.text,), "muted"),)))
