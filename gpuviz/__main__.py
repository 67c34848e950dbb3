"""`python -m gpuviz` is the gpuviz command."""

import os
import sys


def _leave_out_current_folder() -> None:
    """Python puts it first: what lies there, say in a download, is not to be imported."""
    own = os.path.exists(os.path.join("gpuviz", "__main__.py"))
    if not own and not sys.flags.safe_path and sys.path[:1] == [os.getcwd()]:
        del sys.path[0]


if __name__ == "__main__":
    _leave_out_current_folder()
    from gpuviz.cli import main

    sys.exit(main())
