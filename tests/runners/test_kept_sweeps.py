from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpuviz.errors import InputError
from gpuviz.runners.kept_sweeps import file_of, keep, kept
from tests.runners.test_sweep import times

OWN = replace(times(), device="NVIDIA Test 0", date="2026-10-01")


def test_times_are_kept_for_their_gpu(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    path = keep(folder, OWN)
    assert path.name == "block_shape-nvidia-test-0.json" and list(folder.iterdir()) == [path]
    found = kept(folder, "NVIDIA Test 0")
    assert found is not None and found.date == "2026-10-01"
    assert np.abs(found.milliseconds - OWN.milliseconds).max() < 1e-5
    assert kept(folder, "NVIDIA H200") is None and kept(folder, "") is None


def test_newer_times_replace_older_ones(tmp_path: Path) -> None:
    keep(tmp_path, OWN)
    keep(tmp_path, replace(OWN, date="2026-10-02"))
    assert len(list(tmp_path.iterdir())) == 1
    found = kept(tmp_path, OWN.device)
    assert found is not None and found.date == "2026-10-02"


def test_a_damaged_file_or_one_of_another_gpu_is_not_used(tmp_path: Path) -> None:
    path = keep(tmp_path, OWN)
    path.replace(file_of(tmp_path, "NVIDIA Other"))
    assert kept(tmp_path, "NVIDIA Other") is None
    path.write_text("{")
    assert kept(tmp_path, OWN.device) is None


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write .*block_shape-nvidia-test-0.json"):
        keep(tmp_path / "file", OWN)
