"""The provisioners that clusters commonly use.

The facts are those of each provisioner's own repository: the node labels in the answer
of ``CreateVolume``, and ``attachRequired`` in its manifests.
"""

from typing import Final

from quaymaster._clusters.inmemory.controllers.provisioner_facts import (
    KnownProvisioner,
    Reach,
    VolumeSource,
)

__all__ = ["KNOWN_PROVISIONERS"]


def _github(repository: str) -> str:
    return f"https://github.com/{repository}"


def _directory(
    name: str, repository: str, *, needs_node: bool = False
) -> KnownProvisioner:
    """Return a provisioner of directories on a node, not a CSI driver."""
    return KnownProvisioner(
        name,
        VolumeSource.HOST_PATH,
        Reach.NODE,
        _github(repository),
        needs_node=needs_node,
    )


def _anywhere(name: str, documentation: str) -> KnownProvisioner:
    """Return a provisioner of directories whose volumes have no node affinity."""
    source = VolumeSource.HOST_PATH
    return KnownProvisioner(name, source, Reach.EVERYWHERE, documentation)


def _disk(
    name: str, repository: str, topology_key: str = "", reach: Reach = Reach.ZONE
) -> KnownProvisioner:
    """Return a driver of disks that are attached to nodes."""
    source = VolumeSource.CSI
    return KnownProvisioner(name, source, reach, _github(repository), topology_key)


def _local(name: str, repository: str, topology_key: str = "") -> KnownProvisioner:
    """Return a driver of storage inside a node."""
    return KnownProvisioner(
        name,
        VolumeSource.CSI,
        Reach.NODE,
        _github(repository),
        topology_key,
        is_attached=False,
    )


def _shared(name: str, repository: str) -> KnownProvisioner:
    """Return a driver of storage that all nodes mount over the network."""
    return KnownProvisioner(
        name,
        VolumeSource.CSI,
        Reach.EVERYWHERE,
        _github(repository),
        is_attached=False,
    )


def _remote(name: str, repository: str) -> KnownProvisioner:
    """Return a driver of storage that can be attached to all nodes."""
    return _disk(name, repository, reach=Reach.EVERYWHERE)


def _nfs(name: str, repository: str) -> KnownProvisioner:
    """Return a provisioner of directories on an NFS server, not a CSI driver."""
    source = VolumeSource.NFS
    return KnownProvisioner(name, source, Reach.EVERYWHERE, _github(repository))


_LOCAL_PATH: Final = "rancher/local-path-provisioner"
_HOSTPATH: Final = "kubevirt/hostpath-provisioner"
_NFS_SUBDIR: Final = "kubernetes-sigs/nfs-subdir-external-provisioner"
_GANESHA: Final = "kubernetes-sigs/nfs-ganesha-server-and-external-provisioner"
_DEMOCRATIC: Final = "democratic-csi/democratic-csi"
_ALIBABA: Final = "kubernetes-sigs/alibaba-cloud-csi-driver"
_ORACLE: Final = "oracle/oci-cloud-controller-manager"
_TENCENT: Final = "TencentCloud/kubernetes-csi-tencentcloud"
_CEPH: Final = "ceph/ceph-csi"
_ROOK: Final = "rook/rook"

_ON_NODES: Final = (
    _directory("rancher.io/local-path", _LOCAL_PATH, needs_node=True),
    _directory("cluster.local/*local-path-provisioner", _LOCAL_PATH, needs_node=True),
    KnownProvisioner(
        "openebs.io/local",
        VolumeSource.LOCAL,
        Reach.NODE,
        _github("openebs/dynamic-localpv-provisioner"),
        needs_node=True,
    ),
    _local("local.csi.openebs.io", "openebs/lvm-localpv", "openebs.io/nodename"),
    _local("zfs.csi.openebs.io", "openebs/zfs-localpv", "openebs.io/nodeid"),
    _local("topolvm.io", "topolvm/topolvm", "topology.topolvm.io/node"),
    _local("topolvm.cybozu.com", "topolvm/topolvm", "topology.topolvm.cybozu.com/node"),
    _local(
        "lvm.csi.metal-stack.io", "metal-stack/csi-driver-lvm", "topology.lvm.csi/node"
    ),
    _disk(
        "hostpath.csi.k8s.io",
        "kubernetes-csi/csi-driver-host-path",
        "topology.hostpath.csi/node",
        Reach.NODE,
    ),
    _local("kubevirt.io.hostpath-provisioner", _HOSTPATH, "topology.hostpath.csi/node"),
    _directory("kubevirt.io/hostpath-provisioner", _HOSTPATH),
    _local("localplugin.csi.alibabacloud.com", _ALIBABA),
    _local(
        "org.democratic-csi.*local*", _DEMOCRATIC, "org.democratic-csi.topology/node"
    ),
    _directory("microk8s.io/hostpath", "canonical/microk8s-core-addons"),
)
"""Local disks and directories."""

_WITHOUT_AFFINITY: Final = (
    _anywhere("k8s.io/minikube-hostpath", _github("kubernetes/minikube")),
    _anywhere(
        "docker.io/hostpath", "https://docs.docker.com/desktop/use-desktop/kubernetes/"
    ),
    _anywhere("kubernetes.io/host-path", _github("kubernetes/kubernetes")),
)
"""These write a hostPath without node affinity, although the data is on one node: they
are made for clusters of one node."""

_OF_CLOUDS: Final = (
    _disk(
        "ebs.csi.aws.com",
        "kubernetes-sigs/aws-ebs-csi-driver",
        "topology.ebs.csi.aws.com/zone",
    ),
    KnownProvisioner(
        "ebs.csi.eks.amazonaws.com",
        VolumeSource.CSI,
        Reach.ZONE,
        "https://docs.aws.amazon.com/eks/latest/userguide/create-storage-class.html",
        "eks.amazonaws.com/zone",
    ),
    _disk(
        "pd.csi.storage.gke.io",
        "kubernetes-sigs/gcp-compute-persistent-disk-csi-driver",
        "topology.gke.io/zone",
    ),
    _disk(
        "disk.csi.azure.com",
        "kubernetes-sigs/azuredisk-csi-driver",
        "topology.disk.csi.azure.com/zone",
    ),
    _disk(
        "cinder.csi.openstack.org",
        "kubernetes/cloud-provider-openstack",
        "topology.cinder.csi.openstack.org/zone",
    ),
    _disk("csi.vsphere.vmware.com", "kubernetes-sigs/vsphere-csi-driver"),
    _disk(
        "diskplugin.csi.alibabacloud.com",
        _ALIBABA,
        "topology.diskplugin.csi.alibabacloud.com/zone",
    ),
    _disk("blockvolume.csi.oraclecloud.com", _ORACLE),
    _disk(
        "com.tencent.cloud.csi.cbs", _TENCENT, "topology.com.tencent.cloud.csi.cbs/zone"
    ),
    _disk(
        "vpc.block.csi.ibm.io",
        "kubernetes-sigs/ibm-vpc-block-csi-driver",
        "failure-domain.beta.kubernetes.io/zone",
    ),
    _disk(
        "csi.scaleway.com", "scaleway/scaleway-csi", "topology.csi.scaleway.com/zone"
    ),
    _disk(
        "csi.exoscale.com",
        "exoscale/exoscale-csi-driver",
        "topology.csi.exoscale.com/zone",
    ),
    _disk("csi.proxmox.sinextra.dev", "sergelogvinov/proxmox-csi-plugin"),
    _disk("storage.csi.upcloud.com", "UpCloudLtd/upcloud-csi", "region"),
    _disk(
        "csi.hetzner.cloud",
        "hetznercloud/csi-driver",
        "csi.hetzner.cloud/location",
        Reach.REGION,
    ),
    _disk(
        "dobs.csi.digitalocean.com",
        "digitalocean/csi-digitalocean",
        "region",
        Reach.REGION,
    ),
    _disk(
        "linodebs.csi.linode.com",
        "linode/linode-blockstorage-csi-driver",
        "topology.linode.com/region",
        Reach.REGION,
    ),
    _disk("block.csi.vultr.com", "vultr/vultr-csi", "region", Reach.REGION),
    _remote("csi.civo.com", "civo/civo-csi"),
)
"""Disks of clouds and of virtual machines."""

_OVER_THE_NETWORK: Final = (
    _nfs("cluster.local/*nfs-subdir-external-provisioner", _NFS_SUBDIR),
    _nfs("cluster.local/*nfs-client-provisioner", _NFS_SUBDIR),
    _nfs("k8s-sigs.io/nfs-subdir-external-provisioner", _NFS_SUBDIR),
    _nfs("fuseim.pri/ifs", _NFS_SUBDIR),
    _nfs("cluster.local/*nfs-server-provisioner", _GANESHA),
    _shared("nfs.csi.k8s.io", "kubernetes-csi/csi-driver-nfs"),
    _shared("smb.csi.k8s.io", "kubernetes-csi/csi-driver-smb"),
    _shared("efs.csi.aws.com", "kubernetes-sigs/aws-efs-csi-driver"),
    _shared("fsx.csi.aws.com", "kubernetes-sigs/aws-fsx-csi-driver"),
    _shared("file.csi.azure.com", "kubernetes-sigs/azurefile-csi-driver"),
    _shared("blob.csi.azure.com", "kubernetes-sigs/blob-csi-driver"),
    _shared("filestore.csi.storage.gke.io", "kubernetes-sigs/gcp-filestore-csi-driver"),
    _shared("lustre.csi.storage.gke.io", "GoogleCloudPlatform/lustre-csi-driver"),
    _shared("fss.csi.oraclecloud.com", _ORACLE),
    _shared("nasplugin.csi.alibabacloud.com", _ALIBABA),
    _shared("com.tencent.cloud.csi.cfs", _TENCENT),
    _shared("cephfs.csi.ceph.com", _CEPH),
    _shared("nfs.csi.ceph.com", _CEPH),
    _remote("rbd.csi.ceph.com", _CEPH),
    _remote("*.cephfs.csi.ceph.com", _ROOK),
    _remote("*.nfs.csi.ceph.com", _ROOK),
    _remote("*.rbd.csi.ceph.com", _ROOK),
    _shared("pxd.portworx.com", "libopenstorage/operator"),
    _remote("driver.longhorn.io", "longhorn/longhorn"),
    _remote("driver.harvesterhci.io", "harvester/harvester-csi-driver"),
    _remote("linstor.csi.linbit.com", "piraeusdatastore/linstor-csi"),
    _remote("io.openebs.csi-mayastor", "openebs/mayastor"),
    _shared("cstor.csi.openebs.io", "openebs/cstor-csi"),
    _remote("csi.trident.netapp.io", "NetApp/trident"),
    _remote("org.democratic-csi.*", _DEMOCRATIC),
    _shared("csi.juicefs.com", "juicedata/juicefs-csi-driver"),
    _remote("seaweedfs-csi-driver", "seaweedfs/seaweedfs-csi-driver"),
    _shared("ru.yandex.s3.csi", "yandex-cloud/k8s-csi-s3"),
)
"""Network file systems and replicated storage."""

KNOWN_PROVISIONERS: Final = (
    *_ON_NODES,
    *_WITHOUT_AFFINITY,
    *_OF_CLOUDS,
    *_OVER_THE_NETWORK,
)
