"""Labels of nodes by what they describe: the zone, the group, the machine, the node."""

import re
from typing import Final

__all__ = [
    "ARCHITECTURES",
    "GROUP_LABELS",
    "HOSTNAME",
    "INSTANCE_TYPES",
    "REGIONS",
    "SYSTEMS",
    "TWINS",
    "ZONE_LABELS",
    "describes_machine",
    "describes_place",
    "is_identity",
    "is_in",
    "is_interrupted",
    "is_lifecycle",
    "names_devices",
    "plain_name",
    "words_of",
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
"""Labels that name the zone of a node."""

REGIONS: Final = (
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/region",
)

GROUP_LABELS: Final = (
    "karpenter.sh/nodepool",
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "doks.digitalocean.com/node-pool",
    "lke.linode.com/pool-id",
    "k8s.scaleway.com/pool-name",
    "nodepool",
    "worker.gardener.cloud/pool",
    "cluster.x-k8s.io/deployment-name",
    "kops.k8s.io/instancegroup",
    "oke.oraclecloud.com/pool.name",
)
"""Labels that name the group of a node, the most specific first."""

ARCHITECTURES: Final = ("kubernetes.io/arch", "beta.kubernetes.io/arch")
SYSTEMS: Final = ("kubernetes.io/os", "beta.kubernetes.io/os")
INSTANCE_TYPES: Final = (
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
)
TWINS: Final = (ZONE_LABELS, REGIONS, ARCHITECTURES, SYSTEMS, INSTANCE_TYPES)
"""Labels with the same meaning: a node has one value for all labels of a line."""

_MACHINE_KEYS: Final = frozenset(
    {
        *ARCHITECTURES,
        *SYSTEMS,
        *INSTANCE_TYPES,
        "node.kubernetes.io/windows-build",
    }
)
_MACHINE_DOMAINS: Final = (
    "feature.node.kubernetes.io",
    "nvidia.com",
    "amd.com",
    "intel.com",
    "habana.ai",
    "xilinx.com",
    "cambricon.com",
    "furiosa.ai",
    "gpu.nvidia.com",
    "kubevirt.io",
)
_MACHINE_WORDS: Final = frozenset(
    {
        *("accelerator", "cpu", "cpuid", "gpu", "instance", "kernel", "machine"),
        *("memory", "mig", "neuron", "nvme", "sku", "tpu", "fpga", "npu", "hpu"),
        *("rdma", "sriov", "infiniband", "roce", "efa", "dpdk", "numa", "hugepages"),
        *("kvm", "sgx", "sev", "tdx"),
    }
)
_IDENTITIES: Final = frozenset(
    {
        *("host", "hostname", "instanceid", "machineid", "node", "nodeid", "nodename"),
        *("providerid", "serialnumber", "systemuuid", "nodeuuid", "nodeuid"),
    }
)
_LIFECYCLE_NAMES: Final = frozenset(
    {
        *("capacitytype", "gkeprovisioning", "gkespot", "gkepreemptible", "lifecycle"),
        *("scalesetpriority", "spot", "preemptible", "nodelifecycle", "provisioning"),
    }
)
_PLACE_WORDS: Final = frozenset(
    {"chassis", "datacenter", "host", "rack", "region", "room", "row", "zone"}
)
_PLACE_NAMES: Final = frozenset(
    {
        *("az", "availabilityzone", "dc", "datacentre", "failuredomain"),
        *("faultdomain", "updatedomain", "upgradedomain"),
    }
)
_INTERRUPTED_WORDS: Final = frozenset(
    {"spot", "preemptible", "preemptable", "interruptible", "revocable"}
)
_DEVICE_WORDS: Final = frozenset(
    {
        *("accelerator", "fpga", "gpu", "hpu", "inferentia", "neuron", "npu", "tpu"),
        *("mig", "trainium", "vgpu", "gpus"),
    }
)
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def is_in(domain: str, domains: tuple[str, ...]) -> bool:
    """Return whether a domain is one of others, or below one."""
    return any(domain == each or domain.endswith(f".{each}") for each in domains)


def plain_name(key: str) -> str:
    """Return the name of a label without its domain, in lower case, only letters."""
    name = key.rpartition("/")[2]
    return name.lower().replace("-", "").replace("_", "").replace(".", "")


def words_of(key: str) -> frozenset[str]:
    """Return the words in the name of a label: ``gpuModel`` has two."""
    name = key.rpartition("/")[2]
    return frozenset(word.lower() for word in _WORD.findall(name))


def is_identity(key: str) -> bool:
    """Return whether each node has its own value of a label."""
    return plain_name(key) in _IDENTITIES


def is_lifecycle(key: str) -> bool:
    """Return whether a label names how a node is paid for: spot or on demand."""
    return plain_name(key) in _LIFECYCLE_NAMES


def is_interrupted(key: str, value: str = "") -> bool:
    """Return whether a label or taint marks nodes that a cloud may take at any time."""
    return bool((words_of(key) | words_of(value)) & _INTERRUPTED_WORDS)


def names_devices(key: str, value: str = "") -> bool:
    """Return whether a label or taint marks nodes with devices, such as GPUs."""
    return bool((words_of(key) | words_of(value)) & _DEVICE_WORDS)


def describes_place(key: str) -> bool:
    """Return whether a label names where a node stands, other than its name."""
    domain = key.rpartition("/")[0]
    is_topology = domain.split(".")[0] in ("topology", "failure-domain")
    return not is_identity(key) and (
        is_topology
        or plain_name(key) in _PLACE_NAMES
        or bool(words_of(key) & _PLACE_WORDS - {"host"})
    )


def describes_machine(key: str) -> bool:
    """Return whether a label depends on the machine: its type, processor, devices."""
    if key in GROUP_LABELS or is_identity(key) or is_lifecycle(key):
        return False
    domain = key.rpartition("/")[0]
    return (
        key in _MACHINE_KEYS
        or is_in(domain, _MACHINE_DOMAINS)
        or bool(words_of(key) & _MACHINE_WORDS)
    )
