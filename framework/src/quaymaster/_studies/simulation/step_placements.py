"""Reports where the pods of each step are placed, and how workloads are spread."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import attrs

from quaymaster._base.natural_order import natural_key
from quaymaster._studies.simulation.history import History, PodLife
from quaymaster._studies.simulation.owners import workload_name

__all__ = [
    "DEFAULT_TOPOLOGY_KEYS",
    "PlacedPod",
    "PlacementTracker",
    "StepPlacements",
    "WorkloadSpread",
]

DEFAULT_TOPOLOGY_KEYS: Final = ("topology.kubernetes.io/zone",)
"""The node labels over whose values pods are counted by default."""


@attrs.frozen(kw_only=True)
class PlacedPod:
    """A pod that got its node during a step, and still exists at its end.

    Attributes:
        workload: The workload of the pod, as ``deployment.apps/NAMESPACE/NAME``.
        pod: The key of the pod.
        node: The name of the node.
        at: When it got the node, in seconds since the beginning.
    """

    workload: str
    pod: str
    node: str
    at: float = attrs.field(default=0.0, eq=False)


@attrs.frozen(kw_only=True)
class WorkloadSpread:
    """The number of pods of a workload per topology domain, before and after a step.

    Pods count that have a node and are neither finished nor terminating.

    Attributes:
        workload: The workload, as ``deployment.apps/NAMESPACE/NAME``.
        topology_key: The label of nodes whose values are the domains.
        before: Value of the label -> number of pods when the step began. All values
            that nodes have are listed; pods on nodes without the label count under "".
        after: The same numbers when the step had ended.
    """

    workload: str
    topology_key: str
    before: Mapping[str, int]
    after: Mapping[str, int]


@attrs.frozen(kw_only=True)
class StepPlacements:
    """The placements of the pods of one step.

    Attributes:
        placed: The pods that got a node during the step, by workload and key.
        spread: The spread of each workload whose pods came or went, by workload.
            Pods without an owner are not listed, nor are topology keys of no node.
    """

    placed: tuple[PlacedPod, ...] = ()
    spread: tuple[WorkloadSpread, ...] = ()


class PlacementTracker:
    """Follows a history, and reports the placements of one step after another.

    Args:
        history: The history of pods and nodes.
        topology_keys: The labels of nodes whose values are counted as domains.
    """

    def __init__(self, history: History, topology_keys: Sequence[str]) -> None:
        self._history = history
        self._topology_keys = tuple(topology_keys)
        self._read = 0
        self._labels: _Labels = {}
        self._bound: set[PodLife] = set()
        self._node_of: dict[PodLife, str] = {}
        self._pods_per_node: dict[str, Counter[str]] = {}
        self.take()

    def take(self) -> StepPlacements:
        """End a step, and return the placements since the last call."""
        self._history.catch_up()
        # A pod that changed several times counts once.
        lives = dict.fromkeys(self._history.changed[self._read :])
        self._read = len(self._history.changed)
        placed = [_placed_pod(life) for life in lives if self._is_newly_placed(life)]
        counts: dict[str, Counter[str]] = {}
        for life in lives:
            self._count(life, counts)
        counts = {key: counts[key] for key in sorted(counts, key=natural_key)}
        labels, self._labels = self._labels, _labels_of_nodes(self._history)
        spread = [
            _spread(workload, key, (before, labels), (after, self._labels))
            for workload, before in counts.items()
            for after in (self._pods_per_node[workload],)
            for key in self._topology_keys
        ]
        return StepPlacements(
            placed=tuple(sorted(placed, key=_order)),
            spread=tuple(item for item in spread if item.before or item.after),
        )

    def _is_newly_placed(self, life: PodLife) -> bool:
        if life.bound is None or life in self._bound:
            return False
        self._bound.add(life)
        return life.leaving is None and life.gone is None and life.lost is None

    def _count(self, life: PodLife, counts: dict[str, Counter[str]]) -> None:
        """Count a pod where it is now.

        Args:
            life: The pod.
            counts: Keeps the number of pods per node when the step began, of each
                workload whose pods came or went.
        """
        if not life.owners:
            return
        is_in_place = life.is_running and life.leaving is None
        old, new = self._node_of.get(life), life.node if is_in_place else None
        if old == new:
            return
        workload = workload_name(life.pod, life.owners)
        per_node = self._pods_per_node.setdefault(workload, Counter())
        # Copied before the first change of the step.
        counts.setdefault(workload, per_node.copy())
        if old is not None:
            per_node[old] -= 1
            del self._node_of[life]
        if new is not None:
            per_node[new] += 1
            self._node_of[life] = new


_Labels: TypeAlias = Mapping[str, Mapping[str, str]]


def _placed_pod(life: PodLife) -> PlacedPod:
    return PlacedPod(
        workload=workload_name(life.pod, life.owners),
        pod=life.pod.key,
        node=life.node,
        at=life.bound or 0.0,
    )


def _order(pod: PlacedPod) -> tuple[object, ...]:
    return natural_key(pod.workload), natural_key(pod.pod)


def _labels_of_nodes(history: History) -> _Labels:
    """Return the labels of the nodes that exist now, by name."""
    return {
        span.node.name: span.node.labels for span in history.nodes if span.until is None
    }


def _spread(
    workload: str,
    topology_key: str,
    before: tuple[Mapping[str, int], _Labels],
    after: tuple[Mapping[str, int], _Labels],
) -> WorkloadSpread:
    """Count the pods of a workload per domain; no domains if no node has the label."""
    domains = sorted(
        {
            value
            for _, labels in (before, after)
            for node in labels.values()
            if (value := node.get(topology_key)) is not None
        },
        key=natural_key,
    )
    return WorkloadSpread(
        workload=workload,
        topology_key=topology_key,
        before=_pods_per_domain(*before, topology_key, domains),
        after=_pods_per_domain(*after, topology_key, domains),
    )


def _pods_per_domain(
    per_node: Mapping[str, int],
    labels: _Labels,
    topology_key: str,
    domains: Sequence[str],
) -> Mapping[str, int]:
    if not domains:
        return {}
    numbers = dict.fromkeys(domains, 0)
    for node, number in per_node.items():
        domain = labels.get(node, {}).get(topology_key, "")
        if number:
            numbers[domain] = numbers.get(domain, 0) + number
    return numbers
