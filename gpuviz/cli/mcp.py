"""`gpuviz mcp`: answers about launches for agents, over the Model Context Protocol."""

import argparse

from gpuviz.base.errors import UnavailableError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None."""


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client is gone; 0."""
    try:
        from gpuviz.agents.server import server
    except ModuleNotFoundError as error:
        if not str(error.name).startswith(("mcp", "anyio")):
            raise
        raise UnavailableError(
            "the package mcp is not installed: pip install 'gpuviz[agents]'"
        ) from error
    server().run()
    return 0
