"""Fragments: the product is right, elements are where the hardware has them, phases are exact."""

from __future__ import annotations

from math import gcd

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.base.errors import InputError
from gpuviz.compile import nvrtc
from gpuviz.course.matrix_products.fragments.fragment_map import FORMS
from gpuviz.course.matrix_products.fragments.lesson import LESSON
from gpuviz.draw.hit import lit_at, tip_at
from gpuviz.draw.marks import Boxes
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.memory.bank_request import bank_requests
from gpuviz.run.run import Run
from gpuviz.story.lesson import check_values
from tests.course.performed import performed

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
STAGE = Stage(1600, 1000, DARK)
FLOATS = {"f16": np.float16, "f64": np.float64}


def run_of(form: str, pitch: int = 144, arch: str = "sm_90") -> Run:
    return performed(LESSON, {"form": form, "pitch": pitch}, arch).runs["warp"]


@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
@pytest.mark.parametrize(
    "form", ["m16n8k16 f16", pytest.param("m16n8k16 f64", marks=pytest.mark.slow)]
)
def test_the_warp_multiplies_what_it_was_given(form: str, arch: str) -> None:
    if arch == "sm_75" and "f64" in form:
        return  # fragments are only loaded there
    one, run = FORMS[form], run_of(form, arch=arch)
    kind = FLOATS[one.kind]
    a, b, d = (np.asarray(x) for x in (run.inputs["A"], run.inputs["B"], run.outputs["D"]))
    a, b = (x.view(kind).astype(np.float64).reshape(-1, one.inner) for x in (a, b))
    got = d.view(np.float64 if one.result == "f64" else np.float32).reshape(one.rows, 8)
    assert np.allclose(got, a @ b.T, rtol=1e-5, atol=1e-5)
    assert np.abs(got).max() > 0.1


@pytest.mark.parametrize("pitch", [32, 48, 64, 80, 128, 144])
def test_phases_take_what_the_greatest_common_divisor_says(pitch: int) -> None:
    run = run_of("m16n8k16 f16", pitch)
    loads = [r for r in bank_requests(run.trace, architecture("sm_90"), 0, 0) if not r.is_store]
    assert [r.count for r in loads] == [n * gcd(pitch // 16, 8) for n in (4, 2)]
    assert [r.ideal for r in loads] == [4, 2]


def test_pointing_at_an_element_lights_its_register_and_the_other_way_round() -> None:
    story = performed(LESSON, {}).story
    frame = story.frame(1.0, STAGE)
    drawn = [m for m in frame.marks if isinstance(m, Boxes) and m.link == "A"]
    assert len(drawn) == 2  # as a matrix, and as registers
    element = 9 * 16 + 11  # row 9, column 11: lane 5 has it in the upper half of a[3]
    for mark in drawn:
        x, y, wide, high = mark.rect[element].tolist()
        point = x + wide / 2, y + high / 2
        assert tip_at(frame, *point) == "A[9][11]\nlane 5 · register a[3] · bits 16 to 31"
        lit = {tuple(box) for box in lit_at(frame, *point).tolist()}
        assert lit == {tuple(one.rect[element].tolist()) for one in drawn}
        assert story.pick(1.0, STAGE, *point) == {"lane": 5}


@pytest.mark.parametrize("form", FORMS)
def test_every_element_is_somewhere_once(form: str) -> None:
    one = FORMS[form]
    for fragment, shape in (
        (one.a, (one.rows, one.inner)),
        (one.b, (one.inner, 8)),
        (one.d, (one.rows, 8)),
    ):
        places = fragment.row.ravel() * shape[1] + fragment.column.ravel()
        assert sorted(places.tolist()) == list(range(shape[0] * shape[1]))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_told(form: str) -> None:
    for arch in ("sm_75", "sm_80", "sm_90"):
        performed(LESSON, {"form": form, "pitch": 144}, arch).story.frame(3.0, STAGE)


def test_rows_that_overlap_are_refused() -> None:
    with pytest.raises(InputError, match="at least 32, not 16"):
        check_values(LESSON, {"pitch": 16})


def test_what_an_architecture_lacks_is_said() -> None:
    told = {
        arch: performed(LESSON, {}, arch).story.frame(1.0, STAGE) for arch in ("sm_61", "sm_75")
    }
    words = {
        a: " ".join(s for m in f.marks for s in getattr(m, "strings", ())) for a, f in told.items()
    }
    assert "Pascal (6.1) has no ldmatrix" in words["sm_61"]
    assert "two m16n8k8 do the same" in words["sm_75"]
