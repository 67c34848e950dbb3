"""The classroom bundle: a folder with gpuviz, Python and Qt, which is copied and started.

    make bundle                          # or, where there is no make:
    python packaging/bundle/build.py     # writes dist/bundle/gpuviz, and says how large it is

PyInstaller runs in a virtual environment of its own, so that only what gpuviz needs is found. It
makes bundles for the system it runs on; Linux was tried, Windows and macOS were not.
"""

import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
WORK = ROOT / "build" / "bundle"
PLACE = ROOT / "dist" / "bundle"
BUILDER = "pyinstaller>=6.11"
LEFT_OUT = "nvidia-"  # its programs are not ours to hand on; what looks for them on the machine is


def needs() -> list[str]:
    """What gpuviz needs, but for what is left out."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [row for row in project["dependencies"] if not row.startswith(LEFT_OUT)]


def python() -> Path:
    """The Python of the environment, made if it is not there, with what is needed."""
    folder = WORK / "venv"
    found = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not found.exists():
        venv.create(folder, with_pip=True)
    command = [str(found), "-m", "pip", "--disable-pip-version-check", "-q", "install"]
    subprocess.run([*command, BUILDER, *needs()], check=True)
    return found


def main() -> int:
    """Build it; the exit status of what failed, which said why."""
    try:
        builder = python()
    except subprocess.CalledProcessError as error:
        return error.returncode
    options = ["--noconfirm", "--log-level=ERROR", f"--distpath={PLACE}", f"--workpath={WORK}"]
    spec = str(Path(__file__).with_name("gpuviz.spec"))
    done = subprocess.run([str(builder), "-m", "PyInstaller", *options, spec])
    if done.returncode == 0:
        files = [file for file in (PLACE / "gpuviz").rglob("*") if not file.is_symlink()]
        size = sum(file.stat().st_size for file in files if file.is_file())
        print(f"{PLACE / 'gpuviz'}: {size / 1e6:.0f} MB in {len(files)} files and folders")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
