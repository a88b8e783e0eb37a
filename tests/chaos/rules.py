"""Simple rules for the nodes of a pod, without the engine's code.

They cover only the fields of the histories' pods and nodes; see `tests.chaos.objects`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from quaymaster import Node, Pod
from quaymaster.objects import (
    LabelSelector,
    Namespace,
    PersistentVolume,
    PersistentVolumeClaim,
    PodAffinityTerm,
    TopologySpreadConstraint,
)
from tests.chaos.objects import LOCAL

__all__ = ["World", "cpu_of", "evictable", "why_not"]

_COMPLETED = "pv.kubernetes.io/bind-completed"
_SELECTED = "volume.kubernetes.io/selected-node"


@attrs.frozen(eq=False)
class World:
    """Nodes, pods and volumes, as the cluster or the scheduler sees them.

    Attributes:
        nodes: Name -> node.
        placed: The pods that are on nodes or assumed there, with the nodes' names.
        namespaces: Name -> its labels.
        claims: Key -> claim.
        volumes: The volumes.
    """

    nodes: Mapping[str, Node]
    placed: Sequence[tuple[Pod, str]]
    namespaces: Mapping[str, Mapping[str, str]]
    claims: Mapping[str, PersistentVolumeClaim]
    volumes: Sequence[PersistentVolume]

    @classmethod
    def of(
        cls,
        nodes: Iterable[Node],
        placed: Sequence[tuple[Pod, str]],
        namespaces: Iterable[Namespace],
        claims: Iterable[PersistentVolumeClaim],
        volumes: Sequence[PersistentVolume],
    ) -> "World":
        """Make a world from plain lists."""
        return cls(
            {node.name: node for node in nodes},
            placed,
            {namespace.name: namespace.metadata.labels for namespace in namespaces},
            {claim.key: claim for claim in claims},
            volumes,
        )

    def without(self, uids: frozenset[str]) -> "World":
        """Return the same world without some pods."""
        left = [(pod, name) for pod, name in self.placed if pod.uid not in uids]
        return attrs.evolve(self, placed=left)

    def on(self, name: str) -> Iterator[Pod]:
        """Yield the pods on a node."""
        return (pod for pod, where in self.placed if where == name)


def cpu_of(pod: Pod) -> int:
    """Return the CPU request of a pod, in millicores."""
    amounts = [
        container.resources.requests.get("cpu") for container in pod.spec.containers
    ]
    return sum(amount.milli_value for amount in amounts if amount is not None)


def evictable(world: World, pod: Pod, name: str) -> frozenset[str]:
    """Return the uids of the pods on a node that may be evicted for a pod."""
    if pod.spec.preemption_policy == "Never":
        return frozenset()
    return frozenset(
        other.uid for other in world.on(name) if other.priority < pod.priority
    )


def why_not(world: World, pod: Pod, name: str) -> str:
    """Return the rule that rejects a node for a pod, or an empty text."""
    node = world.nodes.get(name)
    if node is None:
        return "there is no such node"
    return (
        _closed(pod, node)
        or _too_full(world, pod, node)
        or _too_near(world, pod, node)
        or _uneven(world, pod, node)
        or _out_of_reach(world, pod, node)
    )


def _closed(pod: Pod, node: Node) -> str:
    if node.spec.unschedulable:
        return "it is cordoned"
    tolerated = {toleration.key for toleration in pod.spec.tolerations}
    for taint in node.spec.taints:
        if taint.effect != "PreferNoSchedule" and taint.key not in tolerated:
            return f"its taint {taint.key} is not tolerated"
    if not _is_selected(pod, node):
        return "its labels are not those that the pod selects"
    return ""


def _is_selected(pod: Pod, node: Node) -> bool:
    return pod.spec.node_selector.items() <= node.labels.items()


def _too_full(world: World, pod: Pod, node: Node) -> str:
    allocatable = node.status.allocatable
    others = list(world.on(node.name))
    cpu = sum(map(cpu_of, others)) + cpu_of(pod)
    if cpu > allocatable["cpu"].milli_value:
        return f"{cpu}m of {allocatable['cpu']} CPU would be taken"
    if len(others) + 1 > allocatable["pods"].value:
        return f"{len(others) + 1} of {allocatable['pods']} pods would be there"
    return ""


def _too_near(world: World, pod: Pod, node: Node) -> str:
    for other, name in world.placed:
        where = world.nodes.get(name)
        if where is None:
            continue
        for owner, stranger in ((pod, other), (other, pod)):
            for term in _apart(owner):
                key = term.topology_key
                value = node.labels.get(key)
                is_near = value is not None and where.labels.get(key) == value
                if is_near and _repels(world, owner, term, stranger):
                    return f"{owner.key} does not want {stranger.key} near"
    return ""


def _apart(pod: Pod) -> Sequence[PodAffinityTerm]:
    affinity = pod.spec.affinity
    if affinity is None or affinity.pod_anti_affinity is None:
        return ()
    return (
        affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution
    )


def _repels(world: World, owner: Pod, term: PodAffinityTerm, stranger: Pod) -> bool:
    selector = term.namespace_selector
    if selector is None:
        is_meant = stranger.namespace == owner.namespace
    else:
        is_meant = _matches(selector, world.namespaces.get(stranger.namespace, {}))
    return is_meant and _matches(term.label_selector, stranger.metadata.labels)


def _matches(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    return selector is not None and selector.match_labels.items() <= labels.items()


def _uneven(world: World, pod: Pod, node: Node) -> str:
    constraints = pod.spec.topology_spread_constraints
    keys = [constraint.topology_key for constraint in constraints]
    for constraint in constraints:
        if constraint.topology_key not in node.labels:
            return f"it has no label {constraint.topology_key}"
        counts = _counts(world, pod, constraint, keys)
        own = counts.get(node.labels[constraint.topology_key], 0)
        own += _matches(constraint.label_selector, pod.metadata.labels)
        if own - min(counts.values(), default=0) > constraint.max_skew:
            return f"{own} pods would be in one domain, of {counts}"
    return ""


def _counts(
    world: World, pod: Pod, constraint: TopologySpreadConstraint, keys: Iterable[str]
) -> dict[str, int]:
    counts: dict[str, int] = {}
    for node in world.nodes.values():
        if _is_selected(pod, node) and all(key in node.labels for key in keys):
            domain = node.labels[constraint.topology_key]
            counts[domain] = counts.get(domain, 0) + sum(
                other.namespace == pod.namespace
                and not other.is_terminating
                and _matches(constraint.label_selector, other.metadata.labels)
                for other in world.on(node.name)
            )
    return counts


def _out_of_reach(world: World, pod: Pod, node: Node) -> str:
    for volume in pod.spec.volumes:
        source = volume.persistent_volume_claim
        if source is not None:
            key = f"{pod.namespace}/{source.claim_name}"
            claim = world.claims.get(key)
            if claim is None:
                return f"there is no claim {key}"
            problem = _no_volume(world, claim, node)
            if problem:
                return problem
    return ""


def _no_volume(world: World, claim: PersistentVolumeClaim, node: Node) -> str:
    if claim.spec.volume_name and _COMPLETED in claim.annotations:
        for volume in world.volumes:
            if volume.name == claim.spec.volume_name:
                return "" if _reaches(volume, node) else f"{volume.name} is elsewhere"
        return f"there is no volume {claim.spec.volume_name}"
    if claim.spec.storage_class_name == LOCAL:
        if any(
            _is_free(volume, claim) and _reaches(volume, node)
            for volume in world.volumes
        ):
            return ""
        return f"no volume there is for {claim.key}"
    if claim.annotations.get(_SELECTED, node.name) != node.name:
        return f"the volume of {claim.key} is being made elsewhere"
    return ""


def _is_free(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    owner = volume.spec.claim_ref
    is_free = owner is None or (
        f"{owner.namespace}/{owner.name}" == claim.key and owner.uid in ("", claim.uid)
    )
    return is_free and volume.spec.storage_class_name == LOCAL


def _reaches(volume: PersistentVolume, node: Node) -> bool:
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return True
    return any(
        all(
            node.labels.get(wanted.key) in wanted.values
            for wanted in term.match_expressions
        )
        for term in affinity.required.node_selector_terms
    )
