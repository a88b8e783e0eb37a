"""Checks nodes and CSINodes.

Mirrors ``ValidateNode`` (Kubernetes v1.36, ``pkg/apis/core/validation/validation.go``)
and ``ValidateCSINode`` (``pkg/apis/storage/validation``). Paths are the server's, which
finds taints in the metadata.
"""

from itertools import pairwise
from typing import Final

import msgspec

from quaymaster._api.objects import CSINode, CSINodeDriver, Node
from quaymaster._api.objects.addresses import network_of, network_problem
from quaymaster._api.objects.part import Part
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.syntax import (
    CSI_DRIVER_NAME,
    FEATURE_NAME,
    LABEL_KEY,
    LABEL_VALUE,
)
from quaymaster._clusters.inmemory.admission.already_admitted import is_already_admitted
from quaymaster._clusters.inmemory.admission.resource_checks import check_amount
from quaymaster._clusters.inmemory.admission.toleration_checks import TAINT_EFFECTS
from quaymaster._clusters.inmemory.simulated_devices import (
    DEVICES_ANNOTATION,
    read_devices,
)

__all__ = ["check_csi_node", "check_node"]

_MAX_NODE_ID: Final = 256
_AVOID_ANNOTATION: Final = "scheduler.alpha.kubernetes.io/preferAvoidPods"


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
    # Two taints may have the same key with different effects, so the pair is unique.
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
    swap = node.status.node_info.swap
    if swap is not None and swap.capacity is not None:
        # As upstream, the path is in the metadata.
        report.at_least(swap.capacity, "metadata.nodeSwapStatus.capacity", 1)
    _check_features(node.status.declared_features, report)
    networks = node.spec.pod_cidrs or (node.spec.pod_cidr,)
    # Only at creation: a cluster that was read may have networks that met older rules.
    if networks != ("",) and not is_already_admitted(node):
        _check_networks(networks, report)
    avoided = node.metadata.annotations.get(_AVOID_ANNOTATION)
    # The annotation is deprecated and no plugin reads it, but the server still checks
    # it.
    if avoided is not None:
        _check_avoided(avoided, report)


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
        # The list must be sorted, which also excludes repetitions.
        if name >= following:
            expected = f"a feature that sorts after {name}"
            report.expect(False, f"{path}[{index}]", expected, following)


def _check_networks(texts: tuple[str, ...], report: Report) -> None:
    """Check the networks of a node's pods: at most one of IPv4 and one of IPv6."""
    path = "spec.podCIDRs"
    for index, text in enumerate(texts):
        problem = network_problem(text)
        if problem:
            report.add(f"{path}[{index}]", problem)
    networks = [network for text in texts if (network := network_of(text)) is not None]
    versions = [network.version for network in networks]
    if len(set(versions)) != len(versions) or len(texts) > 2:
        expected = "one network of IPv4 and one of IPv6 at most"
        report.expect(False, path, expected, ", ".join(texts))


def _check_avoided(text: str, report: Report) -> None:
    """Check which controllers' pods a node prefers to avoid."""
    path = "metadata.annotations"
    try:
        tree = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        report.add(f"{path}.AvoidPods", f"expected JSON: {error}")
        return
    where = f"{path}.{_AVOID_ANNOTATION}"
    for index, entry in enumerate(Part(tree, path, report).items("preferAvoidPods")):
        part = Part(entry, f"{where}[{index}]", report).part("podSignature")
        controller = part.part("podController") if part else None
        place = f"{where}[{index}].PodSignature"
        if controller is None:
            report.add(place, "expected a controller, got none")
        elif not controller.is_true("controller"):
            place = f"{place}.PodController.Controller"
            report.add(place, "expected true")


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
