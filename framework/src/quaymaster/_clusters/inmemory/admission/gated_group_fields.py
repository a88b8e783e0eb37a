"""Fields of groups that the API server drops while their feature gates are off.

Mirrors the functions ``dropDisabled...`` (Kubernetes v1.37,
``pkg/registry/scheduling/{podgroup,compositepodgroup,workload}/strategy.go``): a field
is kept if the old object has it.
"""

from collections.abc import Sequence
from typing import Final, TypeVar

from msgspec.structs import replace

from quaymaster._api.objects import (
    CompositePodGroupTemplate,
    PodGroupSpec,
    PodGroupTemplate,
    WorkloadSpec,
)
from quaymaster._api.objects.meta import ApiValue
from quaymaster._base.versions.kubernetes import Kubernetes

__all__ = ["without_gated_group_fields", "without_gated_templates"]

ValueT = TypeVar("ValueT", bound=ApiValue)

_TEMPLATE_GATES: Final = (
    ("scheduling_constraints", "TopologyAwareWorkloadScheduling"),
    ("resource_claims", "DRAWorkloadResourceClaims"),
    ("preemption_policy", "PodGroupPreemptionPolicy"),
)
_GROUP_GATES: Final = (
    *_TEMPLATE_GATES,
    ("parent_composite_pod_group_name", "CompositePodGroup"),
)
_COMPOSITE_GATES: Final = (("preemption_policy", "PodGroupPreemptionPolicy"),)
_COMPOSITES: Final = "composite_pod_group_templates"
_COMPOSITES_GATE: Final = ((_COMPOSITES, "CompositePodGroup"),)


def without_gated_group_fields(
    new: ValueT, old: ValueT | None, kubernetes: Kubernetes
) -> ValueT:
    """Return the spec of a group of either kind as the API server reads it."""
    gates = _GROUP_GATES if isinstance(new, PodGroupSpec) else _COMPOSITE_GATES
    return _without(new, old, gates, kubernetes)


def without_gated_templates(
    new: WorkloadSpec, old: WorkloadSpec | None, kubernetes: Kubernetes
) -> WorkloadSpec:
    """Return the spec of a workload as the API server reads it."""
    spec = _without(new, old, _COMPOSITES_GATE, kubernetes)
    return replace(
        spec,
        pod_group_templates=_templates(
            spec.pod_group_templates,
            () if old is None else old.pod_group_templates,
            kubernetes,
        ),
        composite_pod_group_templates=_composites(
            spec.composite_pod_group_templates,
            () if old is None else old.composite_pod_group_templates,
            kubernetes,
        ),
    )


def _templates(
    templates: Sequence[PodGroupTemplate],
    old: Sequence[PodGroupTemplate],
    kubernetes: Kubernetes,
) -> tuple[PodGroupTemplate, ...]:
    """Return templates; the old ones are found by their places, as upstream does."""
    return tuple(
        _without(
            template,
            old[index] if index < len(old) else None,
            _TEMPLATE_GATES,
            kubernetes,
        )
        for index, template in enumerate(templates)
    )


def _composites(
    templates: Sequence[CompositePodGroupTemplate],
    old: Sequence[CompositePodGroupTemplate],
    kubernetes: Kubernetes,
) -> tuple[CompositePodGroupTemplate, ...]:
    # By name, unlike the templates above: upstream uses a map here
    # (``dropDisabledCompositePodGroupTemplatesFields``) and indexes there.
    by_name = {template.name: template for template in old}
    return tuple(
        _composite(template, by_name.get(template.name), kubernetes)
        for template in templates
    )


def _composite(
    template: CompositePodGroupTemplate,
    old: CompositePodGroupTemplate | None,
    kubernetes: Kubernetes,
) -> CompositePodGroupTemplate:
    gates = (*_COMPOSITE_GATES, *_COMPOSITES_GATE)
    template = _without(template, old, gates, kubernetes)
    return replace(
        template,
        composite_pod_group_templates=_composites(
            template.composite_pod_group_templates,
            () if old is None else old.composite_pod_group_templates,
            kubernetes,
        ),
        pod_group_templates=_templates(
            template.pod_group_templates,
            () if old is None else old.pod_group_templates,
            kubernetes,
        ),
    )


def _without(
    new: ValueT,
    old: ValueT | None,
    gates: Sequence[tuple[str, str]],
    kubernetes: Kubernetes,
) -> ValueT:
    """Return a value without the fields of disabled gates that the old one lacks."""
    # A field in use is kept, so that a gate that is switched off later does not break
    # objects that were stored while it was on.
    dropped = {
        name: () if isinstance(getattr(new, name), tuple) else None
        for name, gate in gates
        if not kubernetes.enabled(gate)
        and (old is None or getattr(old, name) in (None, ()))
    }
    return replace(new, **dropped) if dropped else new
