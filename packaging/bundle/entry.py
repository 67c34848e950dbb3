"""What the bundle starts: the gpuviz command, or a module of it for gpuviz's own processes.

`gpuviz.processes.programs.python` starts `sys.executable -P -m MODULE ...`. In a bundle that
executable is this very program, and understands the same.
"""

import os
import runpy
import sys

CHILD = ["-P", "-m"]


def forget_bundle() -> None:
    """Programs that gpuviz starts, a bundle of itself among them, begin as if nobody had led here.

    The bootloader leads the system's loader to the bundle's libraries, which are not for others.
    """
    os.environ["PYINSTALLER_RESET_ENVIRONMENT"] = "1"
    for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):
        if (before := os.environ.pop(f"{name}_ORIG", None)) is not None:
            os.environ[name] = before
        else:
            os.environ.pop(name, None)


def main() -> int:
    """The exit status of the command; a module ends as it will."""
    forget_bundle()
    if sys.argv[1:3] == CHILD and sys.argv[3:4] and sys.argv[3].split(".")[0] == "gpuviz":
        module = sys.argv[3]
        sys.argv[:] = [module, *sys.argv[4:]]
        if module != "gpuviz":
            runpy.run_module(module, run_name="__main__", alter_sys=True)
            return 0
    from gpuviz.cli import main as command

    return command()


if __name__ == "__main__":
    sys.exit(main())
