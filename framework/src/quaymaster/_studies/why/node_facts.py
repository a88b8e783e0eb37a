"""Labels and taints of nodes that are facts: advice must not change or ignore them."""

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from quaymaster._api.objects import Node, Taint
from quaymaster._studies.why.label_families import (
    GROUP_LABELS,
    describes_machine,
    describes_place,
    is_identity,
    is_in,
    is_lifecycle,
    plain_name,
    words_of,
)

__all__ = [
    "can_be_ignored",
    "is_control_plane",
    "is_fact",
    "is_protective",
    "passing_taints",
]

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
    "rook.io",
    "linstor.csi.linbit.com",
    "linkerd.io",
    "istio.io",
    "kubevirt.io",
    # Autoscalers and managers of nodes.
    "cast.ai",
    "spot.io",
    "spotinst.io",
    "gardener.cloud",
    "sapcloud.io",
    "run.ai",
    "coreweave.com",
    "coreweave.cloud",
    "nebius.com",
    "crusoe.ai",
    "yandex.cloud",
    "yandex.net",
    "volcengine.com",
    "upcloud.com",
    "ovh.net",
    "microk8s.io",
    "harvesterhci.io",
    "furiosa.ai",
)
"""Domains whose labels kubelets, clouds and drivers write."""

_FACT_WORDS: Final = frozenset(
    {
        *("arch", "architecture", "bios", "capacity", "firmware", "hypervisor", "os"),
        *("osimage", "provider", "storageprofile", "storagetier", "vendor"),
    }
)
"""Words in names of labels that describe a machine, in any domain."""
_GROUP_NAMES: Final = frozenset(
    {
        *("agentpool", "instancegroup", "machinedeployment", "machinepool"),
        *("machineset", "nodegroup", "nodepool", "workerpool"),
    }
)

_IMAGE_NAMES: Final = frozenset(
    {
        *("arch", "architecture", "os", "osdistribution", "gkeosdistribution"),
        *("ossku", "windowsbuild", "osid", "osversion"),
    }
)
"""Labels that a container image is built for."""
_ISOLATING_DOMAINS: Final = (
    "node-restriction.kubernetes.io",
    "sandbox.gke.io",
    "katacontainers.io",
)
_ISOLATING_WORDS: Final = frozenset(
    {
        *("compliance", "confidential", "gvisor", "hipaa", "isolated", "isolation"),
        *("kata", "pci", "restricted", "sandbox", "secure", "tenant", "trusted"),
        *("classification", "dmz", "fedramp", "gdpr", "phi", "pii", "runtime", "sox"),
        *("secret", "security", "sensitive", "sensitivity", "env", "environment"),
        *("country", "jurisdiction", "region", "residency", "sovereign"),
    }
)
"""Words in labels that separate workloads from each other."""
_CHEAP: Final = frozenset({"spot", "preemptible", "true", "low", "low-priority"})

_CONTROL_PLANE: Final = (
    "node-role.kubernetes.io/control-plane",
    "node-role.kubernetes.io/master",
    "node-role.kubernetes.io/controlplane",
    "node-role.kubernetes.io/etcd",
    "k3s-controlplane",
)
_PROTECTIVE_DOMAINS: Final = (
    "kubernetes.io",
    "k8s.io",
    "karpenter.sh",
    "cilium.io",
    "virtual-kubelet.io",
    "medik8s.io",
    "aws-node-termination-handler",
    "components.gke.io",
    "sandbox.gke.io",
    "nidhogg.uswitch.com",
    "weave.works",
    "kured.dev",
    "istio.io",
    "linkerd.io",
    "projectcalico.org",
    "liqo.io",
    "admiralty.io",
    "openshift.io",
    "kubevirt.io",
    "metal3.io",
    "gardener.cloud",
    "sapcloud.io",
    "cattle.io",
    "k3s.io",
    "rke2.io",
    "talos.dev",
    "harvesterhci.io",
    "longhorn.io",
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
_STATE_WORDS: Final = (
    *("not-ready", "notready", "unreachable", "unschedulable", "uninitialized"),
    *("initializing", "startup", "out-of-service", "out-of-disk", "pressure"),
    *("disrupt", "terminat", "shutdown", "drain", "maintenance", "reboot", "upgrade"),
    *("unhealthy", "quarantine", "cordon", "decommission", "delete", "remove"),
    *("evict", "repair", "broken", "faulty", "unregistered", "interruption"),
    *("rebalance", "spot-itn", "preemption-notice"),
    *("updat", "inprogress", "in-progress", "remediat", "fenc", "replac", "rotat"),
    *("error", "deadlock", "fail", "degrad", "corrupt", "suspect", "problem", "lost"),
    *("offline", "outage", "retir", "deprecat", "expir", "outdated", "hibernat"),
    *("flaky", "do-not-schedule", "noschedule", "no-schedule"),
    *("suspend", "deprovision", "scale-down", "scaledown", "initializ", "bootstrap"),
)
"""Words in taints of a node's current state."""
_KIND_WORDS: Final = (
    *("virtual-kubelet", "fargate", "sandbox", "serverless"),
    *("control-plane", "controlplane", "etcd"),
)
"""Words in taints of nodes on which ordinary pods do not run."""
_PASSING_KEYS: Final = frozenset(
    {"ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler"}
)
_PASSING_DOMAINS: Final = (
    "node.kubernetes.io",
    "node.cloudprovider.kubernetes.io",
    "karpenter.sh",
    "node.cluster.x-k8s.io",
)


def is_fact(key: str) -> bool:
    """Return whether a label describes what a node is, so that advice must not set it.

    Kubelets, cloud controllers and drivers write such labels: arch, zone, instance
    type, GPU model, node group and so on.

    Args:
        key: The label's key.
    """
    domain = key.rpartition("/")[0]
    return (
        is_in(domain, _DOMAINS)
        or key in GROUP_LABELS
        # In any domain: clouds and tools have their own prefixes for the same names.
        or plain_name(key) in _GROUP_NAMES
        or is_identity(key)
        or is_lifecycle(key)
        or describes_place(key)
        or describes_machine(key)
        or bool(words_of(key) & _FACT_WORDS)
    )


def can_be_ignored(key: str, values: Collection[str] = ()) -> bool:
    """Return whether a pod may run on nodes that lack a label it selects.

    A container image is built for an architecture and an operating system, and a
    program may need a device or a kind of machine. Other labels isolate workloads, or
    keep them off nodes that a cloud takes away at any time.

    Args:
        key: The label's key.
        values: The selected values; none for all values.
    """
    domain = key.rpartition("/")[0]
    if describes_machine(key) or plain_name(key) in _IMAGE_NAMES:
        return False
    if is_in(domain, _ISOLATING_DOMAINS) or words_of(key) & _ISOLATING_WORDS:
        return False
    # Only the wish to run on cheap nodes may be dropped; the wish for lasting ones has
    # a reason.
    if is_lifecycle(key):
        return bool(values) and all(each.lower() in _CHEAP for each in values)
    return True


def is_protective(taint: Taint) -> bool:
    """Return whether a taint protects a node, or pods from it.

    Examples are the taints of control planes, of nodes that are not ready or being
    deleted, of virtual nodes, and of nodes that isolate workloads from others. A
    workload that tolerates them does harm.
    """
    domain, _, _ = taint.key.rpartition("/")
    text = f"{taint.key}={taint.value}".lower()
    return (
        is_in(domain, _PROTECTIVE_DOMAINS)
        or taint.key in _PROTECTIVE_KEYS
        or plain_name(taint.key) in _IMAGE_NAMES
        or bool(words_of(taint.key) & _ISOLATING_WORDS)
        or any(word in text for word in (*_STATE_WORDS, *_KIND_WORDS))
    )


def is_control_plane(node: Node) -> bool:
    """Return whether a node belongs to the control plane."""
    keys = {*node.labels, *(taint.key for taint in node.spec.taints)}
    return any(key in keys for key in _CONTROL_PLANE)


def passing_taints(taints: Iterable[Taint]) -> Iterator[Taint]:
    """Yield the taints of a node's current state: a new node does not keep them."""
    for taint in taints:
        domain, _, _ = taint.key.rpartition("/")
        text = f"{taint.key}={taint.value}".lower()
        if (
            taint.key in _PASSING_KEYS
            or is_in(domain, _PASSING_DOMAINS)
            or any(word in text for word in _STATE_WORDS)
        ):
            yield taint
