"""Write docs/coverage.md."""

import sys

from gpuviz.coverage.page import PAGE, page
from gpuviz.terminal import out


def main() -> int:
    """Perform all lessons named, and write; exit status 0."""
    text = page()
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text, encoding="utf-8", newline="\n")
    out(str(PAGE))
    return 0


if __name__ == "__main__":
    sys.exit(main())
