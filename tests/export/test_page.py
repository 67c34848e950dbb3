import json
import re
import zlib
from base64 import b64decode
from dataclasses import replace
from functools import cache
from html import unescape
from html.parser import HTMLParser
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuviz.draw.hit import tip_at
from gpuviz.draw.marks import Curves, Frame
from gpuviz.export import page, page_data, svg
from gpuviz.export.export import Options
from gpuviz.export.page_data import hovers
from gpuviz.export.reading import read
from gpuviz.export.svg_marks import elements
from gpuviz.memory.counts import Count
from gpuviz.recordings.measurement import CounterValue, DeviceFacts, Measurement
from gpuviz.results import rows
from gpuviz.views.lesson_view import View
from gpuviz.views.make_view import badges, timed
from gpuviz.views.provenance import Provenance
from gpuviz.words import language
from gpuviz.words.language import grouped
from tests.export import pictures
from tests.export.pictures import LESSONS, performed

PAGE_LIMIT = 3 << 19

# What a visitor does; after each, the page says where it is.
CLICKS = """<script>
const said = [];
const say = (name) => said.push([name, document.getElementById("clock").textContent,
  document.querySelector("#source li.now")?.textContent ?? "", marks(),
  document.getElementById("step").textContent]);
const marks = () => document.getElementById("marks").innerHTML;
const key = (name) => document.dispatchEvent(new KeyboardEvent("keydown", {key: name}));
say("start");
document.getElementById("next").click(); say("next");
key("ArrowRight"); say("right");
document.getElementById("back").click(); say("back");
const slider = document.getElementById("time");
slider.value = slider.max; slider.dispatchEvent(new Event("input")); say("scrubbed");
key("Home"); say("home");
key("."); say("picture");
key("End"); key(" "); say("playing"); key(" "); say("paused");
key("Home");
for (let i = 0; i < STEP; i++) key("ArrowRight");
const stage = document.getElementById("stage"), box = stage.getBoundingClientRect();
const scale = box.width / stage.viewBox.baseVal.width;
const point = (x, y) => stage.dispatchEvent(new PointerEvent("pointermove",
  {clientX: box.left + x * scale, clientY: box.top + y * scale}));
point(POINT); said.push(["tip", document.getElementById("tip").textContent]);
point(1, 1); said.push(["away", String(document.getElementById("tip").hidden)]);
const out = document.createElement("pre");
out.id = "said"; out.textContent = JSON.stringify(said);
document.body.append(out);
</script></body>"""


def view(name: str) -> View:
    told = performed(name)
    made = Provenance(
        name, {}, "sm_90", width=960, height=540, theme="light", badges=badges(told.runs)
    )
    return timed(View(told.story, told.runs, made), 0, told.story.duration)


@cache
def document(name: str) -> str:
    """The page of a lesson."""
    return page.document(view(name), Options())


def data_of(text: str) -> dict:
    found = re.search(r'<script type="text/plain" id="data">(.*?)</script>', text, re.S)
    assert found is not None
    return json.loads(zlib.decompress(b64decode(found[1]), -zlib.MAX_WBITS))


def rebuilt(data: dict) -> list[list[str]]:
    """The elements of every picture, as the script puts them together."""
    before: list[int] = []
    found = []
    for edits in data["edits"]:
        after = list(before)
        for at, count, added in edits:
            after[at : at + count] = accumulate(added)
        found.append([data["parts"][number] for number in after])
        before = after
    return found


first = pytest.mark.parametrize(
    "name", [LESSONS[0], *(pytest.param(name, marks=pytest.mark.slow) for name in LESSONS[1:])]
)


@first
def test_pages_hold_every_picture_and_little_else(name: str) -> None:
    shown, text = view(name), document(name)
    assert len(text) < PAGE_LIMIT
    data = data_of(text)
    assert {s.start for s in shown.story.steps} <= set(data["times"])
    assert len(data["times"]) == len(data["edits"]) > 12 * (shown.story.duration - 1)
    every = rebuilt(data)
    for number in range(0, len(every), 17):
        drawn = [
            p for e in elements(shown.frame(data["times"][number])) for p in page_data.pieces(e)
        ]
        assert every[number] == drawn


class Loading(HTMLParser):
    """Collects what a page would load."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loaded += [
            f"{tag} {value}"
            for key, value in attrs
            if key in ("src", "href", "action") and not str(value).startswith("data:")
        ]


def test_pages_load_nothing_and_say_where_they_are_from(tmp_path: Path) -> None:
    shown, text = view(LESSONS[0]), document(LESSONS[0])
    loading = Loading()
    loading.feed(text)
    assert loading.loaded == [] and "@import" not in text and "url(http" not in text
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    assert read(tmp_path / "page.html") == shown.provenance
    for run in shown.runs.values():
        assert grouped(run.counts.totals[Count.GLOBAL_LOAD_SECTORS]) in text


def test_what_a_gpu_read_stands_beside_what_is_predicted() -> None:
    device = DeviceFacts(0, "NVIDIA H200", "9.0", "580", "13.0", 132, 1, 1)
    read = {
        "global_load_sectors": CounterValue(5.0),
        "global_load_requests": CounterValue(None, "denied"),
    }
    (run,) = performed(LESSONS[0]).runs.values()
    table = rows.totals({"": replace(run, measurement=Measurement("live", "today", device, read))})
    assert table.columns == ("quantity", "modelled", "measured on NVIDIA H200, today")
    cells = {row[0]: row[2] for row in table.rows}
    assert [cells[f"Global memory: load {n}"] for n in ("sectors", "requests")] == ["5", "–"]


def test_heads_of_the_counts_speak_the_readers_language() -> None:
    device = DeviceFacts(0, "NVIDIA H200", "9.0", "580", "13.0", 132, 1, 1)
    (run,) = performed(LESSONS[0]).runs.values()
    found = Measurement(
        "recorded", "2026-11-20", device, {"global_load_sectors": CounterValue(5.0)}
    )
    language.choose("es")
    try:
        head = rows.totals({"A naive": replace(run, measurement=found), "B naive": run}).columns
    finally:
        language.choose(language.ENGLISH)
    assert head == (
        "cantidad",
        "A ingenuo: modelado",
        "A ingenuo: grabado en NVIDIA H200, 2026-11-20",
        "B ingenuo: modelado",
    )


def test_what_is_pointed_at_says_what_it_says_in_the_window() -> None:
    shown, data = view(LESSONS[0]), data_of(document(LESSONS[0]))
    parts = [tuple(tip) for tip in data["tips"]]
    every = rebuilt({"edits": data["hovers"], "parts": parts})
    asked = 0
    for t, there in list(zip(data["times"], every, strict=True))[::23]:
        frame = shown.frame(t)
        for left, top, width, height, _ in there[::7]:
            x, y = left + width / 2, top + height / 2
            over = [h[4] for h in there if h[0] <= x < h[0] + h[2] and h[1] <= y < h[1] + h[3]]
            assert tip_at(frame, x, y) in (over[-1], *_curves(frame, x, y))
            asked += 1
    assert asked > 50


def _curves(frame: Frame, x: float, y: float) -> list[str | None]:
    """What curves say there; pages leave them out."""
    return [tip_at(replace(frame, marks=(m,)), x, y) for m in frame.marks if isinstance(m, Curves)]


def test_pages_show_a_picture_without_scripts() -> None:
    shown, text = view(LESSONS[0]), document(LESSONS[0])
    still = text[text.index('<g id="marks">') : text.index("</g></svg>")]
    assert "<text" in still and svg.hatches([shown.frame(t) for t in data_of(text)["times"]])


@pytest.mark.slow
@first
def test_clicking_through_a_page(name: str, tmp_path: Path) -> None:
    chromium = pictures.program("chromium-headless-shell", "chromium", "google-chrome")
    shown, text = view(name), document(name)
    steps = shown.story.steps
    saying = [(n, list(hovers(shown.frame(step.start)))) for n, step in enumerate(steps)]
    number, there = next(one for one in saying if one[1])
    left, top, width, height, tip = there[-1]
    clicks = CLICKS.replace("POINT", f"{left + width / 2}, {top + height / 2}")
    clicks = clicks.replace("STEP", str(number))
    (tmp_path / "page.html").write_text(text.replace("</body>", clicks), encoding="utf-8")
    dom = pictures.run(
        tmp_path,
        chromium,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--dump-dom",
        (tmp_path / "page.html").as_uri(),
    )
    found = re.search(r'<pre id="said">(.*?)</pre>', dom, re.S)
    assert found is not None, "a script of the page failed"
    said = {row[0]: row[1:] for row in json.loads(unescape(found[1]))}
    end = f"{shown.story.duration:.1f} s"
    assert said.pop("tip") == [tip] and said.pop("away") == ["true"]
    clock = {name: row[0] for name, row in said.items()}
    assert clock == {
        "start": f"0.0 / {end}",
        "next": f"{steps[1].start:.1f} / {end}",
        "right": f"{steps[2].start:.1f} / {end}",
        "back": f"{steps[1].start:.1f} / {end}",
        "scrubbed": f"{shown.story.duration:.1f} / {end}",
        "home": f"0.0 / {end}",
        "picture": f"0.1 / {end}",
        "playing": f"0.0 / {end}",
        "paused": f"0.0 / {end}",
    }
    for name, step in (("start", steps[0]), ("next", steps[1]), ("right", steps[2])):
        source = shown.runs[step.role].trace.source if step.role else ""
        line = source.splitlines()[step.line - 1] if step.line else ""
        assert said[name][1].strip() == line.strip() and said[name][3].startswith(step.label)
    assert said["start"][2] == said["home"][2] == said["playing"][2]
    one, other = (list(elements(shown.frame(step.start))) for step in steps[1:3])
    assert said["next"][2] == said["back"][2]
    assert (said["next"][2] == said["right"][2]) == (one == other)
    assert said["next"][2] != said["scrubbed"][2]


@given(st.lists(st.lists(st.integers(0, 9), max_size=12), min_size=1, max_size=6))
def test_edits_rebuild_pictures(pictures_: list[list[int]]) -> None:
    parts = [str(number) for number in range(10)]
    data = {"parts": parts, "edits": page_data.edits(pictures_)}
    assert rebuilt(data) == [[parts[n] for n in one] for one in pictures_]


def test_words_of_a_template_are_not_filled_in() -> None:
    assert page.fill("a{{x}}b{{y}}c", {"x": "{{y}}", "y": "2"}) == "a{{y}}b2c"
