"""Quaymaster's decision for a cluster, and its differences from kube-scheduler's."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Self

import attrs
import msgspec

from quaymaster import ApiObject, Pod
from quaymaster.config import declared_kinds, default_config
from quaymaster.manifests import load
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import Attempt, WhichAttempt, explain_pod
from tests.e2e.binaries import SERVED
from tests.e2e.client import Tree
from tests.e2e.scheduler_log import Opinion
from tests.kit.internals.kubernetes import (
    ApiClient,
    find_access,
    list_objects,
    resources_of,
)

__all__ = ["Adviser", "State", "differences"]


@attrs.frozen
class State:
    """The state of a cluster at one moment.

    Attributes:
        objects: All objects that scheduling uses.
        texts: The lists from which they were read.
    """

    objects: Sequence[ApiObject]
    texts: Sequence[bytes]

    def with_pod(self, tree: Tree) -> "State":
        """Return the state with another pod, or with a new version of a pod."""
        text = msgspec.json.encode(tree)
        (pod,) = load([], stored=[("pod", text)]).objects
        others = (other for other in self.objects if not _is_same(other, pod))
        return State([*others, pod], [*self.texts, text])

    def without_pods(self, keys: Collection[str]) -> "State":
        """Return the state without some pods; the texts keep them."""
        objects = [
            item
            for item in self.objects
            if not (isinstance(item, Pod) and item.key in keys)
        ]
        return State(objects, self.texts)

    def save(self, path: Path) -> None:
        """Write the state to a file that all commands can read."""
        path.write_bytes(b"\n---\n".join(self.texts))


class Adviser:
    """Computes Quaymaster's decision, and writes nothing.

    As ``simulate --context`` and ``explain --context`` it reads the live cluster. As a
    context manager it closes the connection.

    Args:
        kubeconfig: The file with the access to the cluster.
    """

    def __init__(self, kubeconfig: Path) -> None:
        self._registry = PluginRegistry.discover()
        self._config = default_config(self._registry, kubernetes=SERVED)
        self._kinds = declared_kinds(self._config, self._registry)
        self._client = ApiClient(find_access(kubeconfig=str(kubeconfig), context=""))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def state(self) -> State:
        """Return the current state of the cluster."""
        live = list_objects(self._client, resources_of(self._kinds))
        assert not live.notices, live.notices
        texts = live.named_texts()
        loaded = load([], stored=texts, kinds=self._kinds)
        return State(loaded.objects, [text for _, text in texts])

    def attempt(self, pod: str, state: State) -> Attempt:
        """Return the first attempt to schedule a pod of a cluster."""
        explained = explain_pod(
            pod,
            state.objects,
            config=self._config,
            registry=self._registry,
            attempt=WhichAttempt.FIRST,
        )
        return explained.attempts[0]


def _is_same(first: ApiObject, other: ApiObject) -> bool:
    return type(first) is type(other) and first.key == other.key


def differences(ours: Attempt, theirs: Opinion, node: str) -> Iterator[str]:
    """Yield the differences between our attempt and kube-scheduler's.

    Args:
        ours: Quaymaster's attempt.
        theirs: kube-scheduler's result.
        node: The node to which it has bound the pod; empty if it fits nowhere.
    """
    if bool(ours.node) != bool(node):
        yield f"placed on {node!r}, ours on {ours.node!r}: {ours.message}"
        return
    if ours.message != theirs.message:
        yield f"message {theirs.message!r}, ours {ours.message!r}"
    if ours.nominated_node != theirs.target:
        yield f"makes room on {theirs.target!r}, ours on {ours.nominated_node!r}"
    victims = theirs.victims.get(theirs.target, set())
    if set(ours.preempted) != victims:
        yield f"victims {sorted(victims)}, ours {sorted(ours.preempted)}"
    assert ours.explanation is not None
    totals = {score.node: score.total for score in ours.explanation.scores}
    if node and totals.get(node) != max(totals.values()):
        yield f"chose {node}, ours rates it {totals.get(node)} of {totals}"
    if theirs.totals and totals != theirs.totals:
        yield f"totals {theirs.totals}, ours {totals}"
