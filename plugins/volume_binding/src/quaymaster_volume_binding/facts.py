"""Explain why volumes cannot be used on a node: claim, volume, class and capacity."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from quaymaster import Informers, NodeInfo
from quaymaster.errors import SelectorError
from quaymaster.objects import (
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    compile_label_selector,
)
from quaymaster.volumes import (
    NO_PROVISIONER,
    VolumeTopology,
    allows_topology,
    class_of_claim,
    class_of_volume,
    is_delayed,
    is_fully_bound,
    size_of,
    storage_of,
)
from quaymaster_volume_binding.finder import Finder, why_not_provisioned
from quaymaster_volume_binding.lookup import Lookup
from quaymaster_volume_binding.pod_claims import DelayedClaim

__all__ = ["explain_unbound", "explain_volumes"]

_MOST_NAMED: Final = 3


def explain_unbound(
    claims: Iterable[PersistentVolumeClaim], lookup: Lookup
) -> Iterator[str]:
    """Yield the claims that must be bound before the pod can be scheduled, with why.

    Args:
        claims: The claims of the pod.
        lookup: The cluster's objects.
    """
    for claim in claims:
        if is_fully_bound(claim):
            continue
        if claim.spec.volume_name:
            volume = claim.spec.volume_name
            yield f"claim {claim.key} is still being bound to volume {volume}"
            continue
        name = class_of_claim(claim)
        storage_class = lookup.storage_class(name)
        if not name:
            yield f"claim {claim.key} has no volume and no class"
        elif storage_class is None:
            yield f"claim {claim.key} has no volume; its class {name} does not exist"
        elif not is_delayed(claim, storage_class):
            mode = f"volumeBindingMode {storage_class.volume_binding_mode}"
            yield f"claim {claim.key} has no volume; its class {name} has {mode}"


def explain_volumes(
    finder: Finder, informers: Informers, node: NodeInfo
) -> Sequence[str]:
    """Return the claims that a node cannot satisfy, and what the node lacks.

    Args:
        finder: The claims of the pod.
        informers: The engine's copy of the cluster.
        node: The node.
    """
    facts = [*_bound(finder, node)]
    others = finder.selected_nodes - {node.name}
    if others:
        keys = ", ".join(
            entry.claim.key
            for entry in finder.claims.selected
            if entry.selected_node in others
        )
        selected = ", ".join(sorted(others))
        facts.append((f"node {selected} was selected for claim {keys} earlier", ()))
    elif finder.has_waiting:
        _, unmatched = finder.match(node.labels)
        facts += [
            _Unmatched(claim, informers, node).facts()
            for claim in unmatched
            if why_not_provisioned(claim, node.labels)
        ]
    if not facts:
        return ()
    rest = dict.fromkeys(text for _, texts in facts for text in texts)
    return ["; ".join(need for need, _ in facts), *rest]


def _bound(finder: Finder, node: NodeInfo) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the bound claims whose volume is missing, or is reached elsewhere."""
    migrated = finder.migrated_on(node.name)
    for bound in finder.claims.bound:
        claim, volume = bound.claim, bound.volume
        if volume is None:
            name = claim.spec.volume_name
            yield f"claim {claim.key} is volume {name}, which does not exist", ()
            continue
        topology = finder.topology(volume, migrated if bound.is_in_tree else "")
        if not topology.includes(node.labels):
            where = _where(topology)
            text = f"claim {claim.key} is volume {volume.name}, which needs {where}"
            yield text, [*_values(topology.label_keys, node.labels)]


class _Unmatched:
    """Explains why a claim gets neither an existing nor a new volume on a node."""

    def __init__(
        self, delayed: DelayedClaim, informers: Informers, node: NodeInfo
    ) -> None:
        self._delayed = delayed
        self._informers = informers
        self._labels: Mapping[str, str] = node.labels
        storage_class = delayed.storage_class
        self._class: StorageClass = storage_class
        size = storage_of(delayed.claim.spec.resources)
        self._name = f"claim {delayed.claim.key} ({size}, class {storage_class.name})"

    def facts(self) -> tuple[str, Sequence[str]]:
        """Return what the claim needs, and what the node has of it."""
        storage_class = self._class
        if storage_class.provisioner in ("", NO_PROVISIONER):
            return self._static()
        topologies = storage_class.allowed_topologies
        if not allows_topology(topologies, self._labels):
            terms = [
                " and ".join(
                    f"{label.key} in ({','.join(label.values)})"
                    for label in term.match_label_expressions
                )
                for term in topologies
            ]
            keys = {
                label.key
                for term in topologies
                for label in term.match_label_expressions
            }
            text = f"{self._name}: the class allows only {' or '.join(terms)}"
            return text, [*_values(keys, self._labels)]
        text = f"{self._name}: the driver reports too little storage capacity"
        return text, [self._capacity()]

    def _static(self) -> tuple[str, Sequence[str]]:
        """Explain a claim whose class provisions no volumes."""
        text = f"{self._name} needs an existing volume"
        for volume, topology in self._delayed.candidates.kept:
            text += (
                f", and {volume.name} is kept for it, which needs {_where(topology)}"
            )
            return text, [*_values(topology.label_keys, self._labels)]
        suitable = list(self._delayed.candidates.free)
        if not suitable:
            return f"{text}: {self._unsuitable()}", ()
        topologies = [VolumeTopology(volume) for volume in suitable]
        named = ", ".join(
            f"{volume.name} ({_where(topology)})"
            for volume, topology in zip(
                suitable[:_MOST_NAMED], topologies[:_MOST_NAMED], strict=True
            )
        )
        more = len(suitable) - _MOST_NAMED
        rest = f" and {more} more" if more > 0 else ""
        if any(topology.includes(self._labels) for topology in topologies):
            text += f", and other claims of the pod get {named}{rest}"
        else:
            text += f"; suitable ones are elsewhere: {named}{rest}"
        keys = {key for topology in topologies for key in topology.label_keys}
        return text, [*_values(keys, self._labels)]

    def _unsuitable(self) -> str:
        """Count the volumes of the class by what makes them unsuitable."""
        volumes = [
            volume
            for volume in self._informers.list(PersistentVolume)
            if class_of_volume(volume) == self._class.name
        ]
        if not volumes:
            return "there is none of the class"
        free = [volume for volume in volumes if volume.status.phase == "Available"]
        if not free:
            return f"none of the {len(volumes)} of the class is available"
        size = storage_of(self._delayed.claim.spec.resources)
        small = [volume for volume in free if size_of(volume) < size]
        if len(small) == len(free):
            largest = max((size_of(volume) for volume in free), key=lambda it: it.nanos)
            return f"the largest available one of the class has {largest}"
        return (
            f"of {len(free)} available ones of the class, {len(small)} are too small "
            "and the others differ in access modes, volume mode or labels"
        )

    def _capacity(self) -> str:
        """Return the capacity that the driver reports for the node."""
        capacities = [
            capacity
            for capacity in self._informers.list(CSIStorageCapacity)
            if capacity.storage_class_name == self._class.name
            and self._covers(capacity)
        ]
        if not capacities:
            return "no CSIStorageCapacity of the class covers this node"
        texts = []
        for capacity in capacities:
            limit, free = capacity.maximum_volume_size, capacity.capacity
            texts.append(f"{capacity.key} has {free if free is not None else 'none'}")
            if limit is not None:
                texts[-1] += f" (maximumVolumeSize {limit})"
        return f"CSIStorageCapacity {', '.join(texts)}"

    def _covers(self, capacity: CSIStorageCapacity) -> bool:
        if capacity.node_topology is None:
            return False
        try:
            selector = compile_label_selector(capacity.node_topology)
        except SelectorError:
            return False
        return selector.matches(self._labels)


def _where(topology: VolumeTopology) -> str:
    """Return the labels that a node needs to reach a volume."""
    if topology.terms is None:
        return "any node"
    return (
        " or ".join(map(str, topology.terms)) or "no node (its affinity has no terms)"
    )


def _values(keys: Iterable[str], labels: Mapping[str, str]) -> Iterator[str]:
    for key in sorted(keys):
        value = labels.get(key)
        yield f"no label {key} here" if value is None else f"{key}={value} here"
