"""Namespaces of a real cluster, in which courses of ``tests.world`` are played."""

import math
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from tests.e2e.client import ApiClient, RefusedError, Tree
from tests.world import projection

__all__ = ["LiveNamespace", "Looks"]

_GROUPS: Final = {
    "Pod": "/api/v1",
    "Deployment": "/apis/apps/v1",
    "ReplicaSet": "/apis/apps/v1",
    "StatefulSet": "/apis/apps/v1",
    "DaemonSet": "/apis/apps/v1",
    "Job": "/apis/batch/v1",
    "PodDisruptionBudget": "/apis/policy/v1",
}
_SHARED: Final = "courses share the nodes and cannot change them"
_SCHEDULED: Final = {"type": "PodScheduled", "status": "True"}


_KEPT: Final = 4

Objects = dict[str, list[Tree]]


class Looks:
    """The objects of all namespaces, listed once for each second.

    Many courses at once look at the cluster in the same seconds: a list of the whole
    cluster for all of them costs little more than one for a single namespace.

    Args:
        client: A client of the API server.
    """

    def __init__(self, client: ApiClient) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._looks: dict[int, dict[str, Objects]] = {}

    def at(self, second: int, namespace: str) -> Objects:
        """Return the objects of a namespace in that second, by kind."""
        with self._lock:
            if second not in self._looks:
                self._looks[second] = self._listed()
                for old in sorted(self._looks)[:-_KEPT]:
                    del self._looks[old]
            look = self._looks[second]
        none: Objects = {kind: [] for kind in projection.KINDS}
        return none | look.get(namespace, {})

    def _listed(self) -> dict[str, Objects]:
        namespaces: defaultdict[str, Objects] = defaultdict(dict)
        empty: Tree = {"spec": {}, "status": {}}
        for kind, group in _GROUPS.items():
            for item in self._client.items(f"{group}/{_plural(kind)}"):
                objects = namespaces[item["metadata"]["namespace"]]
                objects.setdefault(kind, []).append(empty | item)
        return namespaces


class LiveNamespace:
    """Plays a course on real servers, in real time.

    Nodes are shared by all courses, so a course must not change them.

    Args:
        client: A client of the API server.
        looks: The objects of all namespaces.
        namespace: The namespace; it exists and is empty.
        delay: How many seconds later the course begins. Courses of different delays
            act in different seconds, so that the servers keep up with all of them.
    """

    def __init__(
        self, client: ApiClient, looks: Looks, namespace: str, delay: int = 0
    ) -> None:
        self._client = client
        self._looks = looks
        self._namespace = namespace
        # Times in objects are whole seconds: a course that begins with one compares
        # them without a remainder.
        self._begin = math.ceil(time.time()) + delay
        self._second = self._begin
        self.wait_until(0)

    def wait_until(self, seconds: float) -> None:
        """Wait for a second of the course."""
        self._second = self._begin + int(seconds)
        time.sleep(max(0.0, self._begin + seconds - time.time()))

    def objects(self) -> Objects:
        """Return the objects of the namespace, by kind."""
        return self._looks.at(self._second, self._namespace)

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
        path = f"{_GROUPS[kind]}/namespaces/{self._namespace}/{_plural(kind)}"
        return f"{path}/{name}" if name else path

    def _patch_status(self, pod: Tree, status: Tree) -> None:
        path = f"{self._path('Pod', pod['metadata']['name'])}/status"
        _answer(lambda: self._client.patch(path, {"status": status}))


def _plural(kind: str) -> str:
    return f"{kind.lower()}s"


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
