"""Finds the facts about a provisioner that clusters commonly use.

Two facts about a provisioner decide where kube-scheduler places pods with its volumes:
the kind of volume source that it writes, and the nodes that can reach such a volume. No
API object states both, so `provisioner_list` lists them with the place of
documentation. Some provisioners also read parameters of the class.
"""

from fnmatch import fnmatchcase
from typing import Final

from quaymaster._api.objects import StorageClass
from quaymaster._clusters.inmemory.controllers.provisioner_facts import (
    HOSTNAME,
    KnownProvisioner,
    Reach,
)
from quaymaster._clusters.inmemory.controllers.provisioner_list import (
    KNOWN_PROVISIONERS,
)

__all__ = ["hostname_key", "known_provisioner", "reach_of", "zones_of"]

_BY_NAME: Final = {p.name: p for p in KNOWN_PROVISIONERS if "*" not in p.name}
_PATTERNS: Final = tuple(p for p in KNOWN_PROVISIONERS if "*" in p.name)

_AZURE_SKU: Final = ("skuname", "storageaccounttype")
_LINSTOR_REMOTE: Final = "allowremotevolumeaccess"
_TWO_ZONES: Final = (
    ("replication-type", "regional-pd"),
    ("type", "hyperdisk-balanced-high-availability"),
)


def known_provisioner(name: str) -> KnownProvisioner | None:
    """Return the facts about a provisioner, or None if it is not listed."""
    exact = _BY_NAME.get(name)
    if exact is not None:
        return exact
    return next((p for p in _PATTERNS if fnmatchcase(name, p.name)), None)


def reach_of(provisioner: KnownProvisioner, storage_class: StorageClass) -> Reach:
    """Return the nodes that can reach the volumes of a class.

    Zone-redundant disks of Azure are in all zones (``controllerserver.go`` of
    azuredisk-csi-driver). LINSTOR ties a volume to its node if the class forbids
    remote access (``pkg/volume/parameter.go`` of linstor-csi).
    """
    parameters = _parameters(storage_class)
    if provisioner.name == "disk.csi.azure.com":
        skus = (parameters.get(key, "") for key in _AZURE_SKU)
        if any(sku.lower().endswith("zrs") for sku in skus):
            return Reach.EVERYWHERE
    if provisioner.name == "linstor.csi.linbit.com":
        access = parameters.get(f"linstor.csi.linbit.com/{_LINSTOR_REMOTE}")
        if parameters.get(_LINSTOR_REMOTE, access or "").lower() == "false":
            return Reach.NODE
    return provisioner.reach


def zones_of(provisioner: KnownProvisioner, storage_class: StorageClass) -> int:
    """Return in how many zones the volumes of a class are.

    Regional disks of GCP are in two (``pkg/parameters`` of
    gcp-compute-persistent-disk-csi-driver).
    """
    if provisioner.name != "pd.csi.storage.gke.io":
        return 1
    parameters = _parameters(storage_class)
    return 2 if any(parameters.get(k) == v for k, v in _TWO_ZONES) else 1


def hostname_key(provisioner: KnownProvisioner, storage_class: StorageClass) -> str:
    """Return the label by which a provisioner of directories finds a node again.

    local-path reads it from ``nodeAffinityKey`` of the class (``provisioner.go``).
    """
    if not provisioner.name.endswith("local-path-provisioner") and (
        provisioner.name != "rancher.io/local-path"
    ):
        return HOSTNAME
    return storage_class.parameters.get("nodeAffinityKey") or HOSTNAME


def _parameters(storage_class: StorageClass) -> dict[str, str]:
    """Return the parameters of a class; drivers ignore the case of their names."""
    return {key.lower(): value for key, value in storage_class.parameters.items()}
