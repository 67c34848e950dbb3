"""A GPU whose driver lies: `python lying_worker.py LIES`, by the name of a request what its reply
says instead, as JSON.

`{"describe": {"devices": ...}}` is put over the values; a request of `null` never answers; `arrays`
are given as lists.
"""

import json
import sys
import time

import numpy as np

from gpuviz.gpu.protocol import Reply
from gpuviz.gpu.worker import serve
from tests.gpu.fake_worker import FACTS, Fake


class Lying(Fake):
    """Honest but for the lies."""

    def __init__(self, lies):
        super().__init__()
        self._lies = lies

    def __getattribute__(self, name):
        found = super().__getattribute__(name)
        if name.startswith("_") or name not in self._lies:
            return found
        lie = self._lies[name]

        def answer(request):
            if lie is None:
                time.sleep(3600)
            said = found(request)
            arrays = said.arrays
            if "arrays" in lie:
                arrays = tuple(np.array(one, np.float64) for one in lie["arrays"])
            values = {**said.values, **lie.get("values", {})}
            return Reply({k: v for k, v in values.items() if v != "gone"}, arrays)

        return answer


def facts(**other):
    """What is said of a device that is not as it should be."""
    return {"describe": {"values": {"devices": [{**FACTS, **other}]}}}


if __name__ == "__main__":
    serve(Lying(json.loads(sys.argv[1])), sys.stdin.buffer, sys.stdout.buffer)
