"""The rules of admission for specs: of new pods, stored pods, and templates.

Each set of rules is one object, by which results can be cached.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from msgspec.structs import replace

from quaymaster._api.objects import LimitRange, PodSpec, PriorityClass, RuntimeClass
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.tolerations import TOLERATION_COMPARISONS
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.admission.classes import resolve_priority
from quaymaster._clusters.inmemory.admission.defaults import (
    default_pod_spec,
    default_template_spec,
)
from quaymaster._clusters.inmemory.admission.limit_ranges import (
    check_limits,
    with_limits,
)
from quaymaster._clusters.inmemory.admission.pod_checks import (
    check_pod_spec,
    check_template_spec,
)
from quaymaster._clusters.inmemory.admission.pod_groups import (
    GROUPS_GATE,
    without_group,
)
from quaymaster._clusters.inmemory.admission.pod_level import PodLevelDefaults
from quaymaster._clusters.inmemory.admission.runtime_classes import apply_runtime_class

__all__ = ["AdmittedPodRules", "NewPodRules", "SpecRules", "TemplateRules"]


class SpecRules(Protocol):
    """How specs are filled in and checked."""

    def fill_in(self, spec: PodSpec, report: Report) -> PodSpec:
        """Return the spec with everything filled in.

        Raises:
            Refusal: An admission plugin rejects the spec.
        """

    def check(self, spec: PodSpec, report: Report) -> None:
        """Report the problems of a spec that is filled in.

        Raises:
            Refusal: The spec is valid, but an admission plugin rejects it.
        """


class TemplateRules:
    """The rules for templates: classes are resolved only for their pods.

    Args:
        kubernetes: The Kubernetes version whose rules apply.
    """

    def __init__(self, kubernetes: Kubernetes) -> None:
        self._allows_comparisons = kubernetes.enabled(TOLERATION_COMPARISONS)
        self._has_groups = kubernetes.enabled(GROUPS_GATE)

    def fill_in(self, spec: PodSpec, _: Report) -> PodSpec:
        """Return the spec with the defaults that templates get."""
        if not self._has_groups:
            spec = without_group(spec)
        return default_template_spec(spec)

    def check(self, spec: PodSpec, report: Report) -> None:
        """Check the spec by the rules for templates."""
        check_template_spec(spec, report, allows_comparisons=self._allows_comparisons)


class AdmittedPodRules:
    """The rules for pods that a cluster has already admitted: they keep their priority.

    Args:
        classes: The priority classes.
        pod_level: Completes the resources of whole pods.
    """

    def __init__(
        self, classes: Iterable[PriorityClass], pod_level: PodLevelDefaults
    ) -> None:
        self._classes = tuple(classes)
        self._pod_level = pod_level

    def fill_in(self, spec: PodSpec, report: Report) -> PodSpec:
        """Return the spec with its defaults and a priority."""
        # Both steps: which of them acts depends on the version (`PodLevelDefaults`),
        # and no plugin runs between them here.
        spec = self._pod_level.before_admission(default_pod_spec(spec))
        spec = self._pod_level.after_admission(spec)
        if spec.priority is None:
            return resolve_priority(spec, self._classes, report)
        # Servers before the policy existed stored pods without one, and they preempted.
        if spec.preemption_policy is None:
            return replace(spec, preemption_policy="PreemptLowerPriority")
        return spec

    def check(self, spec: PodSpec, report: Report) -> None:
        """Check the spec by the rules for pods; fields of disabled gates may stay."""
        # The gates of the other server cannot be seen, so its pods are trusted.
        check_pod_spec(spec, report, allows_comparisons=True)


class NewPodRules:
    """The rules for pods that are to be created in one namespace.

    Mirrors the order of ``pkg/kubeapiserver/options/plugins.go`` (Kubernetes v1.37):
    LimitRanger, Priority, RuntimeClass.

    Args:
        priority_classes: The priority classes.
        runtime_classes: The runtime classes by name.
        limit_ranges: The limit ranges of the namespace.
        kubernetes: The Kubernetes version whose API server is simulated.
        pod_level: Completes the resources of whole pods.
    """

    def __init__(
        self,
        priority_classes: Iterable[PriorityClass],
        runtime_classes: Mapping[str, RuntimeClass],
        limit_ranges: Sequence[LimitRange],
        kubernetes: Kubernetes,
        pod_level: PodLevelDefaults,
    ) -> None:
        self._allows_comparisons = kubernetes.enabled(TOLERATION_COMPARISONS)
        self._has_groups = kubernetes.enabled(GROUPS_GATE)
        self._priority_classes = tuple(priority_classes)
        self._runtime_classes = runtime_classes
        self._limit_ranges = limit_ranges
        self._pod_level = pod_level

    def fill_in(self, spec: PodSpec, report: Report) -> PodSpec:
        """Return the spec with defaults, limits, a priority, and its class's fields."""
        spec = self._pod_level.before_admission(default_pod_spec(spec))
        spec = with_limits(spec, self._limit_ranges)
        spec = resolve_priority(spec, self._priority_classes, report)
        spec = apply_runtime_class(spec, self._runtime_classes)
        # Fields are dropped after the mutating plugins, when the strategy prepares the
        # pod (``PrepareForCreate``).
        if not self._has_groups:
            spec = without_group(spec)
        return self._pod_level.after_admission(spec)

    def check(self, spec: PodSpec, report: Report) -> None:
        """Check the spec by the rules for pods, then by the limits of its namespace."""
        check_pod_spec(spec, report, allows_comparisons=self._allows_comparisons)
        # Validating plugins run after validation: a pod that is invalid is not compared
        # with limits.
        if not report:
            check_limits(spec, self._limit_ranges)
