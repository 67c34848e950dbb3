"""Write docs/coverage.md and docs/counters.md."""

import argparse
import sys

from gpuviz.words.terminal import out
from tools.coverage import counters
from tools.coverage.page import PAGE, page


def main() -> int:
    """Perform all lessons named, and write; exit status 0."""
    argparse.ArgumentParser(prog="python -m tools.coverage", description=__doc__).parse_args()
    counters.PAGE.write_text(counters.page(), encoding="utf-8", newline="\n")
    text = page()
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text, encoding="utf-8", newline="\n")
    out(f"{PAGE}\n{counters.PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
