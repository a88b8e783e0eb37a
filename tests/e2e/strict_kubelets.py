"""Kubelets that reject pods for which they have no room, which kwok never does."""

import http.client
import itertools
import threading
from collections import Counter
from collections.abc import Mapping
from typing import Any

from tests.e2e.client import ApiClient, RefusedError, Tree, path_of

__all__ = ["StrictKubelets"]


class StrictKubelets:
    """Runs bound pods on nodes with a limit of CPUs, in the order of their bindings.

    A pod that does not fit fails as with a kubelet, and another one is created in its
    place at once, as by a controller. The thread runs until the API server ends.

    Args:
        client: A client of the API server, for this thread only.
        cpus: The free CPUs of each node.

    Attributes:
        running: Node -> names of running pods and their CPUs.
        refused: Scheduler -> node -> the number of rejected pods.
    """

    def __init__(self, client: ApiClient, cpus: Mapping[str, int]) -> None:
        self._client = client
        self._cpus = cpus
        self.running: dict[str, dict[str, int]] = {name: {} for name in cpus}
        self.refused: Counter[tuple[str, str]] = Counter()
        self._numbers = itertools.count()
        self._failure: Exception | None = None
        threading.Thread(target=self._work, daemon=True).start()

    def count(self) -> int:
        """Return the number of running pods.

        Raises:
            RuntimeError: The kubelets have ended, so there will not be more.
        """
        if self._failure is not None:
            raise RuntimeError("the kubelets have ended") from self._failure
        return sum(map(len, self.running.values()))

    def _work(self) -> None:
        seen: set[str] = set()
        try:
            # The server ends the watch of a client that reads too slowly, which this
            # one does on a busy machine: it sends a request for each pod.
            while True:
                for kind, pod in self._client.watch("/api/v1/pods"):
                    node, uid = pod["spec"].get("nodeName"), pod["metadata"]["uid"]
                    if kind != "DELETED" and node in self._cpus and uid not in seen:
                        seen.add(uid)
                        self._admit(pod, node)
        except (OSError, http.client.HTTPException, RefusedError) as error:
            self._failure = error  # often, the API server has ended

    def _admit(self, pod: Tree, node: str) -> None:
        name, needed = pod["metadata"]["name"], _cpus(pod)
        running = self.running[node]
        if sum(running.values()) + needed <= self._cpus[node]:
            running[name] = needed
            self._report(pod, {"phase": "Running"})
            return
        self.refused[node, pod["spec"]["schedulerName"]] += 1
        message = "Pod was rejected: Node didn't have enough resource: cpu"
        status = {"phase": "Failed", "reason": "OutOfcpu", "message": message}
        self._report(pod, status)
        spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
        metadata = {
            "name": f"replacement-{next(self._numbers)}",
            "namespace": pod["metadata"]["namespace"],
        }
        another = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
        self._client.create({**another, "spec": spec})

    def _report(self, pod: Tree, status: Mapping[str, Any]) -> None:
        tree = {"apiVersion": "v1", "kind": "Pod", "metadata": pod["metadata"]}
        path, change = f"{path_of(tree)}/status", {"status": status}
        try:
            self._client.patch(path, change)
        except (http.client.RemoteDisconnected, ConnectionResetError):
            # The server may close a connection that was idle: the change is the same.
            self._client.patch(path, change)


def _cpus(pod: Tree) -> int:
    containers = pod["spec"]["containers"]
    return sum(
        int(container["resources"]["requests"]["cpu"]) for container in containers
    )
