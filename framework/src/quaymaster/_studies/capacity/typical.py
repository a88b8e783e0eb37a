"""The typical pods of a cluster: the kinds of pods, and the number of each."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Final

import attrs
import msgspec

from quaymaster._api.objects import ObjectMeta, Pod, PodSpec, PodStatus, SpecKey
from quaymaster._api.objects.codec import ENCODER
from quaymaster._api.objects.resource_names import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from quaymaster._api.objects.resources import Resources, pod_requests

__all__ = ["MOST_SHAPES", "PodShape", "amounts_of", "one_more", "pod_shapes"]

MOST_SHAPES: Final = 100
"""How many kinds of pods are evaluated, the most frequent first."""

_OWN_LABELS: Final = frozenset(
    {
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/controller-uid",
        "batch.kubernetes.io/job-completion-index",
        "batch.kubernetes.io/job-name",
        "controller-revision-hash",
        "controller-uid",
        "job-name",
        "pod-template-generation",
        "pod-template-hash",
        "statefulset.kubernetes.io/pod-name",
    }
)
"""Labels that controllers give to single pods, or to those of one revision or Job."""

_HELD_TO_NODES: Final = ("DaemonSet", "Node")
_ANY_NAME: Final = "one-more"


@attrs.frozen(kw_only=True, eq=False)
class PodShape:
    """Similar pods.

    Attributes:
        pod: The first of them.
        count: How many there are.
        requests: What each requests, by resource; ``pods`` is 1.
    """

    pod: Pod
    count: int
    requests: Mapping[str, int]


def pod_shapes(pods: Iterable[Pod], most: int = MOST_SHAPES) -> list[PodShape]:
    """Group the pods that have a node, or wait for one, into similar pods.

    Two pods are similar if they have the same namespace, spec and labels. Labels that
    controllers generate, and names of claims that a StatefulSet created for one of its
    pods, may differ. Pods of DaemonSets and static pods do not count, since their nodes
    are given.

    Args:
        pods: The pods, in any state.
        most: How many shapes to return at most.

    Returns:
        The shapes, the most frequent first.
    """
    first: dict[Hashable, Pod] = {}
    counts: dict[Hashable, int] = {}
    for pod in pods:
        if pod.is_finished or pod.is_terminating or _is_held(pod):
            continue
        key = _key(pod)
        first.setdefault(key, pod)
        counts[key] = counts.get(key, 0) + 1
    frequent = sorted(counts, key=lambda key: -counts[key])[:most]
    return [
        PodShape(
            pod=first[key],
            count=counts[key],
            requests={**amounts_of(pod_requests(first[key])), PODS: 1},
        )
        for key in frequent
    ]


def one_more(pod: Pod, name: str = _ANY_NAME) -> Pod:
    """Return a pod like another one, as if it had just been created."""
    old = pod.metadata
    metadata = ObjectMeta(
        name=name,
        namespace=old.namespace,
        uid=name,
        labels=old.labels,
        annotations=old.annotations,
        owner_references=old.owner_references,
    )
    return Pod(metadata=metadata, spec=pod.spec, status=PodStatus())


def amounts_of(resources: Resources) -> dict[str, int]:
    """Return the amounts of resources that are not 0, by name."""
    amounts = {
        CPU: resources.milli_cpu,
        MEMORY: resources.memory,
        EPHEMERAL_STORAGE: resources.ephemeral_storage,
        **resources.scalars,
    }
    return {name: amount for name, amount in amounts.items() if amount}


def _is_held(pod: Pod) -> bool:
    controller = pod.metadata.controller
    return controller is not None and controller.kind in _HELD_TO_NODES


def _key(pod: Pod) -> Hashable:
    labels = pod.metadata.labels
    own = frozenset(item for item in labels.items() if item[0] not in _OWN_LABELS)
    return pod.namespace, own, _spec_key(pod)


def _spec_key(pod: Pod) -> bytes:
    made = [
        volume
        for volume in pod.spec.volumes
        if volume.persistent_volume_claim is not None
        and volume.persistent_volume_claim.claim_name == f"{volume.name}-{pod.name}"
    ]
    if not made:
        return _ENCODED.of(pod)
    kept = tuple(volume for volume in pod.spec.volumes if volume not in made)
    spec = msgspec.structs.replace(pod.spec, volumes=kept)
    return _encoded(spec) + repr([volume.name for volume in made]).encode()


def _encoded(spec: PodSpec) -> bytes:
    return ENCODER.encode(spec)


_ENCODED: Final = SpecKey(_encoded)
