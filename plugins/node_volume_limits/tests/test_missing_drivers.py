"""Required drivers of nodes, with the feature gate VolumeLimitScaling.

The cases follow upstream's sources; no recorded case covers this. The harness calls
scalar hook and twin, and compares them.
"""

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, Status
from quaymaster.config import Kubernetes
from quaymaster.objects import CSIDriver, CSIDriverSpec
from quaymaster.testing import (
    PluginHarness,
    make_csi_node,
    make_metadata,
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
    make_storage_class,
)
from quaymaster_node_volume_limits import NodeVolumeLimits

DRIVER, OTHER = "csi.example.com", "other.example.com"
NEW = Kubernetes("1.37")
NODES = [make_node(name=name) for name in ("bare", "empty", "listed")]
CSI_NODES = [
    make_csi_node(name="empty", limits={}),
    make_csi_node(name="listed", limits={DRIVER: None}),
]


def missing(driver: str) -> Status:
    return Status.unschedulable(f"{driver} CSI driver is not installed on the node")


def driver(name: str = DRIVER, *, must_be_there: bool | None = True) -> CSIDriver:
    return CSIDriver(
        metadata=make_metadata(CSIDriver, name=name),
        spec=CSIDriverSpec(prevent_pod_scheduling_if_missing=must_be_there),
    )


def bound(name: str = "claim", *, by: str = DRIVER) -> list[ApiObject]:
    claim = make_persistent_volume_claim(name=name, volume=name)
    volume = make_persistent_volume(name=name, claim=claim)
    assert volume.spec.csi is not None
    spec = replace(volume.spec, csi=replace(volume.spec.csi, driver=by))
    return [claim, replace(volume, spec=spec)]


def rejected(
    *objects: ApiObject, claims: tuple[str, ...] = ("claim",), version: Kubernetes = NEW
) -> dict[str, Status]:
    harness = PluginHarness(
        NodeVolumeLimits,
        nodes=NODES,
        objects=[*CSI_NODES, *objects],
        kubernetes=version,
    )
    return dict(harness.filter(make_pod(claims=claims)))


def test_nodes_that_do_not_list_the_driver_are_rejected() -> None:
    expected = {"bare": missing(DRIVER), "empty": missing(DRIVER)}
    assert rejected(driver(), *bound()) == expected


@pytest.mark.parametrize(
    "version",
    [Kubernetes("1.36"), Kubernetes("1.37", {"VolumeLimitScaling": False})],
    ids=str,
)
def test_nobody_asks_while_the_gate_is_off(version: Kubernetes) -> None:
    assert rejected(driver(), *bound(), version=version) == {}


@pytest.mark.parametrize("must_be_there", [None, False])
def test_drivers_that_do_not_ask_for_it_may_be_missing(
    must_be_there: bool | None,
) -> None:
    assert rejected(driver(must_be_there=must_be_there), *bound()) == {}


def test_unknown_drivers_may_be_missing() -> None:
    assert rejected(*bound()) == {}


def test_claims_without_a_volume_are_for_the_driver_of_their_class() -> None:
    objects = [
        driver(),
        make_storage_class(provisioner=DRIVER),
        make_persistent_volume_claim(),
    ]
    expected = {"bare": missing(DRIVER), "empty": missing(DRIVER)}
    assert rejected(*objects) == expected


def test_of_several_missing_drivers_the_first_by_name_is_told() -> None:
    objects = [driver(), driver(OTHER), *bound("a"), *bound("b", by=OTHER)]
    found = rejected(*objects, claims=("a", "b"))
    assert found == {
        "bare": missing(DRIVER),
        "empty": missing(DRIVER),
        "listed": missing(OTHER),
    }


def test_the_missing_driver_is_told_before_the_limit() -> None:
    full = make_csi_node(name="bare", limits={DRIVER: 0})
    objects = [full, driver(OTHER), *bound("a"), *bound("b", by=OTHER)]
    found = rejected(*objects, claims=("a", "b"))
    assert found["bare"] == missing(OTHER)
