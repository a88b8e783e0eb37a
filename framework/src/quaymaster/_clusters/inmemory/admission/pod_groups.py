"""The group that a pod is scheduled with.

Mirrors ``validateSchedulingGroup`` (Kubernetes v1.37,
``pkg/apis/core/validation/validation.go``) and ``dropDisabledSchedulingGroup``
(``pkg/api/pod/util.go``).
"""

from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import PodSchedulingGroup, PodSpec
from quaymaster._api.objects.report import Report
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.admission.field_errors import (
    forbidden,
    invalid,
    object_name,
)

__all__ = ["GROUPS_GATE", "check_group_name", "with_kept_group", "without_group"]

GROUPS_GATE: Final = "GenericWorkload"
"""The feature gate of groups."""


def without_group(spec: PodSpec) -> PodSpec:
    """Return the spec of a new pod as an API server without groups reads it."""
    if spec.scheduling_group is None:
        return spec
    return replace(spec, scheduling_group=None)


def check_group_name(group: PodSchedulingGroup, path: str, report: Report) -> None:
    """Check that a group is named."""
    name = group.pod_group_name
    where = f"{path}.podGroupName"
    if name is None:
        detail = "must specify one of: `podGroupName`"
        report.add(where, invalid(None, detail))
        return
    for reason in object_name(name):
        report.add(where, invalid(name, reason))


def with_kept_group(
    new: PodSpec, old: PodSpec, kubernetes: Kubernetes, report: Report
) -> PodSpec:
    """Return the spec of a changed pod, which stays in its group."""
    if old.scheduling_group is None and not kubernetes.enabled(GROUPS_GATE):
        return without_group(new)
    if new.scheduling_group != old.scheduling_group:
        detail = "pod updates may not change schedulingGroup"
        report.add("spec", forbidden(detail))
    return new
