"""``quaymaster version``."""

import platform
from importlib import metadata

import click

from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, RELEASES
from quaymaster._cli.output import print_line

__all__ = ["command", "print_version"]


@click.command("version")
def command() -> None:
    """Print the version, and which kube-scheduler it decides like."""
    print_version()


def print_version() -> None:
    """Print the versions of Quaymaster and of Kubernetes."""
    version = metadata.version("quaymaster")
    python = platform.python_version()
    played = ", ".join(release.patch for release in RELEASES.values())
    default = DEFAULT_KUBERNETES.version
    print_line(f"quaymaster {version} (Python {python})")
    print_line(f"decides like kube-scheduler {played}; by default {default}")
