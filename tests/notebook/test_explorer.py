"""The widget: what it tells for values, and what its script makes of that in a browser."""

import json
import re
from html import unescape
from pathlib import Path

import pytest

import gpuviz
from gpuviz.base.errors import InputError
from tests.export import pictures

pytest.importorskip("anywidget")
pytestmark = pytest.mark.slow

# A model as anywidget gives one; what a reader does, and what is there afterwards.
PAGE = """<!DOCTYPE html><meta charset="utf-8"><div id="here"></div><script>
const values = MODEL, heard = {};
const model = {get: (name) => values[name], set: (name, value) => { values[name] = value; },
  save_changes: () => (heard["saved"] = (heard["saved"] || 0) + 1),
  on: (name, call) => { heard[name] = call; }};
</script><script type="module">
SCRIPT
gpuvizWidget({model, el: document.getElementById("here")});
const root = document.querySelector("#here > div").shadowRoot, said = {};
const knobs = [...root.querySelectorAll("[data-parameter]")];
said.knobs = knobs.map((one) => one.dataset.parameter);
said.clock = root.getElementById("clock").textContent;
root.getElementById("next").click();
said.next = root.getElementById("clock").textContent;
const stride = knobs.find((one) => one.dataset.parameter === "stride");
stride.value = 4; stride.dispatchEvent(new Event("input")); stride.dispatchEvent(new Event("change"));
said.stride = values.values.stride; said.saved = heard.saved;
values.values = {...values.values, stride: 8, pattern: "column"}; heard["change:values"]();
said.set = [stride.value, stride.nextSibling.textContent, JSON.parse(knobs[0].value)];
heard["change:data"]();
said.kept = root.getElementById("clock").textContent;
values.problem = "nothing"; heard["change:problem"]();
said.problem = root.querySelector(".problem").textContent;
const out = document.createElement("pre");
out.id = "said"; out.textContent = JSON.stringify(said); document.body.append(out);
</script>"""  # noqa: E501


def test_a_choice_tells_the_lesson_anew() -> None:
    widget = gpuviz.explore("banks", stride=2)
    before = widget.data
    widget.values = {**widget.values, "stride": 8}
    assert widget.data != before and "8 wavefronts" in widget.data and not widget.problem
    kept = widget.data
    widget.values = {**widget.values, "stride": 99}
    assert "stride cannot be 99" in widget.problem and widget.data == kept


def test_a_function_becomes_sliders() -> None:
    text = "__global__ void f(float *x) { x[threadIdx.x * STRIDE] = 1; }"

    def launch(stride: int, threads: int) -> gpuviz.Run:
        return gpuviz.trace(text, 1, threads, ("f32[1024]=zeros",), defines={"STRIDE": stride})

    widget = gpuviz.explore(launch, stride=range(1, 9), threads=(32, 64))
    kinds = {one["id"]: one["kind"] for one in widget.parameters}
    assert kinds == {"stride": "range", "threads": "choice"}
    before = widget.data
    widget.values = {"stride": 8, "threads": 32}
    assert widget.data != before and "32 sectors" in widget.data
    with pytest.raises(InputError, match="give values to take"):
        gpuviz.explore(launch, stride=3)


def test_no_name_is_one_that_jupyter_takes_for_a_widget() -> None:
    widget = gpuviz.explore("banks")
    assert not {"style", "layout"} & (widget.traits(sync=True).keys() - {"layout"})


def test_its_script_in_a_browser(tmp_path: Path) -> None:
    chromium = pictures.program("chromium-headless-shell", "chromium", "google-chrome")
    widget = gpuviz.explore("banks", stride=2)
    names = ("parameters", "values", "body", "css", "data", "problem")
    model = json.dumps({name: getattr(widget, name) for name in names}).replace("<", "\\u003c")
    script = widget._esm.replace("export default", "const exported =")
    page = PAGE.replace("SCRIPT", script).replace("MODEL", model)
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--dump-dom")
    dom = pictures.run(tmp_path, chromium, *flags, (tmp_path / "page.html").as_uri())
    found = re.search(r'<pre id="said">(.*?)</pre>', dom, re.S)
    assert found is not None, "the script failed"
    said = json.loads(unescape(found[1]))
    assert said["knobs"] == [one["id"] for one in widget.parameters]
    assert said["clock"].startswith("0.0 /") and said["next"] == said["kept"] != said["clock"]
    assert said["set"] == ["8", "8", "column"]
    assert (said["stride"], said["saved"], said["problem"]) == (4, 1, "nothing")
