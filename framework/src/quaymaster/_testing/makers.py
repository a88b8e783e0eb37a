"""Makers of objects for tests and simulations.

Every argument is a keyword and has a default, amounts are as in manifests
(``requests={"cpu": "500m"}``), and common cases have a short form
(``taints=["dedicated=gpu:NoSchedule"]``, see `quaymaster._testing.shorthand`). The same
arguments always make equal objects, their uids included.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from quaymaster._objects import (
    Affinity,
    ApiObject,
    Container,
    ContainerImage,
    ContainerPort,
    LabelSelector,
    Namespace,
    Node,
    NodeAffinity,
    NodeCondition,
    NodeSelector,
    NodeSelectorTerm,
    NodeSpec,
    NodeStatus,
    ObjectMeta,
    OwnerReference,
    PersistentVolumeClaimVolumeSource,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    PodCondition,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
    PodSchedulingGate,
    PodSpec,
    PodStatus,
    PreferredSchedulingTerm,
    PriorityClass,
    ReplicaSet,
    ReplicaSetSpec,
    ResourceRequirements,
    Service,
    ServiceSpec,
    Taint,
    Toleration,
    TopologySpreadConstraint,
    Volume,
    WeightedPodAffinityTerm,
)
from quaymaster._objects.resource_names import is_overcommit_allowed
from quaymaster._testing.shorthand import (
    Amounts,
    Moment,
    node_selector_term,
    parse_host_port,
    parse_taint,
    parse_toleration,
    to_label_selector,
    to_resource_list,
    to_time,
)

__all__ = [
    "make_affinity_term",
    "make_container",
    "make_metadata",
    "make_namespace",
    "make_node",
    "make_pod",
    "make_pod_disruption_budget",
    "make_priority_class",
    "make_replica_set",
    "make_service",
    "make_spread_constraint",
    "make_uid",
]

_UID_SPACE: Final = uuid.UUID("6f1d5f4e-52a3-5b0c-9a59-6c1d1a6f0c3b")
_HOSTNAME: Final = "kubernetes.io/hostname"
_ZONE: Final = "topology.kubernetes.io/zone"
_REGION: Final = "topology.kubernetes.io/region"
_DEFAULT_IMAGE: Final = "registry.k8s.io/pause:3.10"
_DEFAULT_CAPACITY: Final = {
    "cpu": "4",
    "memory": "16Gi",
    "ephemeral-storage": "100Gi",
    "pods": "110",
}


def make_uid(kind: type[ApiObject], name: str, namespace: str = "") -> str:
    """Return the uid that makers give to an object of a kind and name."""
    return str(uuid.uuid5(_UID_SPACE, f"{kind.kind}/{namespace}/{name}"))


def make_metadata(
    kind: type[ApiObject],
    *,
    name: str,
    namespace: str = "",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    owner: ApiObject | None = None,
    uid: str | None = None,
    creation_timestamp: Moment | None = None,
    deletion_timestamp: Moment | None = None,
) -> ObjectMeta:
    """Make metadata for an object of a kind; `owner` is its controller."""
    owners: tuple[OwnerReference, ...] = ()
    if owner is not None:
        reference = OwnerReference(
            api_version=owner.api_version,
            kind=owner.kind,
            name=owner.name,
            uid=owner.uid,
            controller=True,
        )
        owners = (reference,)
    return ObjectMeta(
        name=name,
        namespace=namespace,
        uid=make_uid(kind, name, namespace) if uid is None else uid,
        labels=dict(labels or {}),
        annotations=dict(annotations or {}),
        owner_references=owners,
        creation_timestamp=to_time(creation_timestamp),
        deletion_timestamp=to_time(deletion_timestamp),
    )


def make_container(
    *,
    name: str = "main",
    image: str = _DEFAULT_IMAGE,
    requests: Amounts | None = None,
    limits: Amounts | None = None,
    host_ports: Iterable[int | str | ContainerPort] = (),
    sidecar: bool = False,
) -> Container:
    """Make a container as the API stores it.

    Limits without requests count as requests, too. Requests of resources that cannot be
    overcommitted, such as ``nvidia.com/gpu``, count as limits.

    Args:
        name: Its name.
        image: Its image.
        requests: What it requests, such as ``{"cpu": "500m"}``.
        limits: What it may use at most.
        host_ports: Ports of the node, such as ``8080`` or ``"8080/UDP"``.
        sidecar: Whether, as an init container, it keeps running.
    """
    return Container(
        name=name,
        image=image,
        ports=tuple(map(parse_host_port, host_ports)),
        resources=_resources(requests, limits),
        restart_policy="Always" if sidecar else None,
    )


def make_pod(
    *,
    name: str = "pod",
    namespace: str = "default",
    node: str | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    owner: ApiObject | None = None,
    uid: str | None = None,
    requests: Amounts | None = None,
    limits: Amounts | None = None,
    host_ports: Iterable[int | str | ContainerPort] = (),
    images: Iterable[str] = (_DEFAULT_IMAGE,),
    containers: Sequence[Container] | None = None,
    init_containers: Iterable[Container] = (),
    overhead: Amounts | None = None,
    pod_requests: Amounts | None = None,
    pod_limits: Amounts | None = None,
    priority: int | None = 0,
    preemption_policy: str | None = "PreemptLowerPriority",
    scheduler_name: str = "default-scheduler",
    node_selector: Mapping[str, str] | None = None,
    node_affinity: NodeSelector | Mapping[str, str | Sequence[str]] | None = None,
    preferred_node_affinity: Iterable[
        tuple[int, NodeSelectorTerm | Mapping[str, str | Sequence[str]]]
    ] = (),
    pod_affinity: Iterable[PodAffinityTerm] = (),
    preferred_pod_affinity: Iterable[tuple[int, PodAffinityTerm]] = (),
    pod_anti_affinity: Iterable[PodAffinityTerm] = (),
    preferred_pod_anti_affinity: Iterable[tuple[int, PodAffinityTerm]] = (),
    tolerations: Iterable[str | Toleration] = (),
    spread: Iterable[TopologySpreadConstraint] = (),
    scheduling_gates: Iterable[str] = (),
    claims: Iterable[str] = (),
    volumes: Iterable[Volume] = (),
    host_network: bool = False,
    termination_grace_period_seconds: int | None = 30,
    phase: str | None = None,
    conditions: Iterable[PodCondition] = (),
    nominated_node: str = "",
    start_time: Moment | None = None,
    creation_timestamp: Moment | None = None,
    deletion_timestamp: Moment | None = None,
) -> Pod:
    """Make a pod, by default with one container.

    Args:
        name: Its name.
        namespace: Its namespace.
        node: The node that it runs on; None while it is not scheduled.
        labels: Its labels.
        annotations: Its annotations.
        owner: The controller that made it.
        uid: Its uid; by default it follows from namespace and name.
        requests: What its first container requests, such as ``{"cpu": "500m"}``.
        limits: What its first container may use at most.
        host_ports: The node's ports that its first container takes, such as ``8080`` or
            ``"10.0.0.1:8080/UDP"``.
        images: One container for each.
        containers: The containers themselves, instead of the four arguments before.
        init_containers: Its init containers and sidecars, see `make_container`.
        overhead: The overhead of its runtime class.
        pod_requests: What it requests as a whole.
        pod_limits: What it may use as a whole.
        priority: Its priority.
        preemption_policy: ``PreemptLowerPriority`` or ``Never``.
        scheduler_name: The profile that schedules it.
        node_selector: The labels that its node must have.
        node_affinity: Required node affinity; short: label -> value, or values.
        preferred_node_affinity: Pairs of a weight and a term, or label -> values.
        pod_affinity: Required terms, see `make_affinity_term`.
        preferred_pod_affinity: Pairs of a weight and a term.
        pod_anti_affinity: Required terms.
        preferred_pod_anti_affinity: Pairs of a weight and a term.
        tolerations: Such as ``"key=value:NoSchedule"``, ``"key"`` or ``"*"``.
        spread: Topology spread constraints, see `make_spread_constraint`.
        scheduling_gates: The names of its gates.
        claims: Names of claims; a volume for each.
        volumes: More volumes.
        host_network: Whether it uses the node's network.
        termination_grace_period_seconds: How long it may take to end.
        phase: By default ``Running`` on a node, else ``Pending``.
        conditions: Its conditions.
        nominated_node: The node that it is nominated to.
        start_time: When it started, as seconds or as a text.
        creation_timestamp: When it was created.
        deletion_timestamp: When its grace period ends, if it is being deleted.
    """
    if containers is None:
        containers = _containers(images, requests, limits, host_ports)
    whole = None
    if pod_requests is not None or pod_limits is not None:
        whole = _resources(pod_requests, pod_limits)
    affinity = Affinity(
        node_affinity=_node_affinity(node_affinity, preferred_node_affinity),
        pod_affinity=_pod_affinity(pod_affinity, preferred_pod_affinity),
        pod_anti_affinity=_pod_anti_affinity(
            pod_anti_affinity, preferred_pod_anti_affinity
        ),
    )
    spec = PodSpec(
        containers=tuple(containers),
        init_containers=tuple(init_containers),
        volumes=(*map(_claim_volume, claims), *volumes),
        overhead=to_resource_list(overhead),
        resources=whole,
        priority=priority,
        preemption_policy=preemption_policy,
        scheduler_name=scheduler_name,
        restart_policy="Always",
        node_selector=dict(node_selector or {}),
        affinity=None if affinity == Affinity() else affinity,
        tolerations=tuple(map(parse_toleration, tolerations)),
        topology_spread_constraints=tuple(spread),
        scheduling_gates=tuple(PodSchedulingGate(name=g) for g in scheduling_gates),
        host_network=host_network,
        termination_grace_period_seconds=termination_grace_period_seconds,
    )
    return Pod(
        metadata=make_metadata(
            Pod,
            name=name,
            namespace=namespace,
            labels=labels,
            annotations=annotations,
            owner=owner,
            uid=uid,
            creation_timestamp=creation_timestamp,
            deletion_timestamp=deletion_timestamp,
        ),
        spec=spec,
        node_name=node or "",
        status=PodStatus(
            phase=phase or ("Running" if node else "Pending"),
            conditions=tuple(conditions),
            nominated_node_name=nominated_node,
            start_time=to_time(start_time),
        ),
    )


def make_node(
    *,
    name: str = "node",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    zone: str | None = None,
    region: str | None = None,
    capacity: Amounts | None = None,
    allocatable: Amounts | None = None,
    taints: Iterable[str | Taint] = (),
    unschedulable: bool = False,
    images: Mapping[str, int] | None = None,
    declared_features: Iterable[str] = (),
    ready: bool = True,
    uid: str | None = None,
    creation_timestamp: Moment | None = None,
) -> Node:
    """Make a node, with the hostname label that its kubelet would set.

    Args:
        name: Its name.
        labels: More labels.
        annotations: Its annotations.
        zone: Its zone, as the well-known label.
        region: Its region, as the well-known label.
        capacity: What differs from 4 CPUs, 16Gi memory, 100Gi ephemeral storage and 110
            pods; extended resources, too.
        allocatable: What differs from the capacity.
        taints: Such as ``"key=value:NoSchedule"``.
        unschedulable: Whether it is cordoned (its taint is not added).
        images: The images that it has, with their sizes in bytes.
        declared_features: The features that its kubelet declares.
        ready: Whether it is ready.
        uid: Its uid; by default it follows from the name.
        creation_timestamp: When it was created.
    """
    own = {_HOSTNAME: name}
    if zone is not None:
        own[_ZONE] = zone
    if region is not None:
        own[_REGION] = region
    amounts = to_resource_list({**_DEFAULT_CAPACITY, **(capacity or {})})
    return Node(
        metadata=make_metadata(
            Node,
            name=name,
            labels={**own, **(labels or {})},
            annotations=annotations,
            uid=uid,
            creation_timestamp=creation_timestamp,
        ),
        spec=NodeSpec(
            taints=tuple(map(parse_taint, taints)), unschedulable=unschedulable
        ),
        status=NodeStatus(
            capacity=amounts,
            allocatable={**amounts, **to_resource_list(allocatable)},
            conditions=(
                NodeCondition(type="Ready", status="True" if ready else "False"),
            ),
            images=tuple(
                ContainerImage(names=(image,), size_bytes=size)
                for image, size in (images or {}).items()
            ),
            declared_features=tuple(declared_features),
        ),
    )


def make_affinity_term(
    *,
    selector: LabelSelector | Mapping[str, str] | None,
    topology_key: str = _HOSTNAME,
    namespaces: Iterable[str] = (),
    namespace_selector: LabelSelector | Mapping[str, str] | None = None,
) -> PodAffinityTerm:
    """Make a term of pod (anti-)affinity: a selector of pods, and a topology key."""
    return PodAffinityTerm(
        label_selector=to_label_selector(selector),
        topology_key=topology_key,
        namespaces=tuple(namespaces),
        namespace_selector=to_label_selector(namespace_selector),
    )


def make_spread_constraint(
    *,
    selector: LabelSelector | Mapping[str, str] | None,
    topology_key: str = _ZONE,
    max_skew: int = 1,
    when_unsatisfiable: str = "DoNotSchedule",
    min_domains: int | None = None,
    node_affinity_policy: str | None = None,
    node_taints_policy: str | None = None,
    match_label_keys: Iterable[str] = (),
) -> TopologySpreadConstraint:
    """Make a topology spread constraint; ``ScheduleAnyway`` makes it a soft one."""
    return TopologySpreadConstraint(
        label_selector=to_label_selector(selector),
        topology_key=topology_key,
        max_skew=max_skew,
        when_unsatisfiable=when_unsatisfiable,
        min_domains=min_domains,
        node_affinity_policy=node_affinity_policy,
        node_taints_policy=node_taints_policy,
        match_label_keys=tuple(match_label_keys),
    )


def make_namespace(
    *, name: str = "default", labels: Mapping[str, str] | None = None
) -> Namespace:
    """Make a namespace, with the name label that the API server would set."""
    own = {"kubernetes.io/metadata.name": name}
    metadata = make_metadata(Namespace, name=name, labels={**own, **(labels or {})})
    return Namespace(metadata=metadata)


def make_service(
    *,
    name: str = "service",
    namespace: str = "default",
    selector: Mapping[str, str] | None = None,
) -> Service:
    """Make a service that selects the pods with these labels."""
    return Service(
        metadata=make_metadata(Service, name=name, namespace=namespace),
        spec=ServiceSpec(selector=dict(selector or {})),
    )


def make_replica_set(
    *,
    name: str = "replica-set",
    namespace: str = "default",
    selector: LabelSelector | Mapping[str, str] | None = None,
    replicas: int = 1,
) -> ReplicaSet:
    """Make a replica set, which can be the ``owner`` of pods."""
    return ReplicaSet(
        metadata=make_metadata(ReplicaSet, name=name, namespace=namespace),
        spec=ReplicaSetSpec(replicas=replicas, selector=to_label_selector(selector)),
    )


def make_pod_disruption_budget(
    *,
    name: str = "budget",
    namespace: str = "default",
    selector: LabelSelector | Mapping[str, str] | None = None,
    disruptions_allowed: int = 0,
    min_available: int | str | None = None,
    max_unavailable: int | str | None = None,
) -> PodDisruptionBudget:
    """Make a disruption budget, with the disruptions that it allows now."""
    return PodDisruptionBudget(
        metadata=make_metadata(PodDisruptionBudget, name=name, namespace=namespace),
        spec=PodDisruptionBudgetSpec(
            selector=to_label_selector(selector),
            min_available=min_available,
            max_unavailable=max_unavailable,
        ),
        status=PodDisruptionBudgetStatus(disruptions_allowed=disruptions_allowed),
    )


def make_priority_class(
    *,
    name: str = "priority",
    value: int = 0,
    global_default: bool = False,
    preemption_policy: str | None = "PreemptLowerPriority",
) -> PriorityClass:
    """Make a priority class."""
    return PriorityClass(
        metadata=make_metadata(PriorityClass, name=name),
        value=value,
        global_default=global_default,
        preemption_policy=preemption_policy,
    )


def _containers(
    images: Iterable[str],
    requests: Amounts | None,
    limits: Amounts | None,
    host_ports: Iterable[int | str | ContainerPort],
) -> list[Container]:
    first, *others = images
    return [
        make_container(
            image=first, requests=requests, limits=limits, host_ports=host_ports
        ),
        *(
            make_container(name=f"main-{number}", image=image)
            for number, image in enumerate(others, 2)
        ),
    ]


def _resources(
    requests: Amounts | None, limits: Amounts | None
) -> ResourceRequirements:
    at_least, at_most = to_resource_list(requests), to_resource_list(limits)
    firm = {k: v for k, v in at_least.items() if not is_overcommit_allowed(k)}
    return ResourceRequirements(
        requests={**at_most, **at_least}, limits={**firm, **at_most}
    )


def _claim_volume(claim: str) -> Volume:
    source = PersistentVolumeClaimVolumeSource(claim_name=claim)
    return Volume(name=claim, persistent_volume_claim=source)


def _node_affinity(
    required: NodeSelector | Mapping[str, str | Sequence[str]] | None,
    preferred: Iterable[
        tuple[int, NodeSelectorTerm | Mapping[str, str | Sequence[str]]]
    ],
) -> NodeAffinity | None:
    if required is not None and not isinstance(required, NodeSelector):
        required = NodeSelector(node_selector_terms=(node_selector_term(required),))
    affinity = NodeAffinity(
        required_during_scheduling_ignored_during_execution=required,
        preferred_during_scheduling_ignored_during_execution=tuple(
            PreferredSchedulingTerm(weight=weight, preference=node_selector_term(term))
            for weight, term in preferred
        ),
    )
    return None if affinity == NodeAffinity() else affinity


def _pod_affinity(
    required: Iterable[PodAffinityTerm],
    preferred: Iterable[tuple[int, PodAffinityTerm]],
) -> PodAffinity | None:
    affinity = PodAffinity(
        required_during_scheduling_ignored_during_execution=tuple(required),
        preferred_during_scheduling_ignored_during_execution=_weighted(preferred),
    )
    return None if affinity == PodAffinity() else affinity


def _pod_anti_affinity(
    required: Iterable[PodAffinityTerm],
    preferred: Iterable[tuple[int, PodAffinityTerm]],
) -> PodAntiAffinity | None:
    affinity = PodAntiAffinity(
        required_during_scheduling_ignored_during_execution=tuple(required),
        preferred_during_scheduling_ignored_during_execution=_weighted(preferred),
    )
    return None if affinity == PodAntiAffinity() else affinity


def _weighted(
    preferred: Iterable[tuple[int, PodAffinityTerm]],
) -> tuple[WeightedPodAffinityTerm, ...]:
    return tuple(
        WeightedPodAffinityTerm(weight=weight, pod_affinity_term=term)
        for weight, term in preferred
    )
