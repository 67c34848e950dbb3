"""`gpuviz --integrate [off]`: gpuviz in the menu of the desktop, its files opened by a click."""

from __future__ import annotations

from gpuviz import desktop
from gpuviz.files.suffixes import LECTURE, RECORDING, TRACE
from gpuviz.words.terminal import err, out


def run(choice: str) -> int:
    """Do it, and say which files it took; 0."""
    done = desktop.integrate() if choice == "on" else desktop.withdraw()
    kinds = ", ".join((LECTURE, RECORDING, TRACE))
    if choice == "on":
        out(f"gpuviz is among the programs of this desktop, and opens {kinds}:")
    elif done.files:
        out(f"gpuviz is no longer among the programs of this desktop, nor opens {kinds}. Removed:")
    else:
        out("gpuviz was not among the programs of this desktop: nothing to undo")
    for file in done.files:
        out(f"  {file}")
    if done.lacking:
        err(
            f"gpuviz: {' and '.join(done.lacking)} could not be run: the desktop may know of this "
            "only after the next login (Debian: shared-mime-info, desktop-file-utils)"
        )
    return 0
