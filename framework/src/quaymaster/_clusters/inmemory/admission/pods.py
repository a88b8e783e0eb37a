"""Fills in and checks pods before they are stored.

Many pods share a spec: it is processed once, and the result is cached on the spec.
"""

from collections.abc import Iterable, Mapping
from typing import Final
from weakref import ReferenceType, ref

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import (
    LimitRange,
    PersistentVolumeClaim,
    Pod,
    PodCondition,
    PodSpec,
    PodStatus,
    PodTemplateSpec,
    PriorityClass,
    RuntimeClass,
    SpecKey,
    SpecPool,
)
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.syntax import SUBDOMAIN
from quaymaster._api.objects.tolerations import TOLERATION_COMPARISONS
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.admission.already_admitted import is_already_admitted
from quaymaster._clusters.inmemory.admission.annotated_profiles import (
    check_profiles,
    names_profiles,
)
from quaymaster._clusters.inmemory.admission.defaults import default_pod_spec
from quaymaster._clusters.inmemory.admission.label_keys import (
    label_keys_of,
    merge_label_keys,
)
from quaymaster._clusters.inmemory.admission.limit_ranges import check_claim
from quaymaster._clusters.inmemory.admission.metadata_checks import (
    check_annotations,
    check_labels,
    check_pod_annotations,
)
from quaymaster._clusters.inmemory.admission.placement_checks import (
    check_narrowed_selectors,
)
from quaymaster._clusters.inmemory.admission.pod_checks import check_pod_spec
from quaymaster._clusters.inmemory.admission.pod_groups import with_kept_group
from quaymaster._clusters.inmemory.admission.pod_level import PodLevelDefaults
from quaymaster._clusters.inmemory.admission.refusal import Refusal
from quaymaster._clusters.inmemory.admission.spec_rules import (
    AdmittedPodRules,
    NewPodRules,
    SpecRules,
    TemplateRules,
)
from quaymaster._clusters.inmemory.admission.toleration_checks import has_comparisons
from quaymaster._clusters.inmemory.admission.volume_checks import check_ephemeral_claims
from quaymaster._clusters.inmemory.admission.volume_defaults import (
    without_unread_volumes,
)

__all__ = ["PodAdmission"]

_PENDING: Final = PodStatus(phase="Pending")
_FRESH: Final = (PodStatus(), _PENDING)
_GATED: Final = PodCondition(
    type="PodScheduled",
    status="False",
    reason="SchedulingGated",
    message="Scheduling is blocked due to non-empty scheduling gates",
)


@attrs.define
class _Past:
    """The cached results of the admission of a spec.

    References are weak, so that a spec keeps neither itself nor an unused spec alive.

    Attributes:
        rules: The rules of the last admission.
        admitted: The result of that admission.
        originals: The specs from which admission made this one, by their identities.
            The pool keeps them for as long as pods have this spec.
        narrowed: This spec with its label keys merged, by the values of these keys.
    """

    rules: SpecRules | None = None
    admitted: ReferenceType[PodSpec] | None = None
    originals: dict[int, PodSpec] = attrs.field(factory=dict)
    narrowed: dict[tuple[str | None, ...], ReferenceType[PodSpec]] = attrs.field(
        factory=dict
    )


_PAST: Final = SpecKey(lambda _: _Past())


class PodAdmission:
    """Fills in and checks the pods of one cluster, and the templates of workloads.

    Args:
        kubernetes: The Kubernetes version whose API server is simulated.
    """

    def __init__(self, kubernetes: Kubernetes) -> None:
        self._kubernetes = kubernetes
        self._pool = SpecPool()
        self._pod_level = PodLevelDefaults(kubernetes)
        # The last valid metadata: the next pod usually has the same.
        self._annotations: Mapping[str, str] = {}
        self._priority_classes: tuple[PriorityClass, ...] = ()
        self._runtime_classes: dict[str, RuntimeClass] = {}
        self._limit_ranges: dict[str, list[LimitRange]] = {}
        # Changed classes make new rules objects, so results cached on specs are not
        # reused.
        self._templates = TemplateRules(kubernetes)
        self._admitted_rules = AdmittedPodRules((), self._pod_level)
        self._new_pods: dict[str, NewPodRules] = {}

    def set_classes(self, classes: Iterable[PriorityClass]) -> None:
        """Replace the priority classes."""
        self._priority_classes = tuple(classes)
        self._admitted_rules = AdmittedPodRules(self._priority_classes, self._pod_level)
        # New pods are checked with rules that hold the classes, so they are made again
        # when next needed.
        self._new_pods = {}

    def set_rules(
        self, classes: Iterable[RuntimeClass], ranges: Iterable[LimitRange]
    ) -> None:
        """Replace the runtime classes and the limit ranges."""
        self._runtime_classes = {c.name: c for c in classes}
        self._limit_ranges = {}
        for limit_range in ranges:
            namespace = limit_range.namespace or "default"
            self._limit_ranges.setdefault(namespace, []).append(limit_range)
        self._new_pods = {}

    def claim(self, claim: PersistentVolumeClaim, report: Report) -> None:
        """Check a new claim against the limits of its namespace."""
        if not is_already_admitted(claim):
            try:
                check_claim(claim, self._limit_ranges.get(claim.namespace, ()))
            except Refusal as refusal:
                report.add("", f"forbidden: {refusal}")

    def pod(self, pod: Pod, report: Report) -> Pod:
        """Return a new pod as it is to be stored."""
        rules = (
            self._admitted_rules
            if is_already_admitted(pod)
            else self._rules(pod.namespace)
        )
        spec = self._spec(pod.spec, report, "spec", rules)
        # After the shared part: label keys depend on the labels of each pod, so the
        # result cannot be cached with the spec alone.
        if label_keys_of(spec):
            spec = self._narrowed(spec, pod.metadata.labels, rules, report)
        self._check_own(pod, spec, report)
        status = _with_phase(pod.status, bool(spec.scheduling_gates))
        # Identity: a pod that admission does not change is returned as it is.
        if spec is pod.spec and status is pod.status:
            return pod
        return replace(pod, spec=spec, status=status)

    def changed(self, pod: Pod, old: Pod, report: Report) -> Pod:
        """Return a pod with a changed spec or annotations, as it is to be stored.

        Its priority stays, even if its class has changed since.
        """
        # No classes and limits on an update: they apply at creation only, and may have
        # changed since.
        spec = self._pod_level.changed(default_pod_spec(pod.spec), old.spec)
        if spec.priority is None:
            spec = replace(spec, priority=old.spec.priority)
        if spec.preemption_policy is None:
            spec = replace(spec, preemption_policy=old.spec.preemption_policy)
        own_report = Report()
        # A pod that compares numbers already may keep doing so after the gate is off
        # (``allowTaintTolerationComparisonOperators``).
        allows = has_comparisons(old.spec) or self._kubernetes.enabled(
            TOLERATION_COMPARISONS
        )
        check_pod_spec(spec, own_report, allows_comparisons=allows)
        report.include(own_report, "spec")
        spec = with_kept_group(spec, old.spec, self._kubernetes, report)
        # Last, because the check above must see the volumes that are dropped here.
        spec = without_unread_volumes(spec)
        self._check_own(pod, spec, report)
        return pod if report else replace(pod, spec=self._pool.share_spec(spec))

    def template(self, template: PodTemplateSpec, report: Report) -> PodTemplateSpec:
        """Return the template of a workload as it is to be stored."""
        metadata, path = template.metadata, "spec.template"
        if metadata.labels:
            check_labels(metadata.labels, f"{path}.labels", report)
        if metadata.annotations:
            where = f"{path}.annotations"
            check_annotations(metadata.annotations, where, report)
            check_pod_annotations(metadata.annotations, where, report)
            spec, name = template.spec, template.spec.node_name
            check_profiles(metadata.annotations, spec, name, where, report)
        spec = self._spec(template.spec, report, f"{path}.spec", self._templates)
        # The pool shares specs without a node's name, so a template's own is set
        # afterwards.
        node_name = template.spec.node_name
        if node_name:
            report.formed(node_name, SUBDOMAIN, f"{path}.spec.nodeName")
            spec = replace(spec, node_name=node_name)
        return replace(template, spec=spec)

    def _rules(self, namespace: str) -> SpecRules:
        """Return the rules for new pods; namespaces without limits share one object."""
        ranges = self._limit_ranges.get(namespace, [])
        key = namespace if ranges else ""
        rules = self._new_pods.get(key)
        if rules is None:
            rules = self._new_pods[key] = NewPodRules(
                self._priority_classes,
                self._runtime_classes,
                ranges,
                self._kubernetes,
                self._pod_level,
            )
        return rules

    def _spec(
        self, spec: PodSpec, report: Report, path: str, rules: SpecRules
    ) -> PodSpec:
        admitted = self._cached(spec, rules)
        if admitted is not None:
            return admitted
        original = self._pool.share_spec(spec)
        admitted = self._cached(original, rules)
        if admitted is None:
            admitted, is_right = _examined(original, report, path, rules)
            # Not remembered: a rejected spec is reported again for each of its pods.
            if not is_right:
                return admitted
            admitted = self._pool.share_spec(admitted)
            # Identity: a spec that needs no defaults is returned as it is.
            if original is not admitted:
                # Keeps the original alive as long as its result: else each new pod of a
                # template would be examined again.
                _PAST.of_spec(admitted).originals[id(original)] = original
                self._remember(original, admitted, rules)
            self._remember(admitted, admitted, rules)
        self._remember(spec, admitted, rules)
        return admitted

    def _narrowed(
        self,
        spec: PodSpec,
        labels: Mapping[str, str],
        rules: SpecRules,
        report: Report,
    ) -> PodSpec:
        """Return the spec with its label keys merged; cached by the keys' values."""
        by_values = _PAST.of_spec(spec).narrowed
        values = tuple(map(labels.get, label_keys_of(spec)))
        reference = by_values.get(values)
        narrowed = None if reference is None else reference()
        if narrowed is None:
            narrowed = merge_label_keys(spec, labels)
            own_report = Report()
            constraints = narrowed.topology_spread_constraints
            check_narrowed_selectors(narrowed.affinity, constraints, own_report)
            if own_report:
                report.include(own_report, "spec")
                return narrowed
            narrowed = self._pool.share_spec(narrowed)
            self._remember(narrowed, narrowed, rules)
            by_values[values] = ref(narrowed)
        return narrowed

    def _check_own(self, pod: Pod, spec: PodSpec, report: Report) -> None:
        """Check what a pod does not share with the others of its template."""
        annotations, node_name = pod.metadata.annotations, pod.node_name
        # Identity: pods of one template share them, and values never change.
        if annotations and annotations is not self._annotations:
            path = "metadata.annotations"
            check_pod_annotations(annotations, path, report)
            if names_profiles(annotations):
                if not is_already_admitted(pod):
                    check_profiles(annotations, spec, node_name, path, report)
            # Annotations with profiles are never skipped: their check reads containers,
            # too, which differ between pods with the same annotations.
            elif not report:
                self._annotations = annotations
        if node_name:
            report.formed(node_name, SUBDOMAIN, "spec.nodeName")
            # A bound pod has left the scheduler, which is the one component that gates
            # hold back.
            if spec.scheduling_gates:
                report.add("spec.nodeName", "expected none beside schedulingGates")
        if pod.name and any(volume.ephemeral for volume in spec.volumes):
            check_ephemeral_claims(pod, report)

    def _cached(self, spec: PodSpec, rules: SpecRules) -> PodSpec | None:
        past = _PAST.of_spec(spec)
        # Identity: changed rules are a new object.
        reference = past.admitted if past.rules is rules else None
        return None if reference is None else reference()

    def _remember(self, spec: PodSpec, admitted: PodSpec, rules: SpecRules) -> None:
        past = _PAST.of_spec(spec)
        past.rules, past.admitted = rules, ref(admitted)


def _examined(
    spec: PodSpec, report: Report, path: str, rules: SpecRules
) -> tuple[PodSpec, bool]:
    """Fill in a spec, and return whether it is valid; problems go to the report."""
    narrowing = Report()
    try:
        spec = rules.fill_in(spec, narrowing)
        rules.check(spec, narrowing)
    except Refusal as refusal:
        report.add("", f"forbidden: {refusal}")
        return spec, False
    report.include(narrowing, path)
    return without_unread_volumes(spec), not narrowing


def _with_phase(status: PodStatus, is_gated: bool) -> PodStatus:
    if not is_gated and status in _FRESH:
        # One status object for all new pods, so values derived from it are computed
        # once.
        return _PENDING
    if not status.phase:
        status = replace(status, phase="Pending")
    if not is_gated:
        return status
    conditions = status.conditions
    # A pod that was read from a cluster has its own condition, with its own time.
    if any(condition.type == "PodScheduled" for condition in conditions):
        return status
    return replace(status, conditions=(*conditions, _GATED))
