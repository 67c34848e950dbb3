"""Settings, recent views and sessions of every wrong kind: each start ends with a window."""

from __future__ import annotations

import os
import random
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from pytestqt.qtbot import QtBot

from gpuviz.qt.window.window import Window

KEYS = (
    *("theme", "scale", "lesson", "speed", "loop", "arch", "level", "compare", "compare_arch"),
    *("gpu_use", "geometry", "splitter/across", "splitter/down", "show/source", "code", "recents"),
    *("values/pairs", "compared/pairs", "language", "arch_chosen", "export/still", "export/folder"),
)
QFLOAT16 = "@Variant(\\0\\0\\0?\\0<\\0)"  # a kind that Python does not know
WRONG = (
    QFLOAT16,
    *("", "x", "-1", "1e400", "nan", "inf", "true", "null", "9" * 5000, "\x00", "\ud800", "%", "é"),
    *("[]", "{}", "[" * 5000, '{"stride": 1e400}', '{"stride": [1]}', '{"stride": "x"}', '"'),
    *('["gpuviz://pairs?stride=1e400"]', '["gpuviz://\\u0000"]', "[null, 7, {}, [[]]]"),
    *('["gpuviz://k?.launch.file=//host/x&.launch.entry=k&.launch.grid=1&.launch.block=1"]',),
    *("@Invalid()", "@ByteArray(\\xff\\0)", "@Variant(\\0\\0\\0\\x80\\xff\\xff\\xff\\xff)", "@@x"),
    *("@Variant(\\0\\0\\0\\x1f\\x1)", "@Rect(1 2 3)", "@Size(-1 -1)", "@Point(1e9 x)", "a, b, c"),
)


def conf(values: dict[str, str]) -> bytes:
    """A file of settings as Qt writes it, with these values as they stand."""
    groups: dict[str, list[str]] = {}
    for key, value in values.items():
        group, _, name = key.rpartition("/")
        groups.setdefault(group or "General", []).append(f"{name}={value}")
    text = "\n".join(f"[{group}]\n" + "\n".join(lines) for group, lines in groups.items())
    return text.encode("utf-8", "surrogatepass")


def starts(make: Callable[..., Window], home: Path, settings: bytes, session: bytes) -> None:
    (home / "gpuviz.ini").write_bytes(settings)
    state = home / "state"
    state.mkdir(exist_ok=True)
    (state / "window-0.json").write_bytes(session)
    window = make(state=state)
    assert window.player.story is not None and window.isVisible()
    window.close()
    assert QSettings(str(home / "gpuviz.ini"), QSettings.Format.IniFormat).value("lesson")


@pytest.mark.parametrize("wrong", ["1e400", "[" * 5000, QFLOAT16])
def test_some_wrong_values(
    make: Callable[..., Window], tmp_path: Path, course: None, wrong: str
) -> None:
    starts(make, tmp_path, conf(dict.fromkeys(KEYS, wrong)), b"[" * 5000)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG, ids=lambda text: repr(text)[:30])
def test_one_wrong_value_everywhere(
    make: Callable[..., Window], tmp_path: Path, course: None, wrong: str
) -> None:
    session = b'{"view": "' + wrong.encode("utf-8", "surrogatepass") + b'", "tries": 1}'
    starts(make, tmp_path, conf(dict.fromkeys(KEYS, wrong)), session)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_files_at_random(
    make: Callable[..., Window], tmp_path: Path, course: None, seed: int
) -> None:
    dice = random.Random(seed)
    settings = bytearray(conf({key: dice.choice(WRONG) for key in KEYS}))
    for _ in range(dice.randrange(40)):
        settings[dice.randrange(len(settings))] = dice.randrange(256)
    session = bytearray(b'{"view": "gpuviz://sums?stride=9&.t=2", "tries": 0}')
    for _ in range(dice.randrange(4)):
        session[dice.randrange(len(session))] = dice.randrange(256)
    starts(make, tmp_path, bytes(settings[: dice.randrange(1, 6000)]), bytes(session))


@pytest.mark.skipif(sys.platform != "linux", reason="settings are a file elsewhere, or none")
@pytest.mark.parametrize("kept", [False, True], ids=["put aside", "where nothing can be moved"])
def test_a_pipe_instead_of_settings_is_not_waited_for(tmp_path: Path, kept: bool) -> None:
    folder = tmp_path / "gpuviz"
    folder.mkdir()
    os.mkfifo(folder / "gpuviz.conf")
    if kept:
        (folder / "gpuviz.aside").mkdir()
        (folder / "gpuviz.aside" / "x").touch()  # what is moved there finds it full
    code = (
        "from gpuviz.qt.preferences.settings import open_settings\n"
        "print(open_settings().value('theme', 'none'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "XDG_CONFIG_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=10,
    )
    assert done.stdout == "none\n" and "begins without them" in done.stderr
    lies = folder / ("gpuviz.conf" if kept else "gpuviz.aside")
    assert stat.S_ISFIFO(lies.stat().st_mode)


def _gone(file: Path) -> None:
    file.unlink()


def _garbage(file: Path) -> None:
    file.write_bytes(b"\0\xff[[" * 999)


def _folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _link_to_itself(file: Path) -> None:
    file.unlink()
    file.symlink_to(file)


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [_gone, _garbage, _folder, _link_to_itself])
def test_settings_replaced_while_the_window_is_open(
    make: Callable[..., Window],
    tmp_path: Path,
    course: None,
    qtbot: QtBot,
    spoil: Callable[[Path], None],
) -> None:
    """It goes on with what it has; the next start has a window, too."""
    window, file = make(), tmp_path / "gpuviz.ini"
    window.view.set_values({"stride": 5})
    window.settings.keep("theme", "light")
    window.settings._settings.sync()
    assert file.is_file()
    spoil(file)
    window.settings.keep("scale", 1.1)
    window.settings._settings.sync()
    window.view.set_values({"stride": 6})
    qtbot.waitUntil(lambda: not window.director.performer.busy, timeout=20_000)
    assert window.view.now.values["stride"] == 6 and window.player.story is not None
    window.close()
    assert make().player.story is not None


@pytest.mark.slow
def test_two_windows_keep_their_own_session_and_the_settings_of_both(
    make: Callable[..., Window], tmp_path: Path, course: None, qtbot: QtBot
) -> None:
    state = tmp_path / "state"
    first, second = make(state=state), make(state=state)
    for turn in range(5):
        for window, stride in ((first, 10 + turn), (second, 20 + turn)):
            window.view.set_values({"stride": stride})
    kept = [state / f"window-{number}.json" for number in range(2)]
    for file, said in zip(kept, ("stride=14", "stride=24"), strict=True):
        qtbot.waitUntil(lambda file=file, said=said: said in file.read_text(), timeout=20_000)
    first.settings.keep("export/one", "a")
    second.settings.keep("export/two", "b")
    first.close()
    second.close()
    read = QSettings(str(tmp_path / "gpuviz.ini"), QSettings.Format.IniFormat)
    assert (read.value("export/one"), read.value("export/two")) == ("a", "b")
