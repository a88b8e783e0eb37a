"""How pods are filled in and checked before they are stored.

A spec that many pods share is worked on once: what came of it is kept on it.
"""

from collections.abc import Iterable, Mapping
from typing import Final
from weakref import ReferenceType, ref

from msgspec.structs import replace

from quaymaster._memory.admission.defaults import default_pod_spec
from quaymaster._memory.admission.label_keys import label_keys_of, merge_label_keys
from quaymaster._memory.admission.limit_ranges import check_claim
from quaymaster._memory.admission.object_checks import check_annotations
from quaymaster._memory.admission.pod_checks import check_pod_spec
from quaymaster._memory.admission.problems import Report
from quaymaster._memory.admission.refusal import Refusal
from quaymaster._memory.admission.spec_rules import (
    NewPodRules,
    SpecRules,
    StandingPodRules,
    TemplateRules,
)
from quaymaster._memory.admission.standing import is_standing
from quaymaster.objects import (
    LimitRange,
    PersistentVolumeClaim,
    Pod,
    PodCondition,
    PodSpec,
    PodStatus,
    PodTemplateSpec,
    PriorityClass,
    RuntimeClass,
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
        self._priority_classes: tuple[PriorityClass, ...] = ()
        self._runtime_classes: dict[str, RuntimeClass] = {}
        self._limit_ranges: dict[str, list[LimitRange]] = {}
        # Changed classes make other rules, which voids what is kept on specs.
        self._templates = TemplateRules()
        self._standing = StandingPodRules(())
        self._new_pods: dict[str, NewPodRules] = {}

    def know_classes(self, classes: Iterable[PriorityClass]) -> None:
        """From now on, these are the priority classes."""
        self._priority_classes = tuple(classes)
        self._standing = StandingPodRules(self._priority_classes)
        self._new_pods = {}

    def know_rules(
        self, classes: Iterable[RuntimeClass], ranges: Iterable[LimitRange]
    ) -> None:
        """From now on, these are the runtime classes and the limit ranges."""
        self._runtime_classes = {c.name: c for c in classes}
        self._limit_ranges = {}
        for limit_range in ranges:
            namespace = limit_range.namespace or "default"
            self._limit_ranges.setdefault(namespace, []).append(limit_range)
        self._new_pods = {}

    def claim(self, claim: PersistentVolumeClaim, report: Report) -> None:
        """Hold a new claim to the limits of its namespace."""
        if not is_standing(claim):
            try:
                check_claim(claim, self._limit_ranges.get(claim.namespace, ()))
            except Refusal as refusal:
                report.add("", f"forbidden: {refusal}")

    def pod(self, pod: Pod, report: Report) -> Pod:
        """A new pod, as it is to be stored."""
        rules = self._standing if is_standing(pod) else self._rules(pod.namespace)
        spec = self._spec(pod.spec, report, "spec", rules)
        if label_keys_of(spec):
            spec = self._narrowed(spec, pod.metadata.labels, rules)
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
        self._spec(template.spec, report, "spec.template.spec", self._templates)
        path = "spec.template.metadata.annotations"
        check_annotations(template.metadata.annotations, path, report)

    def _rules(self, namespace: str) -> SpecRules:
        """The rules for new pods of a namespace; all without limits share theirs."""
        ranges = self._limit_ranges.get(namespace, [])
        key = namespace if ranges else ""
        rules = self._new_pods.get(key)
        if rules is None:
            rules = self._new_pods[key] = NewPodRules(
                self._priority_classes, self._runtime_classes, ranges
            )
        return rules

    def _spec(
        self, spec: PodSpec, report: Report, path: str, rules: SpecRules
    ) -> PodSpec:
        known = self._known(spec, rules)
        if known is not None:
            return known
        original = self._pool.share_spec(spec)
        known = self._known(original, rules)
        if known is None:
            known = self._examined(original, report, path, rules)
            if report:
                return known
            known = self._pool.share_spec(known)
            if original is not known:
                # Keeps the original in the pool for as long as pods have this spec.
                originals = known.__dict__.setdefault(_ORIGINALS_KEY, {})
                originals[id(original)] = original
                self._remember(original, known, rules)
            self._remember(known, known, rules)
        self._remember(spec, known, rules)
        return known

    def _examined(
        self, spec: PodSpec, report: Report, path: str, rules: SpecRules
    ) -> PodSpec:
        """A spec with everything filled in; what is wrong goes to the report."""
        spec, found = default_pod_spec(spec), Report()
        try:
            spec = rules.fill_in(spec, found)
            report.include(check_pod_spec(spec), path)
            report.include(found, path)
            if not report:
                rules.check(spec)
        except Refusal as refusal:
            report.add("", f"forbidden: {refusal}")
        return spec

    def _narrowed(
        self, spec: PodSpec, labels: Mapping[str, str], rules: SpecRules
    ) -> PodSpec:
        """The spec with its label keys merged; remembered per values of these keys."""
        by_values: dict[tuple[str | None, ...], ReferenceType[PodSpec]]
        by_values = spec.__dict__.setdefault(_LABELS_KEY, {})
        values = tuple(map(labels.get, label_keys_of(spec)))
        reference = by_values.get(values)
        known = None if reference is None else reference()
        if known is None:
            known = self._pool.share_spec(merge_label_keys(spec, labels))
            self._remember(known, known, rules)
            by_values[values] = ref(known)
        return known

    def _known(self, spec: PodSpec, rules: SpecRules) -> PodSpec | None:
        known = spec.__dict__.get(_SPEC_KEY)
        if known is None or known[0] is not rules:
            return None
        reference: ReferenceType[PodSpec] = known[1]
        return reference()

    def _remember(self, spec: PodSpec, admitted: PodSpec, rules: SpecRules) -> None:
        # A weak reference: a spec must not keep itself alive, nor one nobody uses.
        spec.__dict__[_SPEC_KEY] = (rules, ref(admitted))


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
