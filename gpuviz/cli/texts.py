"""What the commands say of themselves: resources/commands.toml."""

from typing import NamedTuple

from gpuviz.base import resources


class Command(NamedTuple):
    """A subcommand, which is the file of its name here: what it does in a line, its options as help
    shows them, and what stands below them.
    """

    does: str
    options: str
    examples: str


_TABLE = resources.table("commands.toml")
COMMANDS = {name: Command(**row) for name, row in _TABLE["command"].items()}
SHARED: str = _TABLE["shared"]
GROUPS: dict[str, str] = _TABLE["group"]
