"""`python -m gpuviz` is the gpuviz command."""

import sys

from gpuviz.cli import main

if __name__ == "__main__":
    sys.exit(main())
