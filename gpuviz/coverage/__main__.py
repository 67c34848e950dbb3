"""Write docs/coverage.md and docs/counters.md."""

import sys

from gpuviz.coverage import counters
from gpuviz.coverage.page import PAGE, page
from gpuviz.words.terminal import out


def main() -> int:
    """Perform all lessons named, and write; exit status 0."""
    counters.PAGE.write_text(counters.page(), encoding="utf-8", newline="\n")
    text = page()
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text, encoding="utf-8", newline="\n")
    out(f"{PAGE}\n{counters.PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
