"""Judgements for people, for continuous integration and for its pages."""

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from gpuviz.assertions.claim import Judgement
from gpuviz.words.language import english

Judged = Mapping[str, Sequence[Judgement]]
"""Judgements by the launch that they are of."""
_WORDS = {True: "holds", False: "FAILS", None: "NOT JUDGED"}
# What the workflow commands of GitHub take for letters that end one (docs: Workflow commands).
_ESCAPED = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_ESCAPED_PROPERTY = _ESCAPED | {":": "%3A", ",": "%2C"}
# XML 1.0, 2.2 allows no other control characters.
_NO_CONTROLS = {n: None for n in range(32) if chr(n) not in "\t\n"}


def failed(judged: Judged) -> int:
    """How many claims do not hold, or could not be judged."""
    return sum(not one.holds for found in judged.values() for one in found)


def as_text(judged: Judged) -> str:
    """A line a claim, in the order they were made; below those that fail, the lines to blame."""
    several = len(judged) > 1
    lines = []
    for launch, found in judged.items():
        lines += [f"{launch}:"] * several
        lines += (f"{_WORDS[one.holds]:<10}  {one.text}" for one in found)
    return "\n".join(lines)


def as_json(found: Sequence[Judgement]) -> list[dict[str, object]]:
    """Plain values."""
    return [
        {
            "claim": one.claim,
            "holds": one.holds,
            "told": one.told,
            "line": one.line or None,
            "places": [place.text for place in one.places],
        }
        for one in found
    ]


def junit(judged: Judged, file: str) -> str:
    """An XML report as JUnit writes them, which continuous integration reads: a case a claim."""
    whole = ElementTree.Element("testsuites")
    for launch, found in judged.items():
        counts = {"tests": len(found), "failures": sum(one.holds is False for one in found)}
        counts["errors"] = sum(one.holds is None for one in found)
        said = {key: str(n) for key, n in counts.items()}
        suite = ElementTree.SubElement(whole, "testsuite", {"name": f"gpuviz {file}"} | said)
        for one in found:
            case = ElementTree.SubElement(
                suite, "testcase", classname=_clean(launch), name=_clean(one.claim)
            )
            if file:
                case.set("file", file)
            if one.line:
                case.set("line", str(one.line))
            if not one.holds:
                kind = "failure" if one.holds is False else "error"
                ElementTree.SubElement(case, kind, message=_clean(one.told)).text = _clean(one.text)
    ElementTree.indent(whole)
    return ElementTree.tostring(whole, encoding="unicode", xml_declaration=True) + "\n"


def annotations(judged: Judged, file: str) -> str:
    """Commands that make GitHub show each failure beside its line."""
    lines = []
    for launch, found in judged.items():
        for one in found:
            if not one.holds:
                at = {"file": file, "line": str(one.line or ""), "title": f"gpuviz: {launch}"}
                place = ",".join(
                    f"{key}={_escaped(value, _ESCAPED_PROPERTY)}"
                    for key, value in at.items()
                    if value
                )
                lines.append(f"::error {place}::{_escaped(one.text, _ESCAPED)}")
    return "\n".join(lines)


def markdown(judged: Judged, file: str) -> str:
    """A summary for a page: a table of the claims, and what is to blame for each that fails."""
    wrong, every = failed(judged), sum(map(len, judged.values()))
    said = english("{n} assertion, ", "{n} assertions, ", every)
    said += f"{wrong} failed" if wrong else "all hold"
    lines = [f"### gpuviz: {_cell(file)}", "", said]
    for launch, found in judged.items():
        lines += ["", f"**{_cell(launch)}**", "", "| | assertion | numbers |", "|---|---|---|"]
        lines += (
            f"| {'✅' if one.holds else '❌' if one.holds is False else '❔'} | {_cell(one.claim)} "
            f"| {_cell(one.told)} |"
            for one in found
        )
        for one in found:
            if one.places:
                text = "\n".join(place.text for place in one.places).replace("```", "'''")
                lines += ["", f"{_cell(one.claim)}:", "```", text, "```"]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """A text in a cell of a table: none of its letters mean anything there."""
    text = text.replace("\n", " ").replace("\\", "\\\\")
    for letter in "|`*_<[":
        text = text.replace(letter, f"\\{letter}")
    return text


def _clean(text: str) -> str:
    return text.translate(_NO_CONTROLS)


def _escaped(text: str, letters: Mapping[str, str]) -> str:
    for letter, code in letters.items():
        text = text.replace(letter, code)
    return text
