"""The stage of a fault: a cluster, its schedulers, and a burst of pods."""

import contextlib
import random
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.e2e.client import Tree
from tests.e2e.control_plane import ControlPlane
from tests.e2e.faults.proxy import Proxy
from tests.e2e.files import write_kubeconfig
from tests.e2e.firehose import Firehose
from tests.e2e.loads import GROUP_FLAGS, GROUP_GATES, gangs, nodes, pods, quaymaster
from tests.e2e.ports import free_ports
from tests.e2e.processes import eventually
from tests.e2e.records import FLAGS, Record
from tests.e2e.replicas import ELECTION, USERS, Replica, leader_of, running

__all__ = ["Stage"]

_PODS_PER_NODE: Final = 20


class Stage:
    """A cluster on which faults are played.

    Args:
        plane: A cluster without objects, which `cluster` makes.
        count: The number of pods of a burst; they fill all nodes completely.
        seed: The seed of all random choices.
        gang_size: The number of pods of a gang; 0 for pods without groups.

    Attributes:
        namespace: The namespace of the current burst.
        record: The API server's record since this burst began.
        replicas: The current schedulers.
        proxy: The proxy between them and the API server, if any.
    """

    def __init__(
        self, plane: ControlPlane, count: int, seed: int, *, gang_size: int = 0
    ) -> None:
        self.plane = plane
        self.count = count
        self.gang_size = gang_size
        self.random = random.Random(seed)
        self.admin = plane.client()
        self.hose = Firehose(plane)
        self.record = Record(plane.folder / "audit.log")
        self.namespace = ""
        self.replicas: Sequence[Replica] = ()
        self.proxy: Proxy | None = None
        self._bursts = 0
        self.hose.create(nodes(count // _PODS_PER_NODE))

    @staticmethod
    def cluster(*, has_groups: bool = False) -> ControlPlane:
        """Return a cluster for a stage, not started; with PodGroups on request."""
        flags = (*FLAGS, *GROUP_FLAGS) if has_groups else FLAGS
        return ControlPlane(users=USERS, audit=True, apiserver_flags=flags)

    @contextlib.contextmanager
    def schedulers(self, count: int, *, via_proxy: bool = False) -> Iterator[None]:
        """Run one scheduler, or two of which one leads; behind a proxy on request."""
        with contextlib.ExitStack() as stack:
            if via_proxy:
                (port,) = free_ports(1)
                self.proxy = stack.enter_context(Proxy(self.plane, port))
            names = [*USERS][:count]
            config = {"leaderElection": ELECTION} if count > 1 else {}
            flags = (GROUP_GATES,) if self.gang_size else ()
            self.replicas = [
                Replica(
                    name,
                    quaymaster(
                        self.plane,
                        *flags,
                        config=config,
                        kubeconfig=self._kubeconfig(name),
                    ),
                )
                for name in names
            ]
            stack.enter_context(running(self.replicas))
            try:
                yield
            finally:
                self.proxy = None

    @contextlib.contextmanager
    def burst(self) -> Iterator[None]:
        """Create pods inside the block; they are deleted before the next burst."""
        self._bursts += 1
        self.namespace = f"burst-{self._bursts}"
        metadata = {"name": self.namespace}
        self.admin.create(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
        )
        self.record.forget()
        self._creator = threading.Thread(target=self._create, args=(self.count, "pod"))
        self._creator.start()
        try:
            yield
        finally:
            self._creator.join()
            path = f"/api/v1/namespaces/{self.namespace}/pods"
            self.admin.request("DELETE", path, query={"gracePeriodSeconds": 0})

    def groups(self) -> list[Tree]:
        """Return the groups of the burst; none if its pods have no groups."""
        if not self.gang_size:
            return []
        path = "/apis/scheduling.k8s.io/v1beta1/namespaces"
        return self.admin.items(f"{path}/{self.namespace}/podgroups")

    def bound(self) -> int:
        """Return the number of recorded bindings of the burst."""
        return len(+self.record.read().bound)

    def wait_mid_burst(self) -> None:
        """Wait for a moment at which some pods are bound and others are not."""
        target = self.random.uniform(0.05, 0.8) * self.count
        eventually(lambda: self.bound() >= target, within=60, what="mid-burst")

    def leader(self) -> Replica:
        """Return the replica that has written the lease last.

        Raises:
            ProcessError: No replica has written it.
        """
        return leader_of(self.replicas, self.record)

    def replace(self, count: int) -> None:
        """Delete bound pods, and create others in their place."""
        path = f"/api/v1/namespaces/{self.namespace}/pods"
        gone = self.random.sample(sorted(self.record.bound), count)
        self.hose.send(
            self.hose.request("DELETE", f"{path}/{name}?gracePeriodSeconds=0")
            for name in (pod.partition("/")[2] for pod in gone)
        )
        self._create(count, "new")

    def wait_all_bound(self, within: float) -> None:
        """Wait until the burst is complete, and each pod has a node.

        Raises:
            ProcessError: Pods have no node after so many seconds.
        """
        self._creator.join()
        path = f"/api/v1/namespaces/{self.namespace}/pods"
        eventually(
            lambda: not self.admin.items(path, fieldSelector="spec.nodeName=", limit=1),
            within=within,
            what="a node for each pod",
        )

    def wait_all_reported(self) -> None:
        """Wait until each group has a condition.

        Raises:
            ProcessError: A group has none after some time.
        """
        eventually(
            lambda: all(group["status"].get("conditions") for group in self.groups()),
            what="the conditions of all groups",
        )

    def show_token(self, token: str) -> None:
        """Write the token that schedulers behind the proxy send."""
        path = self.plane.folder / "token"
        unfinished = path.with_suffix(".new")
        unfinished.write_text(token)
        unfinished.rename(path)

    def sleep(self, shortest: float, longest: float) -> None:
        """Sleep for a random time."""
        time.sleep(self.random.uniform(shortest, longest))

    def _kubeconfig(self, user: str) -> Path:
        if self.proxy is None:
            return self.plane.kubeconfig(user)
        self.show_token("first")
        path = self.plane.folder / "proxy.kubeconfig"
        file = self.plane.folder / "token"
        write_kubeconfig(path, self.proxy.url, self.plane.authority, token_file=file)
        return path

    def _create(self, count: int, prefix: str) -> None:
        size = self.gang_size
        if size:
            self.hose.create(gangs(count, self.namespace, size, prefix))
        self.hose.create(
            pods(
                count,
                self.namespace,
                cpu="200m",
                memory="100Mi",
                prefix=prefix,
                gang_size=size,
            )
        )
