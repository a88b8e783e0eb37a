"""The DaemonSets that new nodes run, and what they need.

Mirrors ``buildDaemonOverheadGroups`` and ``isDaemonPodCompatible``
(sigs.k8s.io/karpenter v1.15, ``pkg/controllers/provisioning/scheduling/scheduler.go``)
and ``getDaemonSetPods`` (``provisioner.go``).
"""

from collections.abc import Mapping, Sequence

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import (
    Affinity,
    Container,
    DaemonSet,
    NodeAffinity,
    ObjectMeta,
    Pod,
    PodSpec,
    Taint,
)
from quaymaster._api.objects.quantity import ResourceList
from quaymaster._studies.autoscaling.karpenter.amounts import (
    Amounts,
    amounts_of,
    request_list,
)
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.instance_types import InstanceType
from quaymaster._studies.autoscaling.karpenter.pods import has_device_claims
from quaymaster._studies.autoscaling.karpenter.requirements import Requirements
from quaymaster._studies.autoscaling.karpenter.solve.host_ports import HostPortUsage
from quaymaster._studies.autoscaling.karpenter.solve.pod_requirements import (
    strict_pod_requirements,
)
from quaymaster._studies.autoscaling.karpenter.solve.preferences import (
    with_tolerated_preferences,
    without_first_term,
)
from quaymaster._studies.autoscaling.karpenter.taints import tolerates_all

__all__ = ["DaemonGroup", "DaemonPods"]


@attrs.frozen(kw_only=True, eq=False)
class DaemonGroup:
    """Types that run the same DaemonSets.

    Attributes:
        types: The types, as bits.
        overhead: What the pods of the DaemonSets need; empty without any.
        overhead_list: The same with notations.
        ports: The host ports that they use.
    """

    types: int
    overhead: Amounts
    overhead_list: ResourceList
    ports: HostPortUsage


class DaemonPods:
    """The pods of DaemonSets, one for each.

    They lose required node affinity terms that some type does not meet, and do not get
    them back: upstream changes the pods while it looks at types, so the order of pools
    and types matters.

    Args:
        state: The cluster.
    """

    def __init__(self, state: ClusterState) -> None:
        pods = [_daemon_pod(state, each) for each in state.all_of(DaemonSet)]
        self._pods = [pod for pod in pods if not has_device_claims(pod)]

    def groups(
        self,
        requirements: Requirements,
        taints: Sequence[Taint],
        types: Sequence[InstanceType],
        among: Sequence[int],
        well_known: frozenset[str],
    ) -> Sequence[DaemonGroup]:
        """Return the types of a pool by the DaemonSets that run on them.

        Args:
            requirements: Those of the pool.
            taints: The taints of its nodes.
            types: All types.
            among: The places of the types that the pool can have.
            well_known: Labels that each new node may have.
        """
        members: dict[tuple[int, ...], int] = {}
        for place in among:
            running = tuple(
                number
                for number in range(len(self._pods))
                if self._runs(number, requirements, taints, types[place], well_known)
            )
            members[running] = members.get(running, 0) | 1 << place
        return [self._group(bits, running) for running, bits in members.items()]

    def _group(self, types: int, running: Sequence[int]) -> DaemonGroup:
        pods = [self._pods[number] for number in running]
        overhead = request_list(pods) if pods else {}
        return DaemonGroup(
            types=types,
            overhead=amounts_of(overhead),
            overhead_list=overhead,
            ports=HostPortUsage.of(pods),
        )

    def _runs(
        self,
        number: int,
        requirements: Requirements,
        taints: Sequence[Taint],
        each: InstanceType,
        well_known: frozenset[str],
    ) -> bool:
        """Return whether a DaemonSet runs on the nodes of a type."""
        pod = self._pods[number]
        pod = replace(pod, spec=with_tolerated_preferences(pod.spec))
        # Kept, and below too, as ``isDaemonPodCompatible`` (scheduler.go) changes the
        # pod itself: what was given up for one type or pool stays given up for all that
        # come later.
        self._pods[number] = pod
        if not tolerates_all(taints, pod.spec.tolerations):
            return False
        while True:
            required = strict_pod_requirements(pod)
            if requirements.compatible(
                required, well_known
            ) and each.requirements.intersects(required):
                return True
            spec = without_first_term(pod.spec)
            if spec is None:
                return False
            pod = self._pods[number] = replace(pod, spec=spec)

    def on_node(self, labels: Requirements, taints: Sequence[Taint]) -> Sequence[Pod]:
        """Return the pods of the DaemonSets that run on a node."""
        return [
            pod
            for pod in self._pods
            if tolerates_all(taints, pod.spec.tolerations)
            and labels.compatible(strict_pod_requirements(pod))
        ]


def _daemon_pod(state: ClusterState, daemon_set: DaemonSet) -> Pod:
    """Return the newest pod of a DaemonSet, or one of its template."""
    template = daemon_set.spec.template.spec
    pod = state.newest_daemon_pod(daemon_set)
    if pod is None:
        metadata = ObjectMeta(name=daemon_set.name, namespace=daemon_set.namespace)
        pod = Pod(metadata=metadata, spec=_with_limits_as_requests(template))
    affinity = template.affinity and template.affinity.node_affinity
    required = (
        affinity.required_during_scheduling_ignored_during_execution
        if affinity
        else None
    )
    if required is None:
        return pod
    # The real pod is tied to its node, which the template is not.
    own = pod.spec.affinity or Affinity()
    nodes = replace(
        own.node_affinity or NodeAffinity(),
        required_during_scheduling_ignored_during_execution=required,
    )
    spec = replace(pod.spec, affinity=replace(own, node_affinity=nodes))
    return replace(pod, spec=spec)


def _with_limits_as_requests(spec: PodSpec) -> PodSpec:
    """Return a spec as the API server completes it: limits are requests, too."""
    return replace(
        spec,
        containers=tuple(map(_completed, spec.containers)),
        init_containers=tuple(map(_completed, spec.init_containers)),
    )


def _completed(container: Container) -> Container:
    resources = container.resources
    requests: Mapping[str, object] = {**resources.limits, **resources.requests}
    return replace(container, resources=replace(resources, requests=requests))
