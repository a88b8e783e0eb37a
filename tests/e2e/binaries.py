"""The paths of the servers of the end-to-end tests.

The environment variable ``QUAYMASTER_E2E_SERVERS``, such as ``1.36``, chooses the minor
version of Kubernetes; by default it is the newest.
"""

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from quaymaster.config import Kubernetes

__all__ = [
    "CACHE",
    "KARPENTER_MISSING",
    "KARPENTER_SOURCE",
    "MISSING",
    "NAMES",
    "RELEASES",
    "SERVED",
    "ServersMissingError",
    "built_folder",
    "has_servers",
    "karpenter_folder",
    "left_out",
    "server_binary",
    "servers_folder",
    "sources_of",
]

_SOURCES: Final = Path(__file__).parent / "servers"
_REQUIRED: Final = re.compile(r"^require k8s\.io/kubernetes v(\S+)$", re.MULTILINE)


def _release_in(module: Path) -> str:
    """Return the release of Kubernetes that a Go module requires."""
    text = (module / "go.mod").read_text()
    match = _REQUIRED.search(text)
    assert match is not None, f"{module}/go.mod requires no k8s.io/kubernetes"
    return match[1]


RELEASES: Final = {
    module.name: _release_in(module)
    for module in sorted((_SOURCES / "kubernetes").iterdir())
}
"""The releases of Kubernetes whose servers can be built, by minor version."""

SERVED: Final = Kubernetes(os.environ.get("QUAYMASTER_E2E_SERVERS") or max(RELEASES))
"""The Kubernetes version of the servers that the tests start."""

CACHE: Final = Path.home() / ".cache" / "quaymaster"
NAMES: Final = (
    "etcd",
    "kwok",
    "kube-apiserver",
    "kube-scheduler",
    "kube-controller-manager",
)
MISSING: Final = (
    f"the servers of Kubernetes {SERVED.version} are not there: "
    f"'python -m tests.e2e.build --servers {SERVED.version}' makes them, with Go, "
    "or KUBEBUILDER_ASSETS names a folder with "
) + ", ".join(NAMES)

KARPENTER_SOURCE: Final = _SOURCES / "karpenter"
"""The Go module of Karpenter with its simulated cloud."""

KARPENTER_MISSING: Final = (
    "Karpenter is not there: 'python -m tests.e2e.build' makes it after the servers"
)


class ServersMissingError(Exception):
    """The servers are not on this machine."""


def sources_of(version: str) -> dict[str, Path]:
    """Return the folders of the Go modules for the servers of a version.

    Args:
        version: One of `RELEASES`.
    """
    return {
        "etcd": _SOURCES / "etcd",
        "kwok": _SOURCES / "kwok",
        "kubernetes": _SOURCES / "kubernetes" / version,
    }


def built_folder(version: str = SERVED.version) -> Path:
    """Return the folder for the servers of a version; new sources have a new folder.

    Args:
        version: One of `RELEASES`.
    """
    return CACHE / f"k8s-{RELEASES[version]}-{_digest(sources_of(version))}"


def karpenter_folder() -> Path:
    """Return the folder for Karpenter and its CRDs, whether they are there or not."""
    return CACHE / f"karpenter-{_digest({'karpenter': KARPENTER_SOURCE})}"


def _digest(modules: Mapping[str, Path]) -> str:
    """Return a name for the contents of the folders of Go modules."""
    digest = hashlib.sha256()
    for module, folder in sorted(modules.items()):
        for path in sorted(folder.iterdir()):
            digest.update(f"{module}/{path.name}".encode() + b"\0")
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def servers_folder() -> Path | None:
    """Return the folder with the servers of `SERVED`, or None if any is missing."""
    named = os.environ.get("KUBEBUILDER_ASSETS")
    folder = Path(named) if named else built_folder()
    return folder if has_servers(folder) else None


def has_servers(folder: Path) -> bool:
    """Whether a folder has all servers that the tests need."""
    return all((folder / name).is_file() for name in NAMES)


def server_binary(name: str) -> Path:
    """Return the path of one server.

    Raises:
        ServersMissingError: The servers are not on this machine.
    """
    folder = servers_folder()
    if folder is None:
        raise ServersMissingError(MISSING)
    return folder / name


def left_out() -> str:
    """Return the line that explains, at the end of a run, how to run these tests."""
    run = "end-to-end tests left out; 'pytest -m e2e' runs them"
    if servers_folder() is not None:
        return run
    return f"{run}, and 'python -m tests.e2e.build' makes their servers, with Go"
