"""Makers of pods and their parts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from quaymaster._api.objects import (
    Affinity,
    ApiObject,
    Container,
    ContainerPort,
    LabelSelector,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    PersistentVolumeClaimVolumeSource,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    PodCondition,
    PodSchedulingGate,
    PodSchedulingGroup,
    PodSpec,
    PodStatus,
    PreferredSchedulingTerm,
    PriorityClass,
    ResourceRequirements,
    Toleration,
    TopologySpreadConstraint,
    Volume,
    WeightedPodAffinityTerm,
)
from quaymaster._api.objects.resource_names import is_overcommit_allowed
from quaymaster._authors.testing.makers.metadata import make_metadata
from quaymaster._authors.testing.shorthand import (
    Amounts,
    Moment,
    node_selector_term,
    parse_host_port,
    parse_toleration,
    to_label_selector,
    to_resource_list,
    to_time,
)

__all__ = ["make_affinity_term", "make_container", "make_pod", "make_spread_constraint"]

_HOSTNAME: Final = "kubernetes.io/hostname"
_ZONE: Final = "topology.kubernetes.io/zone"
_DEFAULT_IMAGE: Final = "registry.k8s.io/pause:3.10"


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
        requests: Its requests, such as ``{"cpu": "500m"}``.
        limits: Its limits.
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
    priority_class: PriorityClass | str = "",
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
    scheduling_group: str | None = None,
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
        uid: Its uid; by default it is derived from namespace and name.
        requests: The requests of its first container, such as ``{"cpu": "500m"}``.
        limits: The limits of its first container.
        host_ports: The node's ports that its first container takes, such as ``8080`` or
            ``"10.0.0.1:8080/UDP"``.
        images: One container for each.
        containers: The containers themselves, instead of the four arguments before.
        init_containers: Its init containers and sidecars, see `make_container`.
        overhead: The overhead of its runtime class.
        pod_requests: The requests of the pod as a whole.
        pod_limits: The limits of the pod as a whole.
        priority: Its priority.
        priority_class: Its priority class, whose priority and preemption policy it
            gets, as from an API server; or only the name of one.
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
        scheduling_group: The name of its PodGroup, see `make_pod_group`.
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
    if isinstance(priority_class, PriorityClass):
        priority = priority_class.value
        preemption_policy = priority_class.preemption_policy
        priority_class = priority_class.name
    spec = PodSpec(
        containers=tuple(containers),
        init_containers=tuple(init_containers),
        volumes=(*map(_claim_volume, claims), *volumes),
        overhead=to_resource_list(overhead),
        resources=whole,
        priority=priority,
        priority_class_name=priority_class,
        preemption_policy=preemption_policy,
        scheduler_name=scheduler_name,
        restart_policy="Always",
        node_selector=dict(node_selector or {}),
        affinity=None if affinity == Affinity() else affinity,
        tolerations=tuple(map(parse_toleration, tolerations)),
        topology_spread_constraints=tuple(spread),
        scheduling_gates=tuple(PodSchedulingGate(name=g) for g in scheduling_gates),
        scheduling_group=(
            None
            if scheduling_group is None
            else PodSchedulingGroup(pod_group_name=scheduling_group)
        ),
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


def make_affinity_term(
    *,
    selector: LabelSelector | Mapping[str, str] | None,
    topology_key: str = _HOSTNAME,
    namespaces: Iterable[str] = (),
    namespace_selector: LabelSelector | Mapping[str, str] | None = None,
) -> PodAffinityTerm:
    """Make a term of pod (anti-)affinity: a selector of pods, and a topology key.

    It is for the arguments ``pod_affinity`` and ``pod_anti_affinity`` of `make_pod`.

    Args:
        selector: The labels of the other pods; None for no pods.
        topology_key: The label of nodes that defines a domain; by default the host.
        namespaces: The namespaces of the other pods; by default that of the pod.
        namespace_selector: The labels of further namespaces; empty for all.
    """
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
    """Make a topology spread constraint, for the argument ``spread`` of `make_pod`.

    Args:
        selector: The labels of the pods that count.
        topology_key: The label of nodes that defines a domain; by default the zone.
        max_skew: How many more pods a domain may have than the one with the fewest.
        when_unsatisfiable: ``DoNotSchedule`` filters nodes, ``ScheduleAnyway`` scores
            them.
        min_domains: The least number of domains.
        node_affinity_policy: ``Honor`` or ``Ignore``; None means ``Honor``.
        node_taints_policy: ``Honor`` or ``Ignore``; None means ``Ignore``.
        match_label_keys: Labels of the pod whose values are added to the selector.
    """
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
