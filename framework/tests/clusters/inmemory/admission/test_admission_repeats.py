"""The admission of a pod does not depend on the pods admitted before."""

import random
from collections.abc import Callable, Mapping, Sequence

import pytest
from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.cluster import ApiError
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import (
    LimitRange,
    ObjectMeta,
    OwnerReference,
    PodSchedulingGate,
    PodSpec,
    PodStatus,
    PriorityClass,
    Time,
    from_wire,
)
from quaymaster.testing import make_node, make_pod, make_spread_constraint
from tests.kit.clusters import make_cluster

SPREAD = make_spread_constraint(selector={"role": "x"}, match_label_keys=["app"])
PLAIN = replace(make_pod().spec, priority=None, preemption_policy=None)
CLAIM = {
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "1Gi"}},
}
SCRATCH = from_wire(
    {
        "spec": {
            "volumes": [
                {
                    "name": "scratch",
                    "ephemeral": {"volumeClaimTemplate": {"spec": CLAIM}},
                }
            ]
        }
    },
    Pod,
).spec.volumes
SPECS: Sequence[PodSpec] = (
    PLAIN,
    replace(PLAIN, priority_class_name="high"),
    replace(PLAIN, priority_class_name="high", restart_policy="Never"),
    replace(PLAIN, topology_spread_constraints=(SPREAD,)),
    replace(PLAIN, scheduling_gates=(PodSchedulingGate(name="wait"),)),
    replace(PLAIN, volumes=SCRATCH),
    replace(PLAIN, containers=()),
)
LIMITS = from_wire(
    {
        "metadata": {"name": "limits", "namespace": "default"},
        "spec": {"limits": [{"type": "Container", "default": {"cpu": "2"}}]},
    },
    LimitRange,
)
OWNER = OwnerReference(api_version="apps/v1", kind="ReplicaSet", name="r", uid="u")
CHANGES: Mapping[str, Sequence[object]] = {
    "name": ("", "", "right", "x" * 252, "Wrong", "-"),
    "generate_name": ("web-", "web-", "a.-", "Wrong-", ""),
    "namespace": ("default", "other", "", "Wrong_"),
    "generation": (0, 0, -1),
    "labels": ({}, {"app": "a"}, {"app": "b"}, {"app": "-"}),
    "annotations": ({}, {"note": "x"}, {"-": "x"}),
    "finalizers": ((), ("example.com/wait",), ("wrong",)),
    "owner_references": ((), (OWNER,), (replace(OWNER, name=""),)),
    "resource_version": ("", "", "7"),
    "creation_timestamp": (None, None, Time(1.0)),
}
STATUSES = (
    PodStatus(),
    PodStatus(),
    PodStatus(phase="Pending"),
    PodStatus(phase="Running"),
)


def outcome(cluster: InMemoryCluster, pod: Pod) -> object:
    """Return the stored pod without its individual fields, and delete it."""
    try:
        stored = cluster.create(pod)
    except ApiError as error:
        return str(error)
    removed = replace(stored.metadata, finalizers=())
    cluster.update(replace(stored, metadata=removed))
    cluster.delete(Pod, stored.key, grace_period_seconds=0)
    metadata = replace(stored.metadata, uid="", resource_version="")
    if not pod.metadata.name:
        metadata = replace(metadata, name=metadata.generate_name)
    return replace(stored, metadata=metadata)


def cluster_with(value: int) -> InMemoryCluster:
    return make_cluster(make_node(name="n"), class_of(value), LIMITS)


def class_of(value: int) -> PriorityClass:
    return PriorityClass(metadata=ObjectMeta(name="high"), value=value)


MORE = ("spec", "spec", "spec", "status", "node", "class", "class", "class")


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_a_pod_is_stored_as_if_it_were_the_first(seed: int) -> None:
    rng, cluster, value = random.Random(seed), cluster_with(10), 10
    kept: list[object] = []
    metadata = ObjectMeta(generate_name="web-", namespace="default")
    pod = Pod(metadata=metadata, spec=PLAIN)
    for _ in range(400):
        changed = rng.choice([*CHANGES, *MORE])
        if changed == "class":
            value = rng.choice([10, 20])
            cluster.delete(PriorityClass, "high")
            cluster.create(class_of(value))
        new = CHANGE.get(changed, change_metadata)(rng, pod, changed)
        found = outcome(cluster, new)
        unlike_any = replace(new, spec=replace(new.spec))
        assert found == outcome(cluster_with(value), unlike_any)
        kept.append(found)  # keeps its spec in use
        if isinstance(found, Pod):  # an error is cached for long
            pod = new


def change_metadata(rng: random.Random, pod: Pod, field: str) -> Pod:
    if field == "class":
        return pod
    value = rng.choice(CHANGES[field])
    return replace(pod, metadata=replace(pod.metadata, **{field: value}))


CHANGE: Mapping[str, Callable[[random.Random, Pod, str], Pod]] = {
    "spec": lambda rng, pod, _: replace(pod, spec=rng.choice(SPECS)),
    "status": lambda rng, pod, _: replace(pod, status=rng.choice(STATUSES)),
    "node": lambda rng, pod, _: replace(pod, node_name=rng.choice(["", "", "n"])),
}


def test_a_generate_name_is_checked_although_a_full_name_contained_it() -> None:
    cluster = make_cluster()
    named = ObjectMeta(name="right", generate_name="a.-", namespace="default")
    cluster.create(Pod(metadata=named, spec=PLAIN))
    with pytest.raises(ApiError, match=r"metadata\.name"):
        cluster.create(Pod(metadata=replace(named, name=""), spec=PLAIN))


def test_the_names_of_the_claims_of_a_pod_are_its_own() -> None:
    cluster = make_cluster()
    spec = replace(PLAIN, volumes=SCRATCH)
    short = ObjectMeta(name="short", namespace="default")
    kept = cluster.create(Pod(metadata=short, spec=spec))
    with pytest.raises(ApiError, match=r"volumes\[0\]\.name"):
        cluster.create(Pod(metadata=replace(short, name="x" * 252), spec=spec))
    assert kept.spec.volumes[0].ephemeral is not None
