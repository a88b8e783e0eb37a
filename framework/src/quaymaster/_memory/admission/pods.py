"""How pods are filled in and checked before they are stored.

A spec that many pods share is worked on once: what came of it is kept on it.
"""

from collections.abc import Iterable, Mapping
from typing import Final
from weakref import ReferenceType, ref

from msgspec.structs import replace

from quaymaster._memory.admission.classes import resolve_priority
from quaymaster._memory.admission.defaults import default_pod_spec
from quaymaster._memory.admission.label_keys import label_keys_of, merge_label_keys
from quaymaster._memory.admission.object_checks import check_annotations
from quaymaster._memory.admission.pod_checks import check_pod_spec
from quaymaster._memory.admission.problems import Report
from quaymaster.objects import (
    Pod,
    PodCondition,
    PodSpec,
    PodStatus,
    PodTemplateSpec,
    PriorityClass,
)
from quaymaster.objects.pool import SpecPool

__all__ = ["PodAdmission"]

_SPEC_KEY: Final = "quaymaster._memory.admitted"
_ORIGINALS_KEY: Final = "quaymaster._memory.originals"
_LABELS_KEY: Final = "quaymaster._memory.narrowed"
_PENDING: Final = PodStatus(phase="Pending")
_FRESH: Final = (PodStatus(), _PENDING)
_GATED: Final = PodCondition(
    type="PodScheduled",
    status="False",
    reason="SchedulingGated",
    message="Scheduling is blocked due to non-empty scheduling gates",
)


class PodAdmission:
    """Fills in and checks the pods of one cluster."""

    def __init__(self) -> None:
        self._pool = SpecPool()
        self._classes: dict[str, PriorityClass] = {}
        # Changed classes take another token, which voids what is kept on specs.
        self._token = object()

    def know_classes(self, classes: Iterable[PriorityClass]) -> None:
        """From now on, these are the priority classes."""
        self._classes = {c.name: c for c in classes}
        self._token = object()

    def pod(self, pod: Pod, report: Report) -> Pod:
        """A new pod, as it is to be stored."""
        spec = self._spec(pod.spec, report, "spec")
        if label_keys_of(spec):
            spec = self._narrowed(spec, pod.metadata.labels)
        annotations = pod.metadata.annotations
        if annotations:
            check_annotations(annotations, "metadata.annotations", report)
        if pod.node_name and spec.scheduling_gates:
            report.add("spec.schedulingGates", "expected none on a pod with a node")
        status = _with_phase(pod.status, bool(spec.scheduling_gates))
        if spec is pod.spec and status is pod.status:
            return pod
        return replace(pod, spec=spec, status=status)

    def changed(self, pod: Pod, old: Pod, report: Report) -> Pod:
        """A pod with another spec or other annotations than it had.

        Its priority stays what it was, whatever became of its class meanwhile.
        """
        spec = default_pod_spec(pod.spec)
        if spec.priority is None:
            spec = replace(spec, priority=old.spec.priority)
        if spec.preemption_policy is None:
            spec = replace(spec, preemption_policy=old.spec.preemption_policy)
        report.include(check_pod_spec(spec), "spec")
        check_annotations(pod.metadata.annotations, "metadata.annotations", report)
        return pod if report else replace(pod, spec=self._pool.share_spec(spec))

    def template(self, template: PodTemplateSpec, report: Report) -> None:
        """Check the template of a workload."""
        self._spec(template.spec, report, "spec.template.spec")
        path = "spec.template.metadata.annotations"
        check_annotations(template.metadata.annotations, path, report)

    def _spec(self, spec: PodSpec, report: Report, path: str) -> PodSpec:
        known = self._known(spec)
        if known is not None:
            return known
        original = self._pool.share_spec(spec)
        known = self._known(original)
        if known is None:
            known = default_pod_spec(original)
            found = check_pod_spec(known)
            known = resolve_priority(known, self._classes.values(), found)
            if found:
                report.include(found, path)
                return known
            known = self._pool.share_spec(known)
            if original is not known:
                # Keeps the original in the pool for as long as pods have this spec.
                originals = known.__dict__.setdefault(_ORIGINALS_KEY, {})
                originals[id(original)] = original
                self._remember(original, known)
            self._remember(known, known)
        self._remember(spec, known)
        return known

    def _narrowed(self, spec: PodSpec, labels: Mapping[str, str]) -> PodSpec:
        """The spec with its label keys merged; remembered per values of these keys."""
        by_values: dict[tuple[str | None, ...], ReferenceType[PodSpec]]
        by_values = spec.__dict__.setdefault(_LABELS_KEY, {})
        values = tuple(map(labels.get, label_keys_of(spec)))
        reference = by_values.get(values)
        known = None if reference is None else reference()
        if known is None:
            known = self._pool.share_spec(merge_label_keys(spec, labels))
            self._remember(known, known)
            by_values[values] = ref(known)
        return known

    def _known(self, spec: PodSpec) -> PodSpec | None:
        known = spec.__dict__.get(_SPEC_KEY)
        if known is None or known[0] is not self._token:
            return None
        reference: ReferenceType[PodSpec] = known[1]
        return reference()

    def _remember(self, spec: PodSpec, admitted: PodSpec) -> None:
        # A weak reference: a spec must not keep itself alive, nor one nobody uses.
        spec.__dict__[_SPEC_KEY] = (self._token, ref(admitted))


def _with_phase(status: PodStatus, is_gated: bool) -> PodStatus:
    if not is_gated and status in _FRESH:
        # One status for all new pods: what follows from it is computed once.
        return _PENDING
    if not status.phase:
        status = replace(status, phase="Pending")
    if not is_gated:
        return status
    conditions = status.conditions
    if any(condition.type == "PodScheduled" for condition in conditions):
        return status
    return replace(status, conditions=(*conditions, _GATED))
