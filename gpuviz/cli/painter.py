"""Who paints what is rendered: Qt, which is imported only then."""

from contextlib import AbstractContextManager, nullcontext

from gpuviz.export.export import Painter
from gpuviz.export.formats import Format


def painter_for(form: Format) -> AbstractContextManager[Painter | None]:
    """A painter for formats that are painted; the others need none."""
    return painter() if form.painted else nullcontext()


def painter() -> AbstractContextManager[Painter]:
    """A painter without a display.

    Raises
    ------
    UnavailableError : a system library that Qt needs is missing
    """
    from gpuviz.qt.painting import headless

    return headless.painter()
