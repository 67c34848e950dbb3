"""Where the files of this user go, by the customs of the system; the suffixes of those that are
gpuviz's own kinds (pictures and films are in `export.formats`).
"""

from pathlib import Path

_NAME = "gpuviz/gpuviz"  # organisation and application: what Qt writes lies there, too


def cache() -> Path:
    """What can be made again."""
    from platformdirs import user_cache_path  # not needed to print a version

    return user_cache_path("gpuviz", appauthor=False)


def state() -> Path:
    """The log, and what a window that crashed was showing."""
    from platformdirs import user_state_path

    return user_state_path(_NAME, appauthor=False)


def data() -> Path:
    """What the user made or measured."""
    from platformdirs import user_data_path

    return user_data_path(_NAME, appauthor=False)


def shared() -> Path:
    """What programs tell the desktop of this user; that of all programs."""
    from platformdirs import user_data_path

    return user_data_path()


KERNELS = (".cu", ".cuh", ".ptx")
TRACE = ".gputrace"
RECORDING = ".gpurec"
CAPTURE = ".gpucapture"
LECTURE = ".gpuviz-lecture"
PAGE, REPORT = ".csv", ".ncu-rep"  # of Nsight Compute
OPENED = (*KERNELS, LECTURE, TRACE, RECORDING, CAPTURE, PAGE, REPORT)  # all of these
