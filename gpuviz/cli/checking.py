"""`--check` on the command line: what is looked for, and what was found, in words."""

import argparse
from collections.abc import Sequence

from gpuviz.base.errors import KernelFault
from gpuviz.traces.check_table import ALL
from gpuviz.traces.trace import Finding
from gpuviz.words.language import english


def checks_of(arguments: argparse.Namespace) -> tuple[tuple[str, ...], bool]:
    """The checks asked for, and whether to look for them at any cost."""
    return (ALL, False) if arguments.check is None else (tuple(arguments.check), True)


def of_fault(fault: KernelFault, checks: Sequence[str]) -> tuple[Finding, ...]:
    """A fault that ended a run, and what was found before, as what checks found: those asked for.

    Empty when none of them looked for the fault.
    """
    found = [one for one in (fault.finding, *fault.others) if isinstance(one, Finding)]
    asked = tuple(one for one in found if one.check in (*checks, "launch"))
    return asked if fault.finding in asked else ()


def errors(findings: Sequence[Finding]) -> int:
    """How many statements are at fault."""
    return sum(finding.severity == "error" for finding in findings)


def summary(checks: Sequence[str], findings: Sequence[Finding]) -> str:
    """`checked memory, race: 1 error, 0 warnings`."""
    wrong = errors(findings)
    return (
        f"checked {', '.join(checks) or 'nothing (a large launch; ask with --check all)'}: "
        + english("{n} error, ", "{n} errors, ", wrong)
        + english("{n} warning", "{n} warnings", len(findings) - wrong)
    )


def told(finding: Finding, file: str = "") -> str:
    """A finding in two lines: what, where, how often; and what to do about it."""
    where = f"{file}:{finding.line}: " if file and finding.line else ""
    often = f" [{finding.count:,} times]" if finding.count > 1 else ""
    remedy = f"\n    {finding.remedy}" if finding.remedy else ""
    return f"{where}{finding.severity}, {finding.check}: {finding.message}{often}{remedy}"
