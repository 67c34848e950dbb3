"""An executor that does the work at once, in this process."""

from concurrent.futures import Executor, Future
from typing import Any


class Here(Executor):
    """Counts what it has done."""

    def __init__(self) -> None:
        self.done = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        self.done += 1
        return future
