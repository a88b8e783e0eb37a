"""A profile of plugins that record their calls, on a cluster that may change."""

from collections.abc import Hashable, Mapping

import numpy as np

from quaymaster import (
    CycleState,
    Handle,
    Node,
    NodeInfo,
    NodeTable,
    Pod,
    PreFilterResult,
    Rows,
    Scope,
    Snapshot,
    StateKey,
    Status,
    hookimpl,
)
from quaymaster.scheduler import PluginRegistry, SchedulerOptions
from quaymaster.testing import make_node, make_pod
from tests.kit.cycles import make_services, profile_of
from tests.kit.internals.cycle import Decision, FitError, Ties
from tests.kit.internals.engine import FrameworkBuilder
from tests.kit.internals.queue import Nominator

__all__ = [
    "ALL",
    "Full",
    "Preparing",
    "Rated",
    "Recording",
    "World",
    "kind",
]

ALL = "all nodes"
"""A batch twin records this if it is called for all nodes."""


class Recording:
    """Records the nodes of its calls; its signature of a pod is the pod's kind."""

    scope = Scope.NODE

    def __init__(self, args: object, handle: Handle) -> None:
        self.calls: list[str] = []

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return pod.labels["kind"]

    def note(self, nodes: NodeTable, rows: Rows) -> None:
        """Record the nodes of a batch call."""
        self.calls += [ALL] if rows is nodes.rows else nodes.names_at(rows)


class Full(Recording):
    """Rejects nodes with a pod of the kind."""

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        self.calls.append(node.name)
        kinds = [other.labels.get("kind") for other in node.pods.values()]
        full = Status.unschedulable(f"has {pod.labels['kind']}")
        return full if pod.labels["kind"] in kinds else None


class Rated(Recording):
    """Scores a node by its label ``rate`` and ten for each pod on it."""

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        self.calls.append(node.name)
        return int(node.labels.get("rate", "0")) + 10 * len(node.pods)


class Bland:
    """Scores all nodes equally; without any score, one feasible node is enough."""

    scope = Scope.NODE

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def sign_pod(self) -> Hashable:
        return ()

    @hookimpl
    def score(self) -> int:
        return 0


class Preparing(Recording):
    """Returns and writes the values of its attributes at PreFilter."""

    key = StateKey[object]("Preparing")
    answer: PreFilterResult | Status | None = None
    value: object = None

    @hookimpl
    def pre_filter(
        self, state: CycleState, pod: Pod
    ) -> PreFilterResult | Status | None:
        self.calls.append(pod.labels["kind"])
        if self.value is not None:
            state[self.key] = self.value
        return self.answer


def kind(name: str, /, **fields: object) -> Pod:
    """Make a pod of a kind; each one is a new object."""
    return make_pod(labels={"kind": name}, **fields)  # type: ignore[arg-type]  # the maker's


class World:
    """Some plugins, in this order, at all the points that they extend; `Bland` is last.

    Args:
        *plugins: Their classes; each plugin has the name of its class.
        nodes: The number of nodes at the start: ``n0``, ``n1``, ...
        options: Further options of the engine.
        weights: Plugin -> its weight.

    Attributes:
        snapshot: The cluster.
        state: The cycle state of the last attempt.
        best: The nodes with the highest total in the last attempt.
    """

    def __init__(
        self,
        *plugins: type,
        nodes: int = 3,
        options: SchedulerOptions | None = None,
        weights: Mapping[str, int] | None = None,
    ) -> None:
        self.snapshot = Snapshot()
        self.state = CycleState()
        self.best: list[str] = []
        self._bound = 0
        self._pods: dict[str, list[Pod]] = {}
        for number in range(nodes):
            self.set_node(f"n{number}")
        self._nominated: dict[str, Pod] = {}
        self._nominator = Nominator(self._nominated.get)
        services = make_services(self.snapshot, self._nominator)
        classes = {plugin.__name__: plugin for plugin in (*plugins, Bland)}
        registry = PluginRegistry.of(classes)
        builder = FrameworkBuilder(
            registry=registry, services=services, options=options or SchedulerOptions()
        )
        self.framework = builder.build(profile_of(registry, classes, weights))

    def set_node(self, name: str, **fields: object) -> None:
        """Add a node, or change it."""
        node: Node = make_node(name=name, **fields)  # type: ignore[arg-type]  # the maker's
        self.snapshot.add_node(node)

    def remove_node(self, name: str) -> None:
        """Remove a node."""
        self.snapshot.remove_node(name)

    def bind(self, name: str, node: str) -> None:
        """Put another pod of a kind on a node."""
        self._bound += 1
        pod = kind(name, name=f"bound-{self._bound}", node=node)
        self._pods.setdefault(node, []).append(pod)
        self.snapshot.add_pod(pod)

    def unbind(self, node: str) -> None:
        """Remove the last pod of a node."""
        self.snapshot.remove_pod(self._pods[node].pop())

    def nominate(self, name: str, node: str) -> None:
        """Nominate a pod of a kind to a node."""
        pod = kind(name, name=f"nominated-{name}", nominated_node=node)
        self._nominated[pod.key] = pod
        self._nominator.add(pod)

    def attempt(self, pod: Pod) -> Decision | FitError:
        """Try to schedule a pod, without binding it."""
        self.state, self.best = CycleState(), []
        return self.framework.algorithm.schedule(self.state, pod, self._pick)

    def fits(self, pod: Pod) -> list[str]:
        """Return the best feasible nodes for a pod, sorted."""
        decision = self.attempt(pod)
        assert isinstance(decision, Decision), decision
        return self.best or [decision.node.name]

    def message(self, pod: Pod) -> str:
        """Return the message for a pod that fits nowhere."""
        unfit = self.attempt(pod)
        assert isinstance(unfit, FitError)
        return unfit.diagnosis.message() if unfit.diagnosis else unfit.status.message

    def calls(self, plugin: str) -> list[str]:
        """Return a plugin's calls since the last call of this method, sorted."""
        instance = self.plugin(plugin)
        calls, instance.calls = instance.calls, []
        return sorted(calls)

    def plugin(self, name: str) -> Recording:
        """Return a plugin of the profile."""
        plugin = self.framework.profile.plugins[name]
        assert isinstance(plugin, Recording)
        return plugin

    def _pick(self, nodes: NodeTable, rows: Ties) -> int:
        self.best = sorted(nodes.names_at(np.array(rows)))
        return int(rows[0])
