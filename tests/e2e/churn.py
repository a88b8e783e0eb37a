"""Creates and deletes pods and nodes continuously."""

import itertools
import random
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from tests.e2e.client import ApiClient, RefusedError, Tree
from tests.e2e.firehose import Firehose
from tests.e2e.loads import nodes, pods

__all__ = ["NAMESPACE", "PODS", "Churn"]

NAMESPACE: Final = "soak"
PODS: Final = f"/api/v1/namespaces/{NAMESPACE}/pods"
_LIFE: Final = 90.0  # seconds of a pod
# limit of existing pods, as a multiple of those that live at this pace
_SURPLUS: Final = 1.2
_PAUSE: Final = 0.1  # seconds between two checks whether there are fewer
_NODE_LIFE: Final = 10.0  # seconds between two deletions of nodes
_NOT_FOUND: Final = 404


class Churn:
    """Creates and deletes pods at the same pace, and replaces a node now and then.

    Args:
        admin: A client of the cluster.
        hose: A client of the same cluster, for many requests.
        size: The number of nodes.
        per_second: The number of pods that are created, and deleted, in a second.
        schedulers: The scheduler names of the pods, in turn.
    """

    def __init__(
        self,
        admin: ApiClient,
        hose: Firehose,
        *,
        size: int,
        per_second: float,
        schedulers: Sequence[str],
    ) -> None:
        self._admin = admin
        self._hose = hose
        self._per_second = per_second
        self._schedulers = schedulers
        self._over = threading.Event()
        self._created = self._deleted = 0
        self._chance = random.Random(1)
        self._generations = itertools.count(1)
        self._nodes = [tree["metadata"]["name"] for tree in nodes(size)]
        metadata = {"name": NAMESPACE}
        admin.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        hose.create(nodes(size))

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Create and delete pods and nodes inside the block."""
        works = (self._create, self._delete, self._replace_nodes)
        threads = [threading.Thread(target=work, daemon=True) for work in works]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._over.set()
            for thread in threads:
                thread.join()

    def _create(self) -> None:
        self._send(self._creations())

    def _creations(self) -> Iterator[bytes]:
        """Yield the creation of each pod, as long as deletions keep up.

        On a busy machine deletions may be slower. Without a limit the nodes would fill
        up, and the schedulers would only try pods that fit nowhere.
        """
        most = _LIFE * self._per_second * _SURPLUS
        for tree in self._pods():
            while self._created - self._deleted > most and not self._over.is_set():
                self._over.wait(_PAUSE)
            self._created += 1
            yield self._hose.request("POST", PODS, tree)

    def _delete(self) -> None:
        self._over.wait(_LIFE)
        self._send(self._deletions())

    def _deletions(self) -> Iterator[bytes]:
        for tree in self._pods():
            self._deleted += 1
            path = f"{PODS}/{tree['metadata']['name']}?gracePeriodSeconds=0"
            yield self._hose.request("DELETE", path)

    def _send(self, requests: Iterable[bytes]) -> None:
        going = itertools.takewhile(lambda _: not self._over.is_set(), requests)
        self._hose.send(going, per_second=self._per_second)

    def _pods(self) -> Iterator[Tree]:
        """Yield all pods, in the order of their creation and deletion."""
        each = (
            pods(sys.maxsize, NAMESPACE, prefix=name, scheduler=name)
            for name in self._schedulers
        )
        return itertools.chain.from_iterable(zip(*each, strict=True))

    def _replace_nodes(self) -> None:
        while not self._over.wait(_NODE_LIFE):
            gone = self._nodes.pop(self._chance.randrange(len(self._nodes)))
            self._admin.delete(f"/api/v1/nodes/{gone}")
            (tree,) = nodes(1, prefix=f"later-{next(self._generations)}")
            self._nodes.append(tree["metadata"]["name"])
            self._admin.create(tree)
            self._remove_orphans()

    def _remove_orphans(self) -> None:
        """Delete the pods whose node is gone, as the garbage collector of pods does.

        A pod that is bound a moment later is found the next time.
        """
        there = {*self._nodes}
        for pod in self._admin.items(PODS):
            if pod["spec"].get("nodeName", self._nodes[0]) in there:
                continue
            try:
                self._admin.delete(f"{PODS}/{pod['metadata']['name']}", grace=0)
            except RefusedError as error:
                if error.code != _NOT_FOUND:
                    raise
