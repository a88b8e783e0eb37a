"""Where the servers of the end-to-end tests are."""

import hashlib
import os
from pathlib import Path
from typing import Final

from quaymaster.config import Kubernetes

__all__ = [
    "CACHE",
    "MISSING",
    "NAMES",
    "RELEASE",
    "SERVED",
    "SOURCES",
    "ServersMissingError",
    "built_folder",
    "left_out",
    "server_binary",
    "servers_folder",
]

RELEASE: Final = "1.36.2"
SERVED: Final = Kubernetes(RELEASE.rpartition(".")[0])
SOURCES: Final = Path(__file__).parent / "servers"
CACHE: Final = Path.home() / ".cache" / "quaymaster"
NAMES: Final = (
    "etcd",
    "kwok",
    "kube-apiserver",
    "kube-scheduler",
    "kube-controller-manager",
)
MISSING: Final = (
    "the servers are not there: 'python -m tests.e2e.build' makes them, with Go, "
    "or KUBEBUILDER_ASSETS names a folder with "
) + ", ".join(NAMES)


class ServersMissingError(Exception):
    """The servers are not on this machine."""


def built_folder() -> Path:
    """Where `tests.e2e.build` puts the servers: another one when a version changes."""
    digest = hashlib.sha256()
    for path in sorted(SOURCES.rglob("*.*")):
        digest.update(path.relative_to(SOURCES).as_posix().encode() + b"\0")
        digest.update(path.read_bytes())
    return CACHE / f"k8s-{RELEASE}-{digest.hexdigest()[:12]}"


def servers_folder() -> Path | None:
    """The folder with the servers, if all of them are there."""
    named = os.environ.get("KUBEBUILDER_ASSETS")
    folder = Path(named) if named else built_folder()
    return folder if all((folder / name).is_file() for name in NAMES) else None


def server_binary(name: str) -> Path:
    """The path of one server.

    Raises:
        ServersMissingError: They are not on this machine.
    """
    folder = servers_folder()
    if folder is None:
        raise ServersMissingError(MISSING)
    return folder / name


def left_out() -> str:
    """One line at the end of a run without the end-to-end tests: how to have them."""
    run = "end-to-end tests left out; 'pytest -m e2e' runs them"
    if servers_folder() is not None:
        return run
    return f"{run}, and 'python -m tests.e2e.build' makes their servers, with Go"
