"""Which volumes and claims an API server rejects, and what it fills in.

Cases follow ``TestValidateVolumes`` and ``testVolumeClaim`` of upstream (Kubernetes
v1.37, ``pkg/apis/core/validation/validation_test.go``).
"""

from typing import Any

import pytest

from quaymaster.objects import (
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    from_wire,
)
from tests.kit.admission import rejected_paths
from tests.kit.clusters import make_cluster

Tree = dict[str, Any]

V0 = "spec.volumes[0]"
SOURCES = f"{V0}.projected.sources"


def volume(**source: object) -> Tree:
    containers = [{"name": "c", "image": "i"}]
    return {"spec": {"containers": containers, "volumes": [{"name": "v", **source}]}}


def projected(*sources: Tree) -> Tree:
    return volume(projected={"sources": list(sources)})


def item(path: str, **fields: object) -> Tree:
    return {"key": "k", "path": path, **fields}


def certificate(**fields: object) -> Tree:
    full = {"signerName": "example.com/a", "keyType": "ED25519", "keyPath": "k"}
    return projected({"podCertificate": {**full, **fields}})


DISK = {"targetPortal": "1.2.3.4", "iqn": "iqn.2015-02.example.com:a", "lun": 0}

CASES: dict[str, tuple[Tree, list[str]]] = {
    "items outside the volume": (
        volume(
            secret={"secretName": "s", "items": [item("../a"), item("/a", mode=-1)]}
        ),
        [
            f"{V0}.secret.items[0].path",
            f"{V0}.secret.items[1].path",
            f"{V0}.secret.items[1].mode",
        ],
    ),
    "an item without a path": (
        volume(configMap={"name": "m", "items": [{"key": "k"}], "defaultMode": 512}),
        [f"{V0}.configMap.defaultMode", f"{V0}.configMap.items[0].path"],
    ),
    "a file of a resource without its container": (
        volume(
            downwardAPI={
                "items": [{"path": "a", "resourceFieldRef": {"resource": "limits.cpu"}}]
            }
        ),
        [f"{V0}.downwardAPI.resourceFieldRef.containerName"],
    ),
    "a file of nothing": (
        volume(downwardAPI={"items": [{"path": "..a"}]}),
        [f"{V0}.downwardAPI.path", f"{V0}.downwardAPI"],
    ),
    "two sources in one": (
        projected({"secret": {"name": "s"}, "configMap": {"name": "m"}}),
        [f"{SOURCES}[0]"],
    ),
    "one file twice": (
        projected(
            {"secret": {"name": "s", "items": [item("a")]}},
            {"configMap": {"name": "m", "items": [item("a")]}},
        ),
        [f"{V0}.projected"],
    ),
    "a token that lasts a minute": (
        projected({"serviceAccountToken": {"path": "t", "expirationSeconds": 60}}),
        [f"{SOURCES}[0].serviceAccountToken.expirationSeconds"],
    ),
    "a bundle of two names": (
        projected(
            {"clusterTrustBundle": {"name": "a", "signerName": "b.c/d", "path": "p"}}
        ),
        [f"{SOURCES}[0].clusterTrustBundle"],
    ),
    "a certificate of an odd key and signer": (
        certificate(signerName="a/b", keyType="DSA", maxExpirationSeconds=60),
        [
            f"{SOURCES}[0].podCertificate.{name}"
            for name in ("signerName", "keyType", "maxExpirationSeconds")
        ],
    ),
    "a certificate of kubernetes.io for two days": (
        certificate(signerName="x.kubernetes.io/a", maxExpirationSeconds=172_800),
        [f"{SOURCES}[0].podCertificate.maxExpirationSeconds"],
    ),
    "an unknown pull policy": (
        volume(image={"reference": "i", "pullPolicy": "Now"}),
        [f"{V0}.image.pullPolicy"],
    ),
    "CHAP without a secret": (
        volume(iscsi={**DISK, "chapAuthSession": True, "initiatorName": "a"}),
        [f"{V0}.iscsi.secretRef", f"{V0}.iscsi.initiatorname"],
    ),
    "a registry without a port": (
        volume(quobyte={"registry": "a:1,b", "volume": "v"}),
        [f"{V0}.quobyte.registry"],
    ),
    "an option of kubernetes.io": (
        volume(flexVolume={"driver": "d", "options": {"a.kubernetes.io/b": "c"}}),
        [f"{V0}.flexVolume.options[a.kubernetes.io/b]"],
    ),
}


@pytest.mark.parametrize(("tree", "paths"), CASES.values(), ids=CASES)
def test_pod_is_rejected_for_the_volumes_that_an_api_server_names(
    tree: Tree, paths: list[str]
) -> None:
    assert rejected_paths("Pod", tree) == paths


def claim(**fields: object) -> Tree:
    amount = {"requests": {"storage": "1Gi"}}
    modes = ["ReadWriteOnce"]
    return {"spec": {"accessModes": modes, "resources": amount, **fields}}


def source(kind: str, group: str = "", **fields: str) -> Tree:
    return {"apiGroup": group or None, "kind": kind, "name": "a", **fields}


CLAIM = source("PersistentVolumeClaim")
SNAPSHOT = source("VolumeSnapshot", "snapshot.storage.k8s.io")


def stored(**fields: object) -> PersistentVolumeClaimSpec:
    tree = {"metadata": {"name": "a"}, **claim(**fields)}
    cluster = make_cluster(controllers=False)
    return cluster.create(from_wire(tree, PersistentVolumeClaim)).spec


@pytest.mark.parametrize("field", ["dataSource", "dataSourceRef"])
def test_either_field_for_the_source_of_a_volume_fills_in_the_other(field: str) -> None:
    spec = stored(**{field: SNAPSHOT})
    assert spec.data_source is not None
    assert spec.data_source_ref is not None
    assert spec.data_source.kind == spec.data_source_ref.kind == "VolumeSnapshot"


def test_data_source_of_another_kind_is_dropped() -> None:
    spec = stored(dataSource=source("Book", "library.example.com"))
    assert (spec.data_source, spec.data_source_ref) == (None, None)


@pytest.mark.parametrize(
    ("fields", "paths"),
    [
        ({"dataSource": CLAIM, "dataSourceRef": SNAPSHOT}, ["spec"]),
        (
            {"dataSourceRef": source("Book", "^")},
            ["spec.dataSource.apiGroup", "spec.dataSourceRef.apiGroup"],
        ),
        (
            {"dataSourceRef": source("Book")},
            ["spec.dataSource", "spec.dataSourceRef"],
        ),
    ],
    ids=["two sources", "a malformed group", "no group"],
)
def test_claim_is_rejected_for_its_source(fields: Tree, paths: list[str]) -> None:
    assert rejected_paths("PersistentVolumeClaim", claim(**fields)) == paths


def driver(**fields: object) -> Tree:
    return {"spec": {"attachRequired": False, **fields}}


def token(audience: str = "a", seconds: int | None = None) -> Tree:
    return {"audience": audience, "expirationSeconds": seconds}


@pytest.mark.parametrize(
    ("fields", "paths"),
    [
        ({"fsGroupPolicy": "Sometimes"}, ["spec.fsGroupPolicy"]),
        ({"fsGroupPolicy": ""}, ["spec.fsGroupPolicy"]),
        ({"fsGroupPolicy": "File"}, []),
        (
            {"serviceAccountTokenInSecrets": False},
            ["spec.serviceAccountTokenInSecrets"],
        ),
        ({"serviceAccountTokenInSecrets": True, "tokenRequests": [token()]}, []),
        (
            {"tokenRequests": [token(), token(), token("b", 599), token("", 2**32)]},
            [
                "spec.tokenRequests[1].audience",
                "spec.tokenRequests[2].expirationSeconds",
            ],
        ),
        (
            {"nodeAllocatableUpdatePeriodSeconds": 9},
            ["spec.nodeAllocatableUpdatePeriodSeconds"],
        ),
        ({"volumeLifecycleModes": ["Brief"]}, ["spec.volumeLifecycleModes"]),
    ],
    ids=[
        "an unknown policy for groups",
        "an empty policy for groups",
        "a policy for groups",
        "a place for tokens, but no token",
        "a token in secrets",
        "one audience twice, and a short token",
        "updates every nine seconds",
        "an unknown lifecycle",
    ],
)
def test_csi_driver_is_rejected_for_its_settings(
    fields: Tree, paths: list[str]
) -> None:
    assert rejected_paths("CSIDriver", driver(**fields)) == paths


def test_metadata_of_an_ephemeral_claim_has_only_labels_and_annotations() -> None:
    metadata = {
        "labels": {"a": "b"},
        "managedFields": [{"manager": "m", "operation": "Apply"}],
        "selfLink": "/api/v1/a",
    }
    template = {"metadata": metadata, **claim()}
    inside = f"{V0}.ephemeral.volumeClaimTemplate.metadata"
    tree = volume(ephemeral={"volumeClaimTemplate": template})
    assert rejected_paths("Pod", tree) == [
        f"{inside}.managedFields",
        f"{inside}.selfLink",
    ]


@pytest.mark.parametrize("capacity", [0, -1])
def test_swap_of_a_node_is_above_0(capacity: int) -> None:
    tree = {"status": {"nodeInfo": {"swap": {"capacity": capacity}}}}
    assert rejected_paths("Node", tree) == ["metadata.nodeSwapStatus.capacity"]
    assert rejected_paths("Node", {"status": {"nodeInfo": {"swap": {}}}}) == []
