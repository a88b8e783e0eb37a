"""Facts that no single change alters, such as labels that no node has."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from quaymaster._api.objects import (
    DeviceClass,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
)
from quaymaster._api.objects.pod_requests import pod_request_list
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.tolerations import TOLERATION_COMPARISONS, is_tolerated
from quaymaster._base.errors import counted, listed
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._studies.why.label_families import HOSTNAME
from quaymaster._studies.why.node_edits import required_labels, zones_of_volumes
from quaymaster._studies.why.node_facts import is_protective

__all__ = ["remarks"]

_REPELLING: Final = ("NoSchedule", "NoExecute")
_NO_VICTIMS: Final = "No preemption victims found"
_IMPLIED: Final = "deviceclass.resource.kubernetes.io/"
_VALUES: Final = 5
"""How many values of a label are listed."""


def remarks(pod: Pod, message: str, cluster: InMemoryCluster) -> list[str]:
    """Return facts that matter before anything is changed for a pending pod.

    Args:
        pod: The pod.
        message: Why it is pending, in upstream's words.
        cluster: The cluster in which it is pending.
    """
    nodes = cluster.list(Node).items
    pods = cluster.list(Pod).items if _NO_VICTIMS in message else ()
    return list(
        chain(
            _missing_nodes(nodes),
            _protected_nodes(pod, nodes, cluster),
            _missing_labels(pod, nodes),
            _missing_resources(pod, nodes, cluster),
            _claims(pod, cluster),
            _priorities(pod, pods),
        )
    )


def _missing_nodes(nodes: Sequence[Node]) -> Iterator[str]:
    if not nodes:
        yield (
            "the input has no nodes; --nodes adds some, and 'quaymaster plan' finds "
            "how many are needed"
        )


def _protected_nodes(
    pod: Pod, nodes: Sequence[Node], cluster: InMemoryCluster
) -> Iterator[str]:
    """Yield a remark if all nodes have taints that no workload should tolerate."""
    compares = cluster.kubernetes.enabled(TOLERATION_COMPARISONS)
    counts: Counter[str] = Counter()
    for node in nodes:
        keys = {
            taint.key
            for taint in node.spec.taints
            if taint.effect in _REPELLING
            and is_protective(taint)
            and not is_tolerated(taint, pod.spec.tolerations, compares_numbers=compares)
        }
        if not keys:
            return
        counts.update(keys)
    if counts:
        shown = ", ".join(
            f"{key} ({counted(count, 'node')})" for key, count in counts.most_common()
        )
        yield f"all nodes have taints that protect them: {shown}"


def _missing_labels(pod: Pod, nodes: Sequence[Node]) -> Iterator[str]:
    """Yield remarks on labels that are required with values that no node has."""
    alternatives = required_labels(pod.spec)
    keys: Iterable[str] = dict.fromkeys(chain.from_iterable(alternatives))
    for key in keys:
        values = {labels.get(key) for labels in alternatives}
        if None in values or any(node.labels.get(key) in values for node in nodes):
            continue
        required = sorted(value for value in values if value is not None)
        pairs = " or ".join(f"{key}={value}" for value in required)
        yield f"no node has {pairs}; {_existing(key, nodes)}"


def _existing(key: str, nodes: Iterable[Node]) -> str:
    counts = Counter(node.labels[key] for node in nodes if key in node.labels)
    if not counts:
        return f"no node has a label {key}"
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown = (
        [value for value, _ in ordered]
        if key == HOSTNAME
        else [f"{value} ({counted(count, 'node')})" for value, count in ordered]
    )
    return f"existing values: {listed(shown, _VALUES)}"


def _missing_resources(
    pod: Pod, nodes: Sequence[Node], cluster: InMemoryCluster
) -> Iterator[str]:
    by_class = set(_resources_of_classes(cluster))
    for name, amount in pod_request_list(pod).items():
        if not amount.nanos or name in by_class or not nodes:
            continue
        largest = max(
            (_offered(node, name) for node in nodes), key=lambda each: each.nanos
        )
        if not largest.nanos:
            yield f"no node offers {name}"
        elif amount.nanos > largest.nanos:
            yield f"no node offers {name} {amount}; the largest has {largest}"


def _resources_of_classes(cluster: InMemoryCluster) -> Iterator[str]:
    """Yield the extended resources that device classes offer: own names and implied."""
    for device_class in cluster.list(DeviceClass).items:
        yield device_class.spec.extended_resource_name or ""
        yield f"{_IMPLIED}{device_class.name}"


def _offered(node: Node, name: str) -> Quantity:
    offered = node.status.allocatable or node.status.capacity
    return offered.get(name, Quantity(0))


def _claims(pod: Pod, cluster: InMemoryCluster) -> Iterator[str]:
    """Yield remarks on the places of a pod's volumes, and on missing claims."""
    for volume in pod.spec.volumes:
        source = volume.persistent_volume_claim
        if source is None:
            continue
        name = source.claim_name
        try:
            claim = cluster.get(PersistentVolumeClaim, f"{pod.namespace}/{name}")
        except NotFoundError:
            yield f"claim {name} does not exist"
            continue
        yield from _place_of(claim, cluster)


def _place_of(claim: PersistentVolumeClaim, cluster: InMemoryCluster) -> Iterator[str]:
    try:
        volume = cluster.get(PersistentVolume, claim.spec.volume_name)
    except NotFoundError:
        return
    labels = zones_of_volumes([volume])
    if not labels:
        return
    where = ", ".join(f"{key}={value}" for key, value in labels.items())
    yield f"claim {claim.name} is volume {volume.name}, which needs a node with {where}"
    name = claim.spec.storage_class_name or ""
    classes = cluster.list(StorageClass).items
    if any(each.name == name and _binds_at_once(each) for each in classes):
        yield (
            f"storage class {name} creates volumes before it is known where the pod "
            "fits; a class with volumeBindingMode WaitForFirstConsumer, and a new "
            "claim, let the scheduler choose the node first (the data does not move)"
        )


def _binds_at_once(storage_class: StorageClass) -> bool:
    return storage_class.volume_binding_mode != "WaitForFirstConsumer"


def _priorities(pod: Pod, pods: Iterable[Pod]) -> Iterator[str]:
    """Yield a remark if no pod can be evicted for this one, with the reason."""
    running = [each.spec.priority or 0 for each in pods if _is_running(each)]
    priority = pod.spec.priority or 0
    if not running or min(running) < priority:
        return
    if min(running) == max(running):
        yield (
            f"all running pods have priority {running[0]}, this one has {priority}: "
            "none can be preempted"
        )
    else:
        yield (
            f"no running pod has a lower priority than this one, {priority}: none can "
            "be preempted"
        )


def _is_running(pod: Pod) -> bool:
    return bool(pod.node_name) and not pod.is_finished
