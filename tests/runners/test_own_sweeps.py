from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpuviz.errors import InputError
from gpuviz.runners import own_sweeps, sweep
from gpuviz.runners.own_sweeps import file_of, keep, known, use
from tests.runners.test_sweep import times

OWN = replace(times(), device="NVIDIA Test 0", date="2026-10-01")


@pytest.fixture(autouse=True)
def forgotten(tmp_path: Path) -> Iterator[None]:
    yield
    use(tmp_path, "")


def test_the_users_times_of_this_gpu_come_first(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    path = keep(folder, OWN)
    assert path.name == "block_shape-nvidia-test-0.json" and list(folder.iterdir()) == [path]
    assert known() == sweep.shipped()
    assert use(folder, "NVIDIA Test 0")
    predictions, found = known()
    assert predictions is sweep.shipped()[0]
    assert found is not None and found.date == "2026-10-01"
    assert np.abs(found.milliseconds - OWN.milliseconds).max() < 1e-5
    assert use(folder, "NVIDIA H200") and known() == sweep.shipped()
    assert not use(folder, "")


def test_newer_times_replace_older_ones(tmp_path: Path) -> None:
    keep(tmp_path, OWN)
    keep(tmp_path, replace(OWN, date="2026-10-02"))
    assert use(tmp_path, OWN.device) and len(list(tmp_path.iterdir())) == 1
    found = known()[1]
    assert found is not None and found.date == "2026-10-02"


def test_a_damaged_file_or_one_of_another_gpu_is_not_used(tmp_path: Path) -> None:
    path = keep(tmp_path, OWN)
    path.replace(file_of(tmp_path, "NVIDIA Other"))
    assert not use(tmp_path, "NVIDIA Other")
    path.write_text("{")
    assert not use(tmp_path, OWN.device) and known() == sweep.shipped()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write .*block_shape-nvidia-test-0.json"):
        own_sweeps.keep(tmp_path / "file", OWN)
