"""Runs kubectl commands that the product prints."""

import shlex
import subprocess

from tests.e2e.binaries import server_binary
from tests.e2e.control_plane import ControlPlane

__all__ = ["dry_run"]


def dry_run(plane: ControlPlane, command: str) -> None:
    """Run a kubectl command as a dry run of the server.

    Raises:
        subprocess.CalledProcessError: The server refuses it.
    """
    program, *words = shlex.split(command)
    assert program == "kubectl"
    options = [f"--kubeconfig={plane.kubeconfig()}", "--dry-run=server"]
    subprocess.run(
        [server_binary("kubectl"), *words, *options],
        check=True,
        capture_output=True,
        timeout=60,
    )
