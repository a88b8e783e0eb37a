"""Labels and taints of nodes that are facts: advice must not change or ignore them."""

from collections.abc import Iterable, Iterator
from typing import Final

from quaymaster._api.objects import Node, Taint

__all__ = [
    "GROUP_LABELS",
    "HOSTNAME",
    "SHAPE_LABELS",
    "ZONE_LABELS",
    "can_be_ignored",
    "is_control_plane",
    "is_fact",
    "is_protective",
    "passing_taints",
]

HOSTNAME: Final = "kubernetes.io/hostname"

ZONE_LABELS: Final = (
    "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/zone",
    "topology.ebs.csi.aws.com/zone",
    "topology.k8s.aws/zone",
    "topology.gke.io/zone",
    "topology.disk.csi.azure.com/zone",
    "topology.cinder.csi.openstack.org/zone",
    "topology.diskplugin.csi.alibabacloud.com/zone",
)
"""Labels that name the zone of a node. All of them have the same value on a node."""

GROUP_LABELS: Final = (
    "karpenter.sh/nodepool",
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "node.kubernetes.io/instance-type",
)
"""Labels that name the group of a node, the most specific first."""

SHAPE_LABELS: Final = frozenset(
    {
        "kubernetes.io/arch",
        "beta.kubernetes.io/arch",
        "kubernetes.io/os",
        "beta.kubernetes.io/os",
        "node.kubernetes.io/instance-type",
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/windows-build",
        *GROUP_LABELS,
    }
)
"""Labels that depend on the machine: another value means another machine."""

_DOMAINS: Final = (
    # Kubernetes and its subprojects.
    "kubernetes.io",
    "k8s.io",
    "karpenter.sh",
    "cluster.x-k8s.io",
    "openshift.io",
    # Clouds.
    "amazonaws.com",
    "aws.com",
    "k8s.aws",
    "karpenter.k8s.aws",
    "eksctl.io",
    "google.com",
    "gke.io",
    "azure.com",
    "oraclecloud.com",
    "digitalocean.com",
    "linode.com",
    "akamai.com",
    "hetzner.cloud",
    "scaleway.com",
    "ovhcloud.com",
    "openstack.org",
    "alibabacloud.com",
    "aliyun.com",
    "tencent.com",
    "ibm.com",
    "vmware.com",
    "civo.com",
    "vultr.com",
    "exoscale.net",
    "exoscale.com",
    "equinix.com",
    # Distributions and virtual nodes.
    "k3s.io",
    "rke2.io",
    "cattle.io",
    "talos.dev",
    "virtual-kubelet.io",
    # Makers of devices.
    "nvidia.com",
    "amd.com",
    "intel.com",
    "habana.ai",
    "xilinx.com",
    "mellanox.com",
    "qualcomm.com",
    "huawei.com",
    "cambricon.com",
    # Network and storage drivers.
    "cilium.io",
    "projectcalico.org",
    "csi.k8s.io",
    "portworx.com",
    "longhorn.io",
    "topolvm.io",
    "openebs.io",
)
"""Domains whose labels kubelets, clouds and drivers write."""

_WORDS: Final = frozenset(
    {
        "arch",
        "architecture",
        "os",
        "zone",
        "region",
        "rack",
        "hostname",
        "instancetype",
        "machinetype",
        "capacitytype",
        "lifecycle",
        "gpu",
        "gpumodel",
        "gpuproduct",
        "gputype",
        "accelerator",
        "acceleratortype",
        "cpumodel",
        "cputype",
        "nodegroup",
        "nodepool",
        "agentpool",
        "instancegroup",
        "machinedeployment",
        "storageprofile",
        "storagetier",
    }
)
"""Names of labels that describe a machine, in any domain, without hyphens."""

_RUN_ON: Final = frozenset({"arch", "architecture", "os", "windowsbuild"})
"""Labels that a container image is built for."""
_MACHINES: Final = frozenset({"instancetype", "machinetype"})
"""Labels that name a kind of machine, on which the size of a pod may depend."""
_DEVICE_DOMAINS: Final = (
    "nvidia.com",
    "amd.com",
    "intel.com",
    "habana.ai",
    "xilinx.com",
    "cambricon.com",
)
_DEVICE_WORDS: Final = ("gpu", "accelerator", "tpu", "neuron")

_CONTROL_PLANE: Final = (
    "node-role.kubernetes.io/control-plane",
    "node-role.kubernetes.io/master",
)
_PROTECTIVE_DOMAINS: Final = (
    "kubernetes.io",
    "k8s.io",
    "karpenter.sh",
    "cilium.io",
    "virtual-kubelet.io",
    "medik8s.io",
    "aws-node-termination-handler",
)
"""Domains of taints that no workload should tolerate."""
_PROTECTIVE_KEYS: Final = frozenset(
    {
        "ToBeDeletedByClusterAutoscaler",
        "DeletionCandidateOfClusterAutoscaler",
        "eks.amazonaws.com/compute-type",
        "cloud.google.com/impending-node-termination",
        "CriticalAddonsOnly",
    }
)
_PROTECTIVE_WORDS: Final = (
    "not-ready",
    "notready",
    "unreachable",
    "unschedulable",
    "uninitialized",
    "out-of-service",
    "out-of-disk",
    "pressure",
    "disrupt",
    "terminat",
    "shutdown",
    "drain",
    "maintenance",
    "virtual-kubelet",
    "fargate",
)
_PASSING_KEYS: Final = frozenset(
    {"ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler"}
)
_PASSING_DOMAINS: Final = ("node.kubernetes.io", "karpenter.sh")


def is_fact(key: str) -> bool:
    """Return whether a label describes what a node is, so that advice must not set it.

    Kubelets, cloud controllers and drivers write such labels: arch, zone, instance
    type, GPU model, node group and so on.

    Args:
        key: The label's key.
    """
    domain, _, name = key.rpartition("/")
    return _is_in(domain, _DOMAINS) or _plain(name) in _WORDS


def can_be_ignored(key: str) -> bool:
    """Return whether a pod may run on nodes that lack a label it selects.

    An image that is built for an architecture or an operating system, or a program
    that needs a device or a kind of machine, fails on other nodes.

    Args:
        key: The label's key.
    """
    domain, _, name = key.rpartition("/")
    if _plain(name) in _RUN_ON | _MACHINES or _is_in(domain, _DEVICE_DOMAINS):
        return False
    return not any(word in name.lower() for word in _DEVICE_WORDS)


def is_protective(taint: Taint) -> bool:
    """Return whether a taint protects a node, or pods from it.

    Examples are the taints of control planes, of nodes that are not ready or being
    deleted, and of virtual nodes. A workload that tolerates them does harm.
    """
    domain, _, _ = taint.key.rpartition("/")
    text = f"{taint.key}={taint.value}".lower()
    return (
        _is_in(domain, _PROTECTIVE_DOMAINS)
        or taint.key in _PROTECTIVE_KEYS
        or any(word in text for word in _PROTECTIVE_WORDS)
    )


def is_control_plane(node: Node) -> bool:
    """Return whether a node belongs to the control plane."""
    keys = {*node.labels, *(taint.key for taint in node.spec.taints)}
    return any(key in keys for key in _CONTROL_PLANE)


def passing_taints(taints: Iterable[Taint]) -> Iterator[Taint]:
    """Yield the taints of a node's current state: a new node does not have them."""
    for taint in taints:
        domain, _, _ = taint.key.rpartition("/")
        if taint.key in _PASSING_KEYS or _is_in(domain, _PASSING_DOMAINS):
            yield taint


def _is_in(domain: str, domains: Iterable[str]) -> bool:
    return any(domain == each or domain.endswith(f".{each}") for each in domains)


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(".", "")
