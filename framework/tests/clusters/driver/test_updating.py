"""Updates keep the fields that this version does not model."""

import copy
from typing import Any

import msgspec
import pytest

from quaymaster.cluster import ConflictError
from quaymaster.objects import (
    ObjectMeta,
    PersistentVolumeClaim,
    from_wire,
    to_wire,
)
from tests.kit.internals.outbound import updated_tree

CLAIM: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {
        "name": "data",
        "namespace": "team",
        "uid": "uid-1",
        "resourceVersion": "7",
        "annotations": {"volume.kubernetes.io/selected-node": "old", "mine": "x"},
        "managedFields": [{"manager": "kubectl"}],
    },
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "dataSourceRef": {"kind": "VolumeSnapshot", "name": "from"},
        "storageClassName": "fast",
    },
    "status": {"phase": "Pending", "unknownToScheduling": [1, 2]},
}


def partial_claim() -> PersistentVolumeClaim:
    return from_wire(CLAIM, PersistentVolumeClaim)


def annotated(**annotations: str) -> PersistentVolumeClaim:
    claim = partial_claim()
    metadata = msgspec.structs.replace(claim.metadata, annotations=annotations)
    return msgspec.structs.replace(claim, metadata=metadata)


def test_unchanged_fields_stay_as_on_the_server() -> None:
    whole = copy.deepcopy(CLAIM)
    updated_tree(whole, partial_claim())
    assert whole == CLAIM


def test_only_changed_fields_differ() -> None:
    whole = copy.deepcopy(CLAIM)
    updated_tree(whole, annotated(mine="x", selected="new"))
    expected = copy.deepcopy(CLAIM)
    expected["metadata"]["annotations"] = {"mine": "x", "selected": "new"}
    assert whole == expected


def test_bound_claim_keeps_fields_that_scheduling_does_not_read() -> None:
    whole, claim = copy.deepcopy(CLAIM), partial_claim()
    spec = msgspec.structs.replace(claim.spec, volume_name="pv-1")
    updated_tree(whole, msgspec.structs.replace(claim, spec=spec))
    assert whole["spec"] == CLAIM["spec"] | {"volumeName": "pv-1"}
    assert whole["status"] == CLAIM["status"]


@pytest.mark.parametrize("field", ["uid", "resourceVersion"])
def test_object_that_was_changed_meanwhile_is_a_conflict(field: str) -> None:
    whole = copy.deepcopy(CLAIM)
    whole["metadata"][field] = "other"
    with pytest.raises(ConflictError, match="was changed since it was read"):
        updated_tree(whole, partial_claim())


def test_created_object_names_its_type_and_no_empty_fields() -> None:
    claim = PersistentVolumeClaim(metadata=ObjectMeta(name="data", namespace="team"))
    tree = to_wire(claim)
    assert (tree["apiVersion"], tree["kind"]) == ("v1", "PersistentVolumeClaim")
    assert tree["metadata"] == {"name": "data", "namespace": "team"}
    assert tree.get("status", {}) == {}
