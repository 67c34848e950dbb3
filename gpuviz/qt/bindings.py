"""Qt's bindings are loaded whole: what a signal raises while they begin aborts the process."""

import signal
import threading
from contextlib import ExitStack

from gpuviz.base.ending import ENDING


def load() -> None:
    """Import what all of Qt's modules need; who is told to end meanwhile is told afterwards.

    Raises
    ------
    ImportError : they are not installed
    """
    late: list[int] = []
    with ExitStack() as after:
        if threading.current_thread() is threading.main_thread():
            for number in ENDING:
                if callable(signal.getsignal(number)):
                    before = signal.signal(number, lambda told, _: late.append(told))
                    after.callback(signal.signal, number, before)
        import PySide6.QtGui  # noqa: F401
    for number in late:
        signal.raise_signal(number)
