"""The rows of a slide's form that say what stands beside its lesson: another one, or a plot."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal

from gpuviz.course import COURSE
from gpuviz.lectures.answer import label as count_label
from gpuviz.qt.controls.controls import Combo, text_line
from gpuviz.qt.controls.layouts import row_of
from gpuviz.qt.look.theme import Theme
from gpuviz.words.language import tr

_NOTHING, _PLOT = "", "plot"
_LETTERS = 9  # of a box, at least
_WIDE = 130  # pixels of the values, at least


class BesideRows(QObject):
    """`given` is what a file says of it, `counts` what can be plotted."""

    changed = Signal()  # something else is filled in

    def __init__(
        self, given: Mapping[str, Any], counts: Sequence[str], theme: Theme, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._given = given
        items = [(tr("nothing"), _NOTHING), (tr("a plot"), _PLOT)]
        items += ((tr(one.title), one.id) for one in COURSE)
        self.what = Combo(tr("Beside"), theme, items)
        self.what.choose(_PLOT if "vary" in given else given.get("lesson", _NOTHING))
        values = given.get("vary") or _joined(given.get("values", {}))
        self.values = text_line(tr("Values"), values)
        self.count = Combo(tr("What is plotted"), theme, count_items(counts, given))
        self.count.choose(given.get("count"))
        for box in (self.what, self.count):  # the values are to be read, too
            box.setSizeAdjustPolicy(box.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(_LETTERS)
        self.values.setMinimumWidth(theme.look.px(_WIDE))
        self.values.textChanged.connect(self.changed)
        self.what.currentIndexChanged.connect(self._choose)
        self.count.currentIndexChanged.connect(self.changed)
        self.row = row_of((self.what, 1), (self.values, 1), (self.count, 1), gap=6)
        self._offer()

    @property
    def plain(self) -> dict[str, Any]:
        """What is filled in, as a file would have it; nothing where nothing is."""
        what, text = self.what.currentData(), self.values.text().strip()
        if what == _NOTHING:
            return {}
        if what == _PLOT:
            per = {"per": self._given["per"]} if "per" in self._given else {}
            return {"vary": text, "count": self.count.currentData() or "", **per}
        plain: dict[str, Any] = {"lesson": what}
        if text:
            plain["values"] = dict(map(_pair, filter(None, map(str.strip, text.split(",")))))
        if what == self._given.get("lesson") and "arch" in self._given:
            plain["arch"] = self._given["arch"]
        return plain

    def _choose(self) -> None:
        self.values.clear()  # they were those of something else
        self._offer()
        self.changed.emit()

    def _offer(self) -> None:
        what = self.what.currentData()
        self.values.setVisible(what != _NOTHING)
        self.count.setVisible(what == _PLOT)
        hint = "stride=1..32*2" if what == _PLOT else tr("as usual, or stride=2, …")
        self.values.setPlaceholderText(hint)


def _joined(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def count_items(counts: Sequence[str], given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Counts in words and by their keys, that which is given among them."""
    for key in dict.fromkeys([*counts, *filter(None, [given.get("count")])]):
        yield count_label(key), key


def _pair(text: str) -> tuple[str, int | str]:
    """A name and its value, a number where it is one."""
    name, _, said = (part.strip() for part in text.partition("="))
    return name, int(said) if said.removeprefix("-").isdecimal() else said
