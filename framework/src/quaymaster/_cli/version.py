"""``quaymaster version``."""

import platform
from importlib import metadata

import click

from quaymaster._cli.output import print_line

__all__ = ["UPSTREAM", "command", "print_version"]

UPSTREAM = "1.36.2"
"""The release of kube-scheduler whose decisions are the reference."""


@click.command("version")
def command() -> None:
    """Print the version, and which kube-scheduler it decides like."""
    print_version()


def print_version() -> None:
    """Print one line."""
    version = metadata.version("quaymaster")
    python = platform.python_version()
    print_line(f"quaymaster {version} (kube-scheduler {UPSTREAM}, Python {python})")
