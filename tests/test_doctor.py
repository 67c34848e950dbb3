import ctypes
import subprocess
import sys

import pytest

from gpuviz import doctor

linux = pytest.mark.skipif(sys.platform != "linux", reason="Qt brings all it needs elsewhere")
BOOKWORM = {"ID": "debian", "VERSION_ID": "12"}
NOBLE = {"ID": "ubuntu", "ID_LIKE": "debian", "VERSION_ID": "24.04"}


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch):
    """Makes libraries whose names hold one of some words impossible to load, and others load."""

    def remove(*words: str) -> None:
        def load(name: str) -> None:
            if any(word in name for word in words):
                raise OSError(name)

        monkeypatch.setattr(ctypes, "CDLL", load)

    return remove


@linux
def test_nothing_missing(without) -> None:
    without()
    assert doctor.missing_libraries({}) == ()
    assert doctor.advice(()) == ""


@linux
@pytest.mark.parametrize(
    "environment, missing",
    [
        ({"QT_QPA_PLATFORM": "offscreen"}, ()),
        ({"QT_QPA_PLATFORM": "xcb:nographicsbuffers"}, ("libxcb-cursor.so.0",)),
        ({"DISPLAY": ":0"}, ("libxcb-cursor.so.0",)),
        ({"WAYLAND_DISPLAY": "wayland-0"}, ()),
    ],
)
def test_what_is_needed_depends_on_the_display(without, environment, missing) -> None:
    without("xcb-cursor")
    assert doctor.missing_libraries(environment) == missing


@linux
def test_drawing_without_a_window_needs_the_core(without) -> None:
    without("libEGL", "xcb")
    assert doctor.missing_libraries({"QT_QPA_PLATFORM": "offscreen"}) == ("libEGL.so.1",)


@linux
def test_no_display_is_told_unless_none_is_needed() -> None:
    assert "ssh -X" in doctor.display_advice({})
    assert doctor.display_advice({"DISPLAY": ":0"}) == ""
    assert doctor.display_advice({"QT_QPA_PLATFORM": "offscreen"}) == ""


def test_one_line_mends_debian_and_ubuntu() -> None:
    missing = ("libglib-2.0.so.0", "libEGL.so.1")
    assert "sudo apt-get install -y libegl1 libglib2.0-0\n" in doctor.advice(missing, BOOKWORM)
    assert "sudo apt-get install -y libegl1 libglib2.0-0t64\n" in doctor.advice(missing, NOBLE)
    derived = {"ID": "linuxmint", "ID_LIKE": "ubuntu debian", "VERSION_ID": "22"}
    assert "libegl1 libglib2.0-0\n" in doctor.advice(missing, derived)


def test_other_systems_get_the_names_of_the_files() -> None:
    advice = doctor.advice(("libEGL.so.1",), {"ID": "fedora"})
    assert "libEGL.so.1" in advice
    assert "apt" not in advice


@linux
def test_the_table_names_all_that_qt_needs() -> None:
    """Every library the wheel's Qt links to is in the table, in the wheel, or in every system."""
    import PySide6

    root = f"{PySide6.__path__[0]}/Qt"
    libraries = ("Core", "Gui", "Widgets", "DBus", "Svg", "OpenGL", "XcbQpa", "WaylandClient")
    files = [f"{root}/lib/libQt6{name}.so.6" for name in libraries]
    files += [f"{root}/plugins/platforms/libq{name}.so" for name in ("xcb", "offscreen", "wayland")]
    needed = {library for file in files for library in _needed(file)}
    everywhere = (
        "libc.",
        "libm.",
        "libdl.",
        "libpthread.",
        "libstdc++.",
        "libgcc_s.",
        "ld-linux",
        "libQt6",
        "libicu",
        "libgthread-2.0",
    )
    unknown = {name for name in needed if not name.startswith(everywhere)} - doctor._PACKAGES.keys()
    assert unknown == set()


def _needed(file: str) -> list[str]:
    """Names after NEEDED in an ELF file, as the dynamic loader of the system lists them."""
    try:
        shown = subprocess.run(["objdump", "-p", file], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"objdump cannot read it: {error}")
    lines = (line.split() for line in shown.stdout.splitlines())
    return [words[1] for words in lines if len(words) == 2 and words[0] == "NEEDED"]
