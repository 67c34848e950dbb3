import json
from functools import cache
from io import BytesIO
from types import SimpleNamespace

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.base.errors import Cancelled, UnavailableError
from gpuviz.export import perfetto
from gpuviz.export.export import Export
from gpuviz.panels.limit_bars import bars_of
from gpuviz.panels.limit_words import limit_sentence, model_note, what_if_words
from gpuviz.timing.device import DEVICES, H200, device_of
from gpuviz.timing.explanation import Bound, Explanation, Limits, explained
from gpuviz.timing.timeline import Instruction
from gpuviz.timing.warp_states import Spans, State
from gpuviz.views.lesson_view import Subject
from gpuviz.views.time_view import time_view
from tests.timing.launches import made


@cache
def known(name: str) -> Explanation:
    """A launch explained."""
    return explained(made(name)[0])


@pytest.mark.machine_code
def test_without_bank_conflicts_another_unit_limits() -> None:
    e = known("shloop_32")
    best = e.what_ifs[0]
    assert e.limits.limiter == best.resource == "wavefronts"
    assert best.cycles < 0.1 * e.prediction.cycles and best.limiter == "alu"
    assert best.microseconds == pytest.approx(best.cycles / H200.clock_ghz / 1e3 + H200.launch_us)
    said = what_if_words(e, best)
    assert said.startswith("Without bank conflicts, 131") and "integers" in said


@pytest.mark.machine_code
def test_the_sentence_names_what_limits_and_its_line() -> None:
    shared, copied = known("shloop_32"), known("copy1_2e18")
    source = ["m[i] = 1;"]
    assert "wavefronts: at work in 100 %" in limit_sentence(shared, source)
    assert limit_sentence(shared, source).endswith("most of it for line 1: m[i] = 1;")
    assert "warps wait most for global memory" in limit_sentence(copied)
    assert f"{H200.error[0]} % in the median" in model_note(H200)


def waiting(*spans: tuple[State, int, int, int]) -> Explanation:
    """A launch that nothing limits, of instructions on lines 0, 1, 2 ...; spans are a state, how
    long, the instruction that came last, and the one that is waited for (-1: none).
    """
    states, lasts, events, causes = np.array(spans).T
    ends = lasts.cumsum()
    none = np.zeros_like(states)
    made = Spans(ends - lasts, ends, none, states, events, causes, np.array([0, len(spans)]))
    timeline = SimpleNamespace(
        spans=made,
        since=0.0,
        recorded=float(ends[-1]),
        code=[Instruction("", line) for line in range(5)],
        events=SimpleNamespace(instruction=np.arange(5)),
    )
    limits = Limits(100.0, (Bound("issue", 1.0),), "latency", 4)
    prediction = SimpleNamespace(
        cycles=100.0,
        circumstances=SimpleNamespace(blocks=132),
        device=SimpleNamespace(multiprocessors=132),
    )
    return Explanation(prediction, limits, (), timeline)  # type: ignore[arg-type]


def test_the_line_is_that_of_the_wait_that_is_named() -> None:
    """It was the one that results are waited for on, whatever the sentence named."""
    dependent = waiting((State.DEPENDENCE, 30, 2, -1), (State.MEMORY, 20, 3, 1))
    said = "warps wait most for dependence, most of it for line 2"
    assert limit_sentence(dependent).endswith(said)
    assert dependent.line == 2
    fetch, read = (State.FETCH, 30, 2, -1), (State.MEMORY, 20, 3, 1)
    far = waiting(fetch, read, (State.L2, 15, 3, 4), (State.L1, 10, 3, 4))
    assert limit_sentence(far).endswith("warps wait most for global memory, most of it for line 4")


@pytest.mark.machine_code
def test_bars_are_in_cycles_of_the_launch() -> None:
    e = known("copy1_2e18")
    bars = {bar.resource: bar for bar in bars_of(e)}
    assert bars["latency"].waits and bars["latency"].cycles < e.prediction.cycles
    assert bars["tail"].cycles == e.tail > 0
    assert bars["launch"].cycles == 7 * H200.block_interval
    assert sum(e.waits.values()) == pytest.approx(1.0)
    assert next(iter(e.waits)) == State.MEMORY


@pytest.mark.machine_code
def test_it_can_be_stopped() -> None:
    with pytest.raises(Cancelled):
        explained(made("copy1_2e18")[0], cancel=lambda: True)


def test_an_architecture_that_was_not_measured_says_what_is_lacking() -> None:
    assert device_of(architecture("sm_90")) is DEVICES["sm_90"]
    with pytest.raises(UnavailableError, match=r"sm_80.*published.*64 resident.*not known.*sm_90"):
        device_of(architecture("sm_80"))


@pytest.mark.machine_code
def test_a_trace_for_perfetto_has_all_that_warps_do() -> None:
    e = known("copy1_2e18")
    file = BytesIO()
    view = time_view(Subject(e, "copy1", "", "sm_90"))
    perfetto.write(Export(view), file)
    trace = json.loads(file.getvalue())
    assert "modelled for an NVIDIA H200" in trace["otherData"]["modelled"]
    events = trace["traceEvents"]
    done = [one for one in events if one["ph"] == "X"]
    issued = [one for one in done if one["cat"] == "issue"]
    assert len(issued) == len(e.timeline.events)
    loads = [one for one in issued if one["name"].startswith("LDG")]
    assert loads and all(one["args"]["line"] == 1 for one in loads)
    end = max(one["ts"] + one["dur"] for one in done)
    assert end == pytest.approx(e.timeline.cycles / H200.clock_ghz / 1e3, rel=0.01)
    threads = {one["tid"] for one in events if one["name"] == "thread_name"}
    assert {one["tid"] for one in done} <= threads and len(threads) == e.timeline.places
    assert {one["name"] for one in events if one["ph"] == "C"} >= {"issue %", "dram %"}
