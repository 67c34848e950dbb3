"""Do the links of a folder of pages lead somewhere? Names those that do not, and what is loaded.

python docs/links.py FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADED = {"script", "img", "link", "source", "iframe"}


class Links(HTMLParser):
    """Collects what a page links to, and what it loads."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element that names another file."""
        given = dict(attrs)
        if tag == "link" and given.get("rel") == "canonical":
            return
        self.found += [(tag, given[key] or "") for key in ("href", "src") if key in given]


def broken(root: Path) -> Iterator[str]:
    """The links that lead nowhere, and the files that would be loaded from the network."""
    for page in sorted(root.rglob("*.html")):
        links = Links()
        links.feed(page.read_text(encoding="utf-8"))
        for tag, link in links.found:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https") or parts.netloc:
                if tag in _LOADED:
                    yield f"{page.relative_to(root)} loads {link}"
            elif parts.path and not parts.scheme:
                target = page.parent / unquote(parts.path)
                if not (target / "index.html" if target.is_dir() else target).exists():
                    yield f"{page.relative_to(root)} links to {link}"


if __name__ == "__main__":
    wrong = [line for line in broken(Path(sys.argv[1])) if "404.html" not in line]
    print("\n".join(wrong) or "every link leads somewhere")  # noqa: T201
    sys.exit(bool(wrong))
