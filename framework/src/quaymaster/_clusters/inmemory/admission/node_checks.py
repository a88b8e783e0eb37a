"""Checks nodes and CSINodes.

Mirrors ``ValidateNode`` (Kubernetes v1.36, ``pkg/apis/core/validation/validation.go``)
and ``ValidateCSINode`` (``pkg/apis/storage/validation``). Paths are the server's, which
finds taints in the metadata.
"""

from itertools import pairwise
from typing import Final

from quaymaster._api.objects import CSINode, CSINodeDriver, Node
from quaymaster._clusters.inmemory.admission.problems import Report
from quaymaster._clusters.inmemory.admission.resource_checks import check_amount
from quaymaster._clusters.inmemory.admission.syntax import (
    CSI_DRIVER_NAME,
    FEATURE_NAME,
    LABEL_KEY,
    LABEL_VALUE,
)
from quaymaster._clusters.inmemory.admission.toleration_checks import TAINT_EFFECTS
from quaymaster._clusters.inmemory.simulated_devices import (
    DEVICES_ANNOTATION,
    read_devices,
)

__all__ = ["check_csi_node", "check_node"]

_MAX_NODE_ID: Final = 256


def check_node(node: Node, report: Report) -> None:
    """Check taints (key and effect, each pair once), amounts and simple devices."""
    devices = node.metadata.annotations.get(DEVICES_ANNOTATION)
    if devices is not None:
        try:
            read_devices(devices)
        except ValueError as error:
            report.add(f"metadata.annotations[{DEVICES_ANNOTATION}]", str(error))
    taints = node.spec.taints
    for index, taint in enumerate(taints):
        path = f"metadata.taints[{index}]"
        report.formed(taint.key, LABEL_KEY, f"{path}.key")
        report.formed(taint.value, LABEL_VALUE, f"{path}.value")
        report.one_of(taint.effect, TAINT_EFFECTS, f"{path}.effect")
    report.unique(
        (
            (f"metadata.taints[{index}]", f"{taint.key}:{taint.effect}")
            for index, taint in enumerate(taints)
        ),
        "key and effect",
    )
    for field, amounts in (
        ("capacity", node.status.capacity),
        ("allocatable", node.status.allocatable),
    ):
        for name, amount in amounts.items():
            check_amount(name, amount, f"status.{field}.{name}", report)
    _check_features(node.status.declared_features, report)


def check_csi_node(csi_node: CSINode, report: Report) -> None:
    """Check that each driver has a name of its own, and a name for the node."""
    drivers = csi_node.spec.drivers
    for index, driver in enumerate(drivers):
        _check_driver(driver, f"spec.drivers[{index}]", report)
    report.unique(
        ((f"spec.drivers[{i}].name", driver.name) for i, driver in enumerate(drivers)),
        "name",
    )


def _check_features(features: tuple[str, ...], report: Report) -> None:
    path = "status.declaredFeatures"
    for index, name in enumerate(features):
        report.formed(name, FEATURE_NAME, f"{path}[{index}]")
    for index, (name, following) in enumerate(pairwise(features), 1):
        if name >= following:
            expected = f"a feature that sorts after {name}"
            report.expect(False, f"{path}[{index}]", expected, following)


def _check_driver(driver: CSINodeDriver, path: str, report: Report) -> None:
    report.named(driver.name, CSI_DRIVER_NAME, f"{path}.name")
    if not 0 < len(driver.node_id) <= _MAX_NODE_ID:
        expected = f"1 to {_MAX_NODE_ID} characters"
        report.expect(False, f"{path}.nodeID", expected, driver.node_id)
    if driver.allocatable is not None:
        report.at_least(driver.allocatable.count, f"{path}.allocatable.count")
    for key in driver.topology_keys:
        report.formed(key, LABEL_KEY, path)
    report.unique(((path, key) for key in driver.topology_keys), "topology key")
