"""The access of a pod to the cluster in which it runs.

Mirrors ``InClusterConfig`` (k8s.io/client-go v0.36, ``rest/config.go``).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from quaymaster._clusters.kubernetes.access import Access, Pem

__all__ = ["in_cluster_access"]

_FOLDER: Final = "/var/run/secrets/kubernetes.io/serviceaccount"


def in_cluster_access(
    environment: Mapping[str, str], folder: str = _FOLDER
) -> Access | None:
    """Return the access with the pod's service account; None outside of a cluster.

    Args:
        environment: The environment, in which kubelets set the server's address.
        folder: The folder in which kubelets put token, authority and namespace.
    """
    host = environment.get("KUBERNETES_SERVICE_HOST", "")
    port = environment.get("KUBERNETES_SERVICE_PORT", "")
    token, authority = Path(folder, "token"), Path(folder, "ca.crt")
    if not (host and port and token.exists()):
        return None
    namespace = Path(folder, "namespace")
    shown = f"[{host}]" if ":" in host else host
    return Access(
        name="the cluster of this pod",
        server=f"https://{shown}:{port}",
        namespace=namespace.read_text("utf-8").strip() if namespace.exists() else "",
        authority=Pem(file=str(authority)) if authority.exists() else Pem(),
        token_file=str(token),
    )
