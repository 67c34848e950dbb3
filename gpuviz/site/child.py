"""A process that makes the pages of one lesson, or the one of a lecture:

python -m gpuviz.site.child FOLDER lesson ID
python -m gpuviz.site.child FOLDER lecture FILE
"""

from __future__ import annotations

import sys
from pathlib import Path

from gpuviz.base.errors import failure_of
from gpuviz.course import lesson
from gpuviz.site import lecture_page, lesson_page
from gpuviz.words.terminal import err


def main(root: str, kind: str, name: str) -> int:
    """Exit status 0, or 1 with a line on stderr that says why there are no pages."""
    try:
        if kind == "lecture":
            lecture_page.write(Path(name), Path(root))
        else:
            lesson_page.write(lesson(name), Path(root))
    except Exception as error:  # whatever goes wrong with a lesson is that lesson's
        err(failure_of(error).message)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
