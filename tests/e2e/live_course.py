"""A namespace of a real cluster, as a course of ``tests.world`` uses it."""

import math
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from tests.e2e.client import ApiClient, RefusedError, Tree
from tests.world import projection

__all__ = ["LiveNamespace"]

_PATHS: Final = {
    "Pod": "/api/v1/namespaces/{}/pods",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "ReplicaSet": "/apis/apps/v1/namespaces/{}/replicasets",
    "StatefulSet": "/apis/apps/v1/namespaces/{}/statefulsets",
    "DaemonSet": "/apis/apps/v1/namespaces/{}/daemonsets",
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "PodDisruptionBudget": "/apis/policy/v1/namespaces/{}/poddisruptionbudgets",
}
_SHARED: Final = "courses share the nodes and cannot change them"
_SCHEDULED: Final = {"type": "PodScheduled", "status": "True"}


class LiveNamespace:
    """Plays a course on real servers, in real time.

    Nodes are shared by all courses, so a course must not change them.

    Args:
        client: A client of the API server.
        namespace: The namespace; it exists and is empty.
    """

    def __init__(self, client: ApiClient, namespace: str) -> None:
        self._client = client
        self._namespace = namespace
        # Times in objects are whole seconds: a course that begins with one compares
        # them without a remainder.
        self._begin = math.ceil(time.time())

    def wait_until(self, seconds: float) -> None:
        """Wait for a second of the course."""
        time.sleep(max(0.0, self._begin + seconds - time.time()))

    def objects(self) -> dict[str, list[Tree]]:
        """Return the objects of the namespace, by kind."""
        trees: dict[str, list[Tree]] = {kind: [] for kind in projection.KINDS}
        empty: Tree = {"spec": {}, "status": {}}
        for kind in _PATHS:
            items = self._client.items(self._path(kind))
            trees[kind] = [empty | item for item in items]
        return trees

    def create(self, tree: Tree) -> Tree:
        """Post an object, and return the response."""
        return _answer(
            lambda: self._client.request("POST", self._path(tree["kind"]), tree)
        )

    def patch(self, kind_name: str, name: str, patch: Tree) -> Tree:
        """Apply a JSON merge patch, and return the response."""
        path = self._path(kind_name, name)
        return _answer(lambda: self._client.patch(path, patch))

    def delete(self, kind_name: str, name: str) -> Tree:
        """Delete an object in the background, and return the response."""
        path = self._path(kind_name, name)
        return _answer(lambda: self._client.delete(path))

    def evict(self, name: str) -> Tree:
        """Evict a pod, and return the response."""
        eviction = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": self._namespace},
        }
        path = f"{self._path('Pod', name)}/eviction"
        return _answer(lambda: self._client.request("POST", path, eviction))

    def start_pod(self, pod: Tree, is_ready: bool) -> None:
        """Write the status of a running pod."""
        now = _now()
        status = {
            "phase": "Running",
            "startTime": pod.get("status", {}).get("startTime") or now,
            "conditions": [_SCHEDULED, _ready_condition(is_ready, now)],
        }
        self._patch_status(pod, status)

    def end_pod(self, pod: Tree, exit_code: int) -> None:
        """Write the status of a pod whose containers have ended."""
        now = _now()
        terminated = {"exitCode": exit_code, "startedAt": now, "finishedAt": now}
        status = {
            "phase": "Failed" if exit_code else "Succeeded",
            "conditions": [_SCHEDULED, _ready_condition(False, now)],
            "containerStatuses": [
                {
                    "name": container["name"],
                    "image": container["image"],
                    "imageID": "",
                    "ready": False,
                    "restartCount": 0,
                    "state": {"terminated": terminated},
                }
                for container in pod["spec"]["containers"]
            ],
        }
        self._patch_status(pod, status)

    def remove_pod(self, pod: Tree) -> None:
        """Confirm the end of a deleted pod."""
        path = self._path("Pod", pod["metadata"]["name"])
        _answer(lambda: self._client.delete(path, grace=0))

    def stop_kubelet(self, node: str) -> None:
        """Refuse."""
        raise ValueError(f"{node}: {_SHARED}")

    def start_kubelet(self, node: str) -> None:
        """Refuse."""
        raise ValueError(f"{node}: {_SHARED}")

    def set_node_ready(self, name: str, status: str) -> None:
        """Refuse."""
        raise ValueError(f"{name}: {_SHARED}, so its status stays, not {status}")

    def _path(self, kind: str, name: str = "") -> str:
        path = _PATHS[kind].format(self._namespace)
        return f"{path}/{name}" if name else path

    def _patch_status(self, pod: Tree, status: Tree) -> None:
        path = f"{self._path('Pod', pod['metadata']['name'])}/status"
        _answer(lambda: self._client.patch(path, {"status": status}))


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _ready_condition(is_ready: bool, now: str) -> Tree:
    status = "True" if is_ready else "False"
    return {"type": "Ready", "status": status, "lastTransitionTime": now}


def _answer(call: Callable[[], object]) -> Tree:
    """Send a request, and return its HTTP status, with the message of an error."""
    try:
        call()
    except RefusedError as error:
        return {"code": error.code, "message": error.message}
    return {"code": 200}
