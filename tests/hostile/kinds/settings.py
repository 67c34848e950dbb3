"""What a window remembers: settings, the views looked at, and what a crash left behind."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

from tests.hostile import nasty, trees
from tests.hostile.kind import Kind
from tests.hostile.mutation import changed_bytes, changed_text, encoded

_SETTINGS = (
    "[General]\ngeometry=@ByteArray(\\x1\\xd9\\xd0\\xcb)\nlanguage=es\nscale=1.25\ntheme=dark\n"
    "gpu_use=0.5\nlesson=banks\nreduced_motion=true\nspeed=2\nloop=true\n"
    'recents="[\\"gpuviz://banks?stride=4\\"]"\n'
    "[splitter]\ncode=@ByteArray(\\0\\0\\0\\xff)\n"
    '[values]\nbanks="{\\"stride\\": 4}"\ncoalescing="{\\"stride\\": 2}"\n'
    'pairs="{\\"stride\\": 3}"\n'
)
_VALUES = (
    *("@Variant(\\0\\0\\0\\x7f)", "@ByteArray()", "@Rect(0 0 99999999 99999999)", "@Invalid()"),
    *("1e400", "nan", "-1", "9" * 400, '"{"', '"[[[["', '"{\\"stride\\": 1e400}"', "true, false"),
    *('"[\\"gpuviz://banks?stride=99\\", 7, null]"', '"[' + "[" * 3000 + '"', "%SystemRoot%"),
    *("@DateTime(\\0\\0\\0\\x10)", "@Variant(\\0\\0\\0\\t\\xff\\xff\\xff\\xff)", "@Size(-1 -1)"),
)
_LEFT = {"view": "gpuviz://pairs?stride=7", "tries": 0}
_LINKS = (
    *("gpuviz://", "gpuviz://nothing", "gpuviz://pairs?stride=1e9", "gpuviz://pairs?.t=1e5"),
    *("gpuviz://k?.launch.file=mine.cu&.launch.entry=k&.launch.grid=9&.launch.block=9999999999"),
    *("gpuviz://k?.launch.trace=t.gputrace", "gpuviz://pairs?.arch=sm_1", "x" * 100_000, "\x1b[2J"),
)


def make(random: Random) -> bytes:
    """Settings, a line of its own, and a session."""
    text = _SETTINGS
    for _ in range(random.choice((0, 1, 2, 4))):
        lines = text.splitlines(keepends=True)
        at = random.choice([n for n, line in enumerate(lines) if "=" in line])
        value = random.choice((*_VALUES, nasty.word(random)[:5000]))
        lines[at] = f"{lines[at].partition('=')[0]}={value}\n"
        text = "".join(lines)
    if random.random() < 0.3:
        text = changed_text(random, text)
    kept = encoded(text.replace("\f", ""))
    if random.random() < 0.15:
        kept = changed_bytes(random, kept)
    left = {**_LEFT, "view": random.choice(_LINKS)} if random.random() < 0.4 else _LEFT
    return kept + b"\f" + trees.as_json(random, left)


def window(file: Path) -> None:
    """A window that begins with them, lets its first story play, and ends."""
    from PySide6.QtCore import QCoreApplication, QEvent, QSettings
    from PySide6.QtWidgets import QApplication

    from gpuviz.qt.window.window import Window
    from gpuviz.run.session import Session
    from tests.qt.fake_lesson import COURSE, FakePerform

    app = QApplication.instance()
    assert app is not None
    settings, state = _laid_out(file)
    shown = Window(
        FakePerform(),
        COURSE,
        QSettings(str(settings), QSettings.Format.IniFormat),
        state=state,
        session=Session(),
    )
    shown.show()
    for _ in range(20):
        app.processEvents()
    shown.close()
    shown.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    app.processEvents()


def _laid_out(file: Path) -> tuple[Path, Path]:
    """The file of the settings, and the folder of the session."""
    kept, _, left = file.read_bytes().partition(b"\f")
    settings, state = Path("gpuviz.ini").absolute(), Path("left").absolute()
    settings.write_bytes(kept)
    shutil.rmtree(state, ignore_errors=True)
    state.mkdir()
    (state / "window-0.json").write_bytes(left)
    return settings, state


KIND = Kind("settings", 100, ".ini", make, calls=(window,))
