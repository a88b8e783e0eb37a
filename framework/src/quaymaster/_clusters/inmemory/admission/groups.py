"""Fills in and checks groups of pods and workloads.

Mirrors ``pkg/registry/scheduling``, ``pkg/apis/scheduling`` and the admission plugins
Priority and PodGroupProtection (Kubernetes v1.37).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    CompositePodGroup,
    DisruptionMode,
    PodGroup,
    PodGroupSpec,
    PriorityClass,
    SingleDisruptionMode,
    Workload,
)
from quaymaster._api.objects.report import Report
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.admission.already_admitted import is_already_admitted
from quaymaster._clusters.inmemory.admission.condition_checks import check_conditions
from quaymaster._clusters.inmemory.admission.field_errors import invalid, required
from quaymaster._clusters.inmemory.admission.field_rules import Rules, Scope
from quaymaster._clusters.inmemory.admission.gated_group_fields import (
    without_gated_group_fields,
    without_gated_templates,
)
from quaymaster._clusters.inmemory.admission.group_priorities import (
    resolve_group_priority,
)
from quaymaster._clusters.inmemory.admission.group_rules import (
    COMPOSITE_POD_GROUP,
    POD_GROUP,
    POD_GROUP_STATUS,
    WORKLOAD,
)
from quaymaster._clusters.inmemory.admission.refusal import Refusal
from quaymaster._clusters.inmemory.admission.workload_templates import (
    check_workload_spec,
)

__all__ = ["PROTECTION", "GroupAdmission"]

PROTECTION: Final = "scheduling.k8s.io/podgroup-protection"
"""The finalizer of a PodGroup, which stays while pods use the group."""

_GATES: Final = (
    "CompositePodGroup",
    "PodGroupPreemptionPolicy",
    "TopologyAwareWorkloadScheduling",
)
_POLICIES_GATE: Final = "PodGroupPreemptionPolicy"
_SINGLE: Final = DisruptionMode(single=SingleDisruptionMode())
_RULES: Final[Mapping[type[ApiObject], Rules]] = {
    CompositePodGroup: COMPOSITE_POD_GROUP,
    PodGroup: POD_GROUP,
    Workload: WORKLOAD,
}


class GroupAdmission:
    """Fills in and checks the groups and workloads of one cluster.

    Args:
        kubernetes: The Kubernetes version whose API server is simulated.
        priority_classes: Returns the priority classes.

    Attributes:
        by_kind: A function for each kind, which returns a new object as it is to be
            stored.
    """

    def __init__(
        self,
        kubernetes: Kubernetes,
        priority_classes: Callable[[], Iterable[PriorityClass]],
    ) -> None:
        self._kubernetes = kubernetes
        self._has_policies = kubernetes.enabled(_POLICIES_GATE)
        self._gates = frozenset(filter(kubernetes.enabled, _GATES))
        self._priority_classes = priority_classes
        self.by_kind: dict[type[ApiObject], Callable[[Any, Report], Any]] = {
            CompositePodGroup: self._composite,
            PodGroup: self._pod_group,
            Workload: self._workload,
        }

    def changed(self, new: ApiObject, old: ApiObject, report: Report) -> ApiObject:
        """Return a changed object as it is to be stored; its status stays."""
        if isinstance(new, PodGroup) and isinstance(old, PodGroup):
            spec = self._kept(self._defaulted(new.spec), old.spec)
            # An update of the spec never changes the status, which has a request of its
            # own (``PrepareForUpdate``).
            new = replace(new, spec=spec, status=old.status)
        elif isinstance(new, CompositePodGroup) and isinstance(old, CompositePodGroup):
            composite = self._kept(self._defaulted(new.spec), old.spec)
            new = replace(new, spec=composite, status=old.status)
        elif isinstance(new, Workload) and isinstance(old, Workload):
            kept = without_gated_templates(new.spec, old.spec, self._kubernetes)
            new = replace(new, spec=kept)
            check_workload_spec(kept, "spec", report)
        self._check(new, old, report)
        return new

    def check_status(self, new: ApiObject, old: ApiObject, report: Report) -> ApiObject:
        """Return an object with a changed status as it is to be stored."""
        if isinstance(new, CompositePodGroup):
            check_conditions(new.status.conditions, "status.conditions", report)
        elif isinstance(new, PodGroup) and isinstance(old, PodGroup):
            new = self._with_claim_statuses(new, old)
            self._check_group_status(new, old, report)
        return new

    def _pod_group(self, group: PodGroup, report: Report) -> PodGroup:
        spec = self._defaulted(group.spec)
        if is_already_admitted(group):
            group = replace(group, spec=spec)
            self._check(group, None, report, is_stored=True)
            return group
        # Plugins come before the strategy upstream: a group that they reject is not
        # checked further, and the priority is set before fields are dropped.
        prioritised = self._with_priority(spec, "pod group", report)
        if prioritised is None:
            return group
        spec = prioritised
        metadata = group.metadata
        # The admission plugin adds the finalizer at creation only; afterwards, a
        # controller does (`group_protection`).
        if PROTECTION not in metadata.finalizers:
            finalizers = (*metadata.finalizers, PROTECTION)
            metadata = replace(metadata, finalizers=finalizers)
        spec = without_gated_group_fields(spec, None, self._kubernetes)
        # Without the status of the manifest: ``PrepareForCreate`` clears it.
        group = PodGroup(metadata=metadata, spec=spec)
        if spec.parent_composite_pod_group_name is not None:
            _check_reference(spec, report)
        self._check(group, None, report)
        return group

    def _composite(self, group: CompositePodGroup, report: Report) -> CompositePodGroup:
        spec = self._defaulted(group.spec)
        if is_already_admitted(group):
            group = replace(group, spec=spec)
            self._check(group, None, report, is_stored=True)
            return group
        prioritised = self._with_priority(spec, "composite pod group", report)
        if prioritised is None:
            return group
        spec = without_gated_group_fields(prioritised, None, self._kubernetes)
        group = CompositePodGroup(metadata=group.metadata, spec=spec)
        self._check(group, None, report)
        return group

    def _workload(self, workload: Workload, report: Report) -> Workload:
        is_stored = is_already_admitted(workload)
        if not is_stored:
            spec = without_gated_templates(workload.spec, None, self._kubernetes)
            workload = replace(workload, spec=spec)
        check_workload_spec(workload.spec, "spec", report)
        self._check(workload, None, report, is_stored=is_stored)
        return workload

    def _check(
        self,
        new: ApiObject,
        old: ApiObject | None,
        report: Report,
        *,
        is_stored: bool = False,
    ) -> None:
        """Check the spec of an object; a stored one may have any gated fields."""
        # A stored object met the gates of its own server, which ours cannot see.
        gates = _GATES if is_stored else self._gates
        scope = Scope(report, gates, is_update=old is not None)
        before = None if old is None else _spec_of(old)
        scope.check(_RULES[type(new)], _spec_of(new), before, "spec")

    def _defaulted(self, spec: Any) -> Any:  # noqa: ANN401 - of either kind of group
        """Return a spec with its defaults."""
        if spec.disruption_mode is None:
            spec = replace(spec, disruption_mode=_SINGLE)
        if self._has_policies and spec.preemption_policy is None:
            return replace(spec, preemption_policy="PreemptLowerPriority")
        return spec

    def _kept(self, new: Any, old: Any) -> Any:  # noqa: ANN401 - the same
        return without_gated_group_fields(new, old, self._kubernetes)

    def _with_priority(self, spec: Any, what: str, report: Report) -> Any:  # noqa: ANN401 - the same
        try:
            return resolve_group_priority(
                spec, self._priority_classes(), what, has_policies=self._has_policies
            )
        except Refusal as refusal:
            # Admission plugins reject an object before it is validated.
            report.add("", f"forbidden: {refusal}")
            return None

    def _with_claim_statuses(self, new: PodGroup, old: PodGroup) -> PodGroup:
        """Return a group without statuses of claims, unless it can have claims."""
        gate = "DRAWorkloadResourceClaims"
        if self._kubernetes.enabled(gate) or old.spec.resource_claims:
            return new
        return replace(new, status=replace(new.status, resource_claim_statuses=()))

    def _check_group_status(self, new: PodGroup, old: PodGroup, report: Report) -> None:
        check_conditions(new.status.conditions, "status.conditions", report)
        names = {claim.name for claim in new.spec.resource_claims}
        for index, status in enumerate(new.status.resource_claim_statuses):
            if status.name not in names:
                detail = "must match the name of an entry in `spec.resourceClaims`"
                path = f"status.resourceClaimStatuses[{index}].name"
                report.add(path, invalid(status.name, detail))
        scope = Scope(report, self._gates, is_update=True)
        scope.check(POD_GROUP_STATUS, new.status, old.status, "status")


def _check_reference(spec: PodGroupSpec, report: Report) -> None:
    if spec.workload_ref is None:
        detail = "must be set when parentCompositePodGroupName is set"
        report.add("spec.workloadRef", required(detail))


def _spec_of(obj: ApiObject) -> Any:  # noqa: ANN401 - of three kinds
    assert isinstance(obj, CompositePodGroup | PodGroup | Workload)
    return obj.spec
