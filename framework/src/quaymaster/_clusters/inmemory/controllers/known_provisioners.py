"""The provisioners that clusters commonly use, and where their volumes can be used.

Two facts about a provisioner decide where kube-scheduler places pods with its volumes:
the kind of volume source that it writes, and the nodes that can reach such a volume. No
API object states them unless the provisioner is a CSI driver with CSINodes, so they are
listed here with the place of documentation.
"""

import enum
from fnmatch import fnmatchcase
from typing import Final

import msgspec

__all__ = [
    "HOSTNAME",
    "KNOWN_PROVISIONERS",
    "ZONE",
    "KnownProvisioner",
    "Reach",
    "VolumeSource",
    "known_provisioner",
]

HOSTNAME: Final = "kubernetes.io/hostname"
REGION: Final = "topology.kubernetes.io/region"
ZONE: Final = "topology.kubernetes.io/zone"


class Reach(enum.Enum):
    """The nodes that can reach a provisioned volume."""

    NODE = HOSTNAME
    """The node on which the volume is."""

    ZONE = ZONE
    """The nodes in the zone of the volume."""

    REGION = REGION
    """The nodes in the region of the volume."""

    EVERYWHERE = ""
    """All nodes: the provisioner writes no node affinity."""


class VolumeSource(enum.Enum):
    """The kinds of volume sources that provisioners write."""

    CSI = "csi"
    FLEX_VOLUME = "flex_volume"
    HOST_PATH = "host_path"
    LOCAL = "local"
    NFS = "nfs"


class KnownProvisioner(msgspec.Struct, frozen=True):
    """One provisioner.

    Attributes:
        name: The name in storage classes; ``*`` matches any text.
        source: The kind of source that its volumes have.
        reach: The nodes that can reach a volume.
        documentation: Where its volumes are documented.
        topology_key: The label that its own driver sets on nodes, or empty.
        is_attached: Whether its CSIDriver object says that volumes are attached to a
            node before they are mounted.
        needs_node: Whether it provisions only for a selected node, so never for classes
            that bind at once.
    """

    name: str
    source: VolumeSource
    reach: Reach
    documentation: str
    topology_key: str = ""
    needs_node: bool = False
    is_attached: bool = True


def known_provisioner(name: str) -> KnownProvisioner | None:
    """Return the facts about a provisioner, or None if it is not listed."""
    exact = _BY_NAME.get(name)
    if exact is not None:
        return exact
    return next((p for p in _PATTERNS if fnmatchcase(name, p.name)), None)


def _github(repository: str) -> str:
    return f"https://github.com/{repository}"


_K = KnownProvisioner
_S = VolumeSource
_R = Reach

KNOWN_PROVISIONERS: Final = (
    # Local disks and directories.
    _K(
        "rancher.io/local-path",
        _S.HOST_PATH,
        _R.NODE,
        _github("rancher/local-path-provisioner"),
        needs_node=True,
    ),
    _K(
        "openebs.io/local",
        _S.LOCAL,
        _R.NODE,
        _github("openebs/dynamic-localpv-provisioner"),
        needs_node=True,
    ),
    _K(
        "local.csi.openebs.io",
        _S.CSI,
        _R.NODE,
        _github("openebs/lvm-localpv"),
        "openebs.io/nodename",
        is_attached=False,
    ),
    _K(
        "zfs.csi.openebs.io",
        _S.CSI,
        _R.NODE,
        _github("openebs/zfs-localpv"),
        "openebs.io/nodename",
        is_attached=False,
    ),
    _K(
        "topolvm.io",
        _S.CSI,
        _R.NODE,
        _github("topolvm/topolvm"),
        "topology.topolvm.io/node",
        is_attached=False,
    ),
    _K(
        "topolvm.cybozu.com",
        _S.CSI,
        _R.NODE,
        _github("topolvm/topolvm"),
        "topology.topolvm.cybozu.com/node",
        is_attached=False,
    ),
    _K(
        "hostpath.csi.k8s.io",
        _S.CSI,
        _R.NODE,
        _github("kubernetes-csi/csi-driver-host-path"),
        "topology.hostpath.csi/node",
    ),
    _K(
        "kubevirt.io.hostpath-provisioner",
        _S.CSI,
        _R.NODE,
        _github("kubevirt/hostpath-provisioner"),
        "topology.hostpath.csi/node",
        is_attached=False,
    ),
    _K(
        "kubevirt.io/hostpath-provisioner",
        _S.HOST_PATH,
        _R.NODE,
        _github("kubevirt/hostpath-provisioner"),
    ),
    _K(
        "microk8s.io/hostpath",
        _S.HOST_PATH,
        _R.NODE,
        "https://microk8s.io/docs/addon-hostpath-storage",
    ),
    # These write a hostPath without node affinity, although the data is on one node:
    # they are made for clusters of one node.
    _K(
        "k8s.io/minikube-hostpath",
        _S.HOST_PATH,
        _R.EVERYWHERE,
        _github("kubernetes/minikube"),
    ),
    _K(
        "docker.io/hostpath",
        _S.HOST_PATH,
        _R.EVERYWHERE,
        "https://docs.docker.com/desktop/use-desktop/kubernetes/",
    ),
    _K(
        "kubernetes.io/host-path",
        _S.HOST_PATH,
        _R.EVERYWHERE,
        _github("kubernetes/kubernetes"),
    ),
    # Disks of clouds.
    _K(
        "ebs.csi.aws.com",
        _S.CSI,
        _R.ZONE,
        _github("kubernetes-sigs/aws-ebs-csi-driver"),
        "topology.ebs.csi.aws.com/zone",
    ),
    _K(
        "ebs.csi.eks.amazonaws.com",
        _S.CSI,
        _R.ZONE,
        "https://docs.aws.amazon.com/eks/latest/userguide/create-storage-class.html",
        "eks.amazonaws.com/zone",
    ),
    _K(
        "pd.csi.storage.gke.io",
        _S.CSI,
        _R.ZONE,
        _github("kubernetes-sigs/gcp-compute-persistent-disk-csi-driver"),
        "topology.gke.io/zone",
    ),
    _K(
        "disk.csi.azure.com",
        _S.CSI,
        _R.ZONE,
        _github("kubernetes-sigs/azuredisk-csi-driver"),
        "topology.disk.csi.azure.com/zone",
    ),
    _K(
        "cinder.csi.openstack.org",
        _S.CSI,
        _R.ZONE,
        _github("kubernetes/cloud-provider-openstack"),
        "topology.cinder.csi.openstack.org/zone",
    ),
    _K(
        "csi.vsphere.vmware.com",
        _S.CSI,
        _R.ZONE,
        _github("kubernetes-sigs/vsphere-csi-driver"),
    ),
    _K(
        "diskplugin.csi.alibabacloud.com",
        _S.CSI,
        _R.ZONE,
        _github("kubernetes-sigs/alibaba-cloud-csi-driver"),
        "topology.diskplugin.csi.alibabacloud.com/zone",
    ),
    _K(
        "blockvolume.csi.oraclecloud.com",
        _S.CSI,
        _R.ZONE,
        _github("oracle/oci-cloud-controller-manager"),
    ),
    _K(
        "csi.scaleway.com",
        _S.CSI,
        _R.ZONE,
        _github("scaleway/scaleway-csi"),
        "topology.csi.scaleway.com/zone",
    ),
    _K(
        "csi.hetzner.cloud",
        _S.CSI,
        _R.REGION,
        _github("hetznercloud/csi-driver"),
        "csi.hetzner.cloud/location",
    ),
    _K(
        "dobs.csi.digitalocean.com",
        _S.CSI,
        _R.REGION,
        _github("digitalocean/csi-digitalocean"),
        "region",
    ),
    _K(
        "linodebs.csi.linode.com",
        _S.CSI,
        _R.REGION,
        _github("linode/linode-blockstorage-csi-driver"),
        "topology.linode.com/region",
    ),
    # Network file systems and replicated storage.
    _K(
        "cluster.local/*nfs-subdir-external-provisioner",
        _S.NFS,
        _R.EVERYWHERE,
        _github("kubernetes-sigs/nfs-subdir-external-provisioner"),
    ),
    _K(
        "k8s-sigs.io/nfs-subdir-external-provisioner",
        _S.NFS,
        _R.EVERYWHERE,
        _github("kubernetes-sigs/nfs-subdir-external-provisioner"),
    ),
    _K(
        "cluster.local/*nfs-server-provisioner",
        _S.NFS,
        _R.EVERYWHERE,
        _github("kubernetes-sigs/nfs-ganesha-server-and-external-provisioner"),
    ),
    _K(
        "nfs.csi.k8s.io",
        _S.CSI,
        _R.EVERYWHERE,
        _github("kubernetes-csi/csi-driver-nfs"),
        is_attached=False,
    ),
    _K(
        "smb.csi.k8s.io",
        _S.CSI,
        _R.EVERYWHERE,
        _github("kubernetes-csi/csi-driver-smb"),
        is_attached=False,
    ),
    _K(
        "efs.csi.aws.com",
        _S.CSI,
        _R.EVERYWHERE,
        _github("kubernetes-sigs/aws-efs-csi-driver"),
        is_attached=False,
    ),
    _K(
        "file.csi.azure.com",
        _S.CSI,
        _R.EVERYWHERE,
        _github("kubernetes-sigs/azurefile-csi-driver"),
        is_attached=False,
    ),
    _K(
        "filestore.csi.storage.gke.io",
        _S.CSI,
        _R.EVERYWHERE,
        _github("kubernetes-sigs/gcp-filestore-csi-driver"),
    ),
    _K(
        "*cephfs.csi.ceph.com",
        _S.CSI,
        _R.EVERYWHERE,
        _github("ceph/ceph-csi"),
        is_attached=False,
    ),
    _K(
        "*rbd.csi.ceph.com",
        _S.CSI,
        _R.EVERYWHERE,
        _github("ceph/ceph-csi"),
    ),
    _K(
        "fss.csi.oraclecloud.com",
        _S.CSI,
        _R.EVERYWHERE,
        _github("oracle/oci-cloud-controller-manager"),
        is_attached=False,
    ),
    _K(
        "pxd.portworx.com",
        _S.CSI,
        _R.EVERYWHERE,
        _github("libopenstorage/operator"),
        is_attached=False,
    ),
    _K(
        "driver.longhorn.io",
        _S.CSI,
        _R.EVERYWHERE,
        _github("longhorn/longhorn"),
    ),
)
"""About thirty provisioners; a CSINode of the cluster overrides its driver's entry."""

_BY_NAME: Final = {p.name: p for p in KNOWN_PROVISIONERS if "*" not in p.name}
_PATTERNS: Final = tuple(p for p in KNOWN_PROVISIONERS if "*" in p.name)
