"""Random clusters of several clouds with a workload that may be pending."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import attrs
from msgspec.structs import replace

from quaymaster import ApiObject, Node
from quaymaster.objects import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from quaymaster.testing import (
    make_affinity_term,
    make_daemon_set,
    make_deployment,
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
    make_priority_class,
    make_spread_constraint,
    make_stateful_set,
    make_storage_class,
)
from tests.kit.clouds import CLOUDS, TWIN_ZONES

__all__ = ["PendingCluster", "pending_cluster"]

Arguments: TypeAlias = dict[str, Any]
"""Arguments of `make_pod`."""
Cause: TypeAlias = Callable[[random.Random, list[Node], Arguments], list[ApiObject]]
"""Adds a cause to the arguments of a pod, and returns the objects that it needs."""

_LABELS: Final = {"app": "x"}
_ZONE: Final = "topology.kubernetes.io/zone"
_FACTS: Final = (
    {"kubernetes.io/arch": "arm64"},
    {"kubernetes.io/arch": "amd64"},
    {"kubernetes.io/os": "windows"},
    {"node.kubernetes.io/instance-type": "p5.48xlarge"},
    {"eks.amazonaws.com/nodegroup": "gpu"},
    {"eks.amazonaws.com/capacityType": "ON_DEMAND"},
    {"karpenter.sh/capacity-type": "spot"},
    {"karpenter.sh/nodepool": "graviton"},
    {"karpenter.k8s.aws/instance-family": "c7g"},
    {"cloud.google.com/gke-nodepool": "gpu"},
    {"cloud.google.com/gke-accelerator": "nvidia-tesla-t4"},
    {"cloud.google.com/gke-spot": "true"},
    {"kubernetes.azure.com/agentpool": "user"},
    {"kubernetes.azure.com/scalesetpriority": "spot"},
    {"agentpool": "user"},
    {"node-role.kubernetes.io/worker": ""},
    {"node.openshift.io/os_id": "rhel"},
    {"nvidia.com/gpu.product": "NVIDIA-H100"},
    {"feature.node.kubernetes.io/cpu-cpuid.AVX512F": "true"},
    {"topology.topolvm.io/node": "rackb-u1"},
    {"k3s.io/hostname": "pi-1a"},
    {"kubevirt.io/schedulable": "true"},
    {"oci.oraclecloud.com/fault-domain": "FAULT-DOMAIN-2"},
    {"cloud.google.com/compute-class": "Performance"},
    {"acme.com/rdma": "true"},
    {"env": "prod"},
)
_TAINTS: Final = (
    "node.kubernetes.io/unschedulable:NoSchedule",
    "node.kubernetes.io/not-ready:NoExecute",
    "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute",
    "ToBeDeletedByClusterAutoscaler=1700000000:NoSchedule",
    "node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule",
    "ebs.csi.aws.com/agent-not-ready:NoExecute",
    "kubernetes.io/arch=arm64:NoSchedule",
    "os=windows:NoSchedule",
    "weave.works/kured-node-reboot:NoSchedule",
    "virtual-kubelet.io/provider=azure:NoSchedule",
    "eks.amazonaws.com/compute-type=fargate:NoSchedule",
    "sandbox.gke.io/runtime=gvisor:NoSchedule",
    "UpdateInProgress:NoSchedule",
    "metal3.io/remediation:NoSchedule",
    "node.ocs.openshift.io/storage=true:NoSchedule",
    "node-role.kubernetes.io/etcd=true:NoExecute",
    "nvidia.com/gpu.xid-errors:NoSchedule",
    "acme.com/pci-scope=true:NoSchedule",
    "dedicated=1:NoSchedule",
)
_OWN: Final = (
    {"example.com/disk": "ssd"},
    {"example.com/disk": "nvme"},
    {"example.com/team": "blue"},
)


@attrs.frozen(kw_only=True)
class PendingCluster:
    """A cluster in which a workload may be pending.

    Attributes:
        name: The workload, as in a command.
        objects: The input.
        causes: Names of the causes.
    """

    name: str
    objects: list[ApiObject]
    causes: tuple[str, ...]

    @property
    def nodes(self) -> dict[str, Node]:
        """The nodes by name."""
        return {obj.name: obj for obj in self.objects if isinstance(obj, Node)}


def pending_cluster(chance: random.Random) -> PendingCluster:
    """Make a cluster.

    Args:
        chance: Decides about everything.
    """
    nodes = _nodes(chance)
    causes = chance.sample(list(_CAUSES), chance.choice((1, 1, 2, 2, 3)))
    arguments: Arguments = {
        "requests": {"cpu": "500m", "memory": "256Mi"},
        "labels": _LABELS,
        "priority": None,
    }
    extra = [
        obj for cause in causes for obj in _CAUSES[cause](chance, nodes, arguments)
    ]
    pod = make_pod(name="x", **arguments)
    kinds = {
        "pod/x": pod,
        "deploy/x": make_deployment(name="x", replicas=chance.randint(1, 5), pod=pod),
        "sts/x": make_stateful_set(name="x", replicas=chance.randint(1, 3), pod=pod),
    }
    name = chance.choice(list(kinds))
    return PendingCluster(
        name=name,
        objects=[
            *nodes,
            *_agents(chance, nodes),
            *_fillers(chance, nodes),
            *extra,
            kinds[name],
        ],
        causes=tuple(causes),
    )


def _nodes(chance: random.Random) -> list[Node]:
    maker = CLOUDS[chance.choice(list(CLOUDS))]
    nodes = {}
    for number in range(chance.randint(1, 6)):
        made = maker(chance.choice("abc"), number, chance.random() < 0.25)
        nodes[made.name] = made
    return list(nodes.values())


def _agents(chance: random.Random, nodes: Sequence[Node]) -> list[ApiObject]:
    """Return a DaemonSet, or pods of one that the input lacks, or nothing."""
    arguments: Arguments = {
        "requests": {"cpu": "100m"},
        "labels": {"app": "agent"},
        "tolerations": ["*"],
    }
    workload = make_daemon_set(name="agent", pod=make_pod(**arguments))
    choice = chance.randrange(4)
    if choice < 2:
        return []
    if choice == 2:
        return [workload]
    return [
        make_pod(name=f"agent-{number}", node=node.name, owner=workload, **arguments)
        for number, node in enumerate(nodes)
    ]


def _fillers(chance: random.Random, nodes: Sequence[Node]) -> list[ApiObject]:
    """Fill some nodes."""
    fillers: list[ApiObject] = []
    for number, node in enumerate(nodes):
        if chance.random() < 0.6:
            cpus = int(node.status.allocatable["cpu"].value)
            requests = {"cpu": f"{1000 * cpus - chance.choice((100, 400, 1000))}m"}
            fillers.append(
                make_pod(
                    name=f"filler-{number}",
                    node=node.name,
                    requests=requests,
                    labels={"app": "filler"},
                    priority=None,
                )
            )
    return fillers


def _fact(
    chance: random.Random, nodes: Sequence[Node], pod: Arguments
) -> list[ApiObject]:
    labels: Mapping[str, str] = chance.choice(_FACTS)
    if chance.random() < 0.5:
        pod["node_selector"] = {**pod.get("node_selector", {}), **labels}
    else:
        pod.setdefault("node_affinity", labels)
    return []


def _terms(
    chance: random.Random, nodes: Sequence[Node], pod: Arguments
) -> list[ApiObject]:
    """Require one of several terms, as node affinity can."""
    requirements = [
        {**chance.choice(_FACTS), **chance.choice((*_OWN, *_FACTS))} for _ in range(2)
    ]
    pod["node_affinity"] = NodeSelector(
        node_selector_terms=tuple(
            NodeSelectorTerm(
                match_expressions=tuple(
                    NodeSelectorRequirement(key=key, operator="In", values=(value,))
                    for key, value in labels.items()
                )
            )
            for labels in requirements
        )
    )
    return []


def _closed(
    chance: random.Random, nodes: list[Node], pod: Arguments
) -> list[ApiObject]:
    """Cordon nodes, or taint them as controllers do."""
    for index, node in enumerate(nodes):
        taint = chance.choice(_TAINTS)
        keys = {each.key for each in node.spec.taints}
        if chance.random() < 0.7 and re.split("[=:]", taint)[0] not in keys:
            taints = (*node.spec.taints, *make_node(taints=[taint]).spec.taints)
            spec = replace(
                node.spec, taints=taints, unschedulable="unschedulable" in taint
            )
            nodes[index] = replace(node, spec=spec)
    return []


def _own_label(
    chance: random.Random, nodes: Sequence[Node], pod: Arguments
) -> list[ApiObject]:
    labels: Mapping[str, str] = chance.choice(_OWN)
    pod["node_selector"] = {**pod.get("node_selector", {}), **labels}
    return []


def _zone(
    chance: random.Random, nodes: Sequence[Node], pod: Arguments
) -> list[ApiObject]:
    zones = [node.labels[_ZONE] for node in nodes]
    zone = chance.choice([*zones, "z-9", zones[0][:-1] + "c"])
    pod["node_selector"] = {**pod.get("node_selector", {}), _ZONE: zone}
    return []


def _large(
    chance: random.Random, nodes: Sequence[Node], pod: Arguments
) -> list[ApiObject]:
    pod["requests"] = {**pod["requests"], "cpu": chance.choice(("3", "7", "120"))}
    return []


def _device(
    chance: random.Random, nodes: Sequence[Node], pod: Arguments
) -> list[ApiObject]:
    name = chance.choice(("nvidia.com/gpu", "example.com/fpga", "hugepages-2Mi"))
    amount = "64Mi" if name.startswith("huge") else chance.choice(("1", "2", "8"))
    pod["requests"] = {**pod["requests"], name: amount}
    pod["limits"] = {name: amount}
    if chance.random() < 0.5:
        pod["tolerations"] = ["nvidia.com/gpu"]
    return []


def _volume(
    chance: random.Random, nodes: Sequence[Node], pod: Arguments
) -> list[ApiObject]:
    node = chance.choice(nodes)
    keys = [key for key in TWIN_ZONES if key in node.labels]
    zone = node.labels[_ZONE] if chance.random() < 0.7 else "z-9"
    labels: dict[str, str] = {chance.choice(keys): zone}
    if chance.random() < 0.2:
        labels = {"kubernetes.io/hostname": node.name}
    pod["claims"] = ["data"]
    immediate = chance.random() < 0.5
    claim = make_persistent_volume_claim(name="data", volume="v", storage_class="disk")
    return [
        make_storage_class(
            name="disk",
            volume_binding_mode="Immediate" if immediate else "WaitForFirstConsumer",
        ),
        claim,
        make_persistent_volume(
            name="v", node_labels={**labels}, storage_class="disk", claim=claim
        ),
    ]


def _unbound(
    chance: random.Random, nodes: Sequence[Node], pod: Arguments
) -> list[ApiObject]:
    pod["claims"] = [*pod.get("claims", ()), "new"]
    zones = [{_ZONE: [chance.choice(("z-9", nodes[0].labels[_ZONE]))]}]
    return [
        make_storage_class(name="fast", allowed_topologies=zones),
        make_storage_class(name="slow"),
        make_persistent_volume_claim(name="new", storage_class="fast"),
    ]


def _port(
    chance: random.Random, nodes: Sequence[Node], pod: Arguments
) -> list[ApiObject]:
    pod["host_ports"] = [8080]
    return [
        make_pod(name=f"port-{number}", node=node.name, host_ports=[8080])
        for number, node in enumerate(nodes)
        if chance.random() < 0.8
    ]


def _spread(
    chance: random.Random, nodes: Sequence[Node], pod: Arguments
) -> list[ApiObject]:
    pod["spread"] = [
        make_spread_constraint(
            selector=_LABELS,
            topology_key=chance.choice((_ZONE, "kubernetes.io/hostname")),
            min_domains=chance.choice((None, None, 4)),
        )
    ]
    return _twins(chance, nodes)


def _twins(chance: random.Random, nodes: Sequence[Node]) -> list[ApiObject]:
    return [
        make_pod(
            name=f"twin-{chance.randrange(10**9)}",
            node=chance.choice(nodes).name,
            labels=_LABELS,
        )
        for _ in range(chance.randint(0, 3))
    ]


def _anti_affinity(
    chance: random.Random, nodes: Sequence[Node], pod: Arguments
) -> list[ApiObject]:
    key = chance.choice((_ZONE, "kubernetes.io/hostname"))
    pod["pod_anti_affinity"] = [make_affinity_term(selector=_LABELS, topology_key=key)]
    return _twins(chance, nodes)


def _affinity(
    chance: random.Random, nodes: Sequence[Node], pod: Arguments
) -> list[ApiObject]:
    selector = {"app": chance.choice(("filler", "absent"))}
    pod["pod_affinity"] = [make_affinity_term(selector=selector, topology_key=_ZONE)]
    return []


def _priority(
    chance: random.Random, nodes: Sequence[Node], pod: Arguments
) -> list[ApiObject]:
    pod["requests"] = {**pod["requests"], "cpu": "1500m"}
    return [make_priority_class(name="high", value=1000)]


def _gates(
    chance: random.Random, nodes: Sequence[Node], pod: Arguments
) -> list[ApiObject]:
    pod["scheduling_gates"] = ["kueue.x-k8s.io/admission"]
    return []


_CAUSES: Final[Mapping[str, Cause]] = {
    "fact": _fact,
    "terms": _terms,
    "closed": _closed,
    "own-label": _own_label,
    "zone": _zone,
    "large": _large,
    "device": _device,
    "volume": _volume,
    "unbound": _unbound,
    "port": _port,
    "spread": _spread,
    "anti-affinity": _anti_affinity,
    "affinity": _affinity,
    "priority": _priority,
    "gates": _gates,
}
