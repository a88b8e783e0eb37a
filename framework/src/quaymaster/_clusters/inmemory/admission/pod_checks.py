"""Checks the spec of a pod, as far as it matters to scheduling.

Mirrors ``ValidatePodSpec`` and what it calls (Kubernetes v1.36,
``pkg/apis/core/validation/validation.go``); ``docs/reference/admission.md`` lists what
is left out. Paths are the server's.
"""

from collections.abc import Mapping
from typing import Final

from quaymaster._api.objects import (
    PodResourceClaim,
    PodSchedulingGate,
    PodSpec,
)
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.syntax import (
    DNS_LABEL,
    LABEL_KEY,
    SUBDOMAIN,
)
from quaymaster._clusters.inmemory.admission.container_checks import (
    check_containers,
    check_images,
)
from quaymaster._clusters.inmemory.admission.metadata_checks import check_labels
from quaymaster._clusters.inmemory.admission.placement_checks import (
    check_affinity,
    check_narrowed_selectors,
    check_spreading,
)
from quaymaster._clusters.inmemory.admission.pod_groups import check_group_name
from quaymaster._clusters.inmemory.admission.resource_checks import (
    check_overhead,
    check_pod_resources,
)
from quaymaster._clusters.inmemory.admission.toleration_checks import check_tolerations
from quaymaster._clusters.inmemory.admission.volume_checks import check_volumes

__all__ = [
    "check_pod_spec",
    "check_template_spec",
]

_RESTART_POLICIES: Final = ("Always", "OnFailure", "Never")
_PREEMPTION_POLICIES: Final = ("PreemptLowerPriority", "Never")
_MAX_SECONDS: Final = 2**31 - 1


def check_pod_spec(spec: PodSpec, report: Report, *, allows_comparisons: bool) -> None:
    """Check the spec of a pod whose defaults are filled in.

    Args:
        spec: The spec.
        report: Collects the problems.
        allows_comparisons: Whether tolerations may compare numbers.
    """
    _check_spec(spec, report, allows_comparisons)
    check_images(spec, report)


def check_template_spec(
    spec: PodSpec, report: Report, *, allows_comparisons: bool
) -> None:
    """Check the spec of a template whose defaults are filled in.

    Args:
        spec: The spec.
        report: Collects the problems.
        allows_comparisons: Whether tolerations may compare numbers.
    """
    _check_spec(spec, report, allows_comparisons)
    constraints = spec.topology_spread_constraints
    # Templates have no labels to merge, so conflicts can only be those that the user
    # wrote; a pod is checked after the merge (`PodAdmission`).
    check_narrowed_selectors(spec.affinity, constraints, report)


def _check_spec(spec: PodSpec, report: Report, allows_comparisons: bool) -> None:
    check_volumes(spec.volumes, "volumes", report)
    _check_claims(spec.resource_claims, report)
    check_containers(spec, report)
    check_pod_resources(spec, "resources", report)
    _check_host(spec, report)
    _check_policies(spec, report)
    _check_names(spec, report)
    check_labels(spec.node_selector, "nodeSelector", report)
    if spec.affinity is not None:
        check_affinity(spec.affinity, "affinity", report)
    _check_gates(spec.scheduling_gates, report)
    constraints = spec.topology_spread_constraints
    check_spreading(constraints, "topologySpreadConstraints", report)
    check_tolerations(spec.tolerations, "tolerations", report, allows_comparisons)
    check_overhead(spec.overhead, "overhead", report)
    if spec.scheduling_group is not None:
        check_group_name(spec.scheduling_group, "schedulingGroup", report)


def _check_claims(claims: tuple[PodResourceClaim, ...], report: Report) -> None:
    names = []
    for index, claim in enumerate(claims):
        path = f"resourceClaims[{index}]"
        report.named(claim.name, DNS_LABEL, f"{path}.name")
        if claim.name:
            names.append((f"{path}.name", claim.name))
        sources = {
            "resourceClaimName": claim.resource_claim_name,
            "resourceClaimTemplateName": claim.resource_claim_template_name,
        }
        given = {field: name for field, name in sources.items() if name is not None}
        if len(given) != 1:
            got = "both" if given else "none"
            message = f"expected one of {' and '.join(sources)}, got {got}"
            report.add(path, message)
        _check_forms(given, f"{path}.", report)
    report.unique(names, "name")


def _check_forms(names: Mapping[str, str], prefix: str, report: Report) -> None:
    for field, name in names.items():
        report.named(name, SUBDOMAIN, f"{prefix}{field}")


def _check_host(spec: PodSpec, report: Report) -> None:
    """Check ports and user namespaces of a pod that uses its host's network."""
    if not spec.host_network:
        return
    if spec.host_users is False:
        report.add("hostNetwork", "expected false, since hostUsers is")
    for index, container in enumerate(spec.containers):
        for number, port in enumerate(container.ports):
            # In a template, the node's port may be left for the pod to fill in.
            if port.host_port and port.host_port != port.container_port:
                report.expect(
                    False,
                    f"containers[{index}].ports[{number}].hostPort",
                    f"the container's port {port.container_port} (hostNetwork is on)",
                    port.host_port,
                )


def _check_policies(spec: PodSpec, report: Report) -> None:
    report.one_of(spec.restart_policy, _RESTART_POLICIES, "restartPolicy")
    if spec.preemption_policy is not None:
        report.one_of(spec.preemption_policy, _PREEMPTION_POLICIES, "preemptionPolicy")
    deadline = spec.active_deadline_seconds
    report.in_range(deadline, "activeDeadlineSeconds", 1, _MAX_SECONDS)


def _check_names(spec: PodSpec, report: Report) -> None:
    names = {}
    if spec.priority_class_name:
        names["priorityClassName"] = spec.priority_class_name
    if spec.runtime_class_name is not None:
        names["runtimeClassName"] = spec.runtime_class_name
    _check_forms(names, "", report)


def _check_gates(gates: tuple[PodSchedulingGate, ...], report: Report) -> None:
    for index, gate in enumerate(gates):
        report.named(gate.name, LABEL_KEY, f"schedulingGates[{index}]")
    # The list is a map by name (``listMapKey=name``), so a gate cannot come twice.
    report.unique(
        ((f"schedulingGates[{i}]", gate.name) for i, gate in enumerate(gates)), "name"
    )
