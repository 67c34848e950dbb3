"""The page on lectures: what it gives as an example can be read, and shows what it says."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from gpuviz.lectures.reading import parse

PAGE = Path(__file__).parents[2] / "docs" / "lectures.md"
KERNEL = """extern "C" __global__ void saxpy(const float* x, float* y, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""


def test_the_examples_are_a_lecture(tmp_path: Path) -> None:
    (tmp_path / "saxpy.cu").write_text(KERNEL)
    np.save(tmp_path / "x.npy", np.zeros(16384, np.float32))
    blocks = re.findall(r"^```toml\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.S | re.M)
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "die.png").write_bytes(b"")
    lecture = parse("\n".join(blocks), tmp_path)
    assert lecture.all_problems == ()
    words, asked, compared, two, plot, markdown, kernel = lecture.slides
    assert words.view is None and words.words.startswith("One warp")
    assert asked.question is not None and 8 in asked.question.choices
    assert compared.view is not None and compared.view.compare_values["stride"] == 32
    assert two.view is not None and plot.plot is not None
    assert markdown.markdown and "\\frac" in markdown.words and markdown.pictures
    assert kernel.view is not None
    assert str(tmp_path / "x.npy") in str(kernel.view.launch["arguments"])
