"""A control plane with a mixed cluster; the test acts as kubelets and controllers."""

import random
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from typing import Final, Self

from tests.e2e.client import ApiClient, RefusedError, Tree, path_of
from tests.e2e.control_plane import ControlPlane
from tests.e2e.follower import Follower, key_of
from tests.e2e.mixed_cluster import ballast, cluster_objects
from tests.e2e.mixed_devices import free_devices
from tests.e2e.volumes import VolumeController

__all__ = ["FLAGS", "Scene"]

FLAGS: Final = ("--disable-admission-plugins=StorageObjectInUseProtection",)
"""Flags of the API server: claims and volumes are deleted without their controllers."""

_ZONE: Final = "topology.kubernetes.io/zone"
_LONG_AGO: Final = datetime(2026, 1, 1, tzinfo=UTC)
_MOST_PER_NODE: Final = 7


class Scene:
    """A mixed cluster on a control plane that runs with `FLAGS`.

    Attributes:
        client: A client with all rights.
        pods: All pods.
        nodes: The number of nodes.

    Args:
        plane: The control plane, without objects.
        nodes: The number of nodes to make.
        seed: The seed of the choice of pods to end.
    """

    def __init__(self, plane: ControlPlane, *, nodes: int, seed: int) -> None:
        self.client: ApiClient = plane.client()
        self.pods = Follower(self.client, "/api/v1/pods")
        self.nodes = nodes
        self._random = random.Random(seed)
        self._starts = 0
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        made = self.client.create_all(cluster_objects(self.nodes), threads=1)
        labels = {
            tree["metadata"]["name"]: tree["metadata"]["labels"]
            for tree in made
            if tree["kind"] == "Node"
        }
        zones = {name: of[_ZONE] for name, of in labels.items()}
        self.volumes = VolumeController(self.client, zones)
        for follower in (self.pods, self.volumes):
            self._stack.enter_context(follower)
        for pod in ballast(self.nodes):
            self.run(self.client.create(pod))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def allow_one_disruption(self) -> None:
        """Let one protected pod be evicted, as the controller of budgets would."""
        self.client.patch(
            "/apis/policy/v1/namespaces/default/poddisruptionbudgets/guarded/status",
            {"status": {"disruptionsAllowed": 1}},
        )

    def run(self, pod: Tree) -> None:
        """Start a bound pod; each at another second, so that start times differ."""
        self._starts += 1
        start = _LONG_AGO + timedelta(seconds=self._starts)
        status = {
            "phase": "Running",
            "startTime": start.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        self.client.patch(f"{path_of(pod)}/status", {"status": status})

    def remove(self, pod: Tree) -> None:
        """End a pod, with its claims."""
        with suppress(RefusedError):  # it has never been bound, and is deleted
            self.client.delete(path_of(pod), grace=0)
        namespace = pod["metadata"]["namespace"]
        for volume in pod["spec"].get("volumes", ()):
            claim = volume.get("persistentVolumeClaim", {}).get("claimName")
            if claim:
                self.volumes.remove(f"{namespace}/{claim}")
        key = key_of(pod)
        self.pods.wait(lambda: self.pods.get(key) is None, what=f"the end of {key}")
        free_devices(self.client, pod)

    def thin_out(self) -> None:
        """End some pods, if there are many."""
        bound = sorted(self.pods.all(), key=key_of)
        for _ in range(len(bound) - _MOST_PER_NODE * self.nodes):
            self.remove(bound.pop(self._random.randrange(len(bound))))
