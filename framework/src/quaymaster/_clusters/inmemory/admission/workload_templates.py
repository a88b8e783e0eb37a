"""Checks the templates of a workload as a whole.

Mirrors ``ValidateWorkloadSpec`` (Kubernetes v1.37,
``pkg/apis/scheduling/validation/validation.go``).
"""

from collections.abc import Iterator, Sequence
from typing import Final

from quaymaster._api.objects import (
    CompositePodGroupTemplate,
    PodGroupTemplate,
    WorkloadSpec,
)
from quaymaster._api.objects.meta import ApiValue
from quaymaster._api.objects.report import Report
from quaymaster._clusters.inmemory.admission.field_errors import duplicate, invalid

__all__ = ["check_workload_spec"]

_DEEPEST: Final = 4
_COMPOSITES: Final = "compositePodGroupTemplates"

_Composites = Sequence[CompositePodGroupTemplate]


def check_workload_spec(spec: WorkloadSpec, path: str, report: Report) -> None:
    """Check the names, the depth and the priorities of all templates."""
    names = {template.name for template in spec.pod_group_templates}
    composites = spec.composite_pod_group_templates
    _check_list(composites, names, path, report)
    # Only the outer templates: the depth is counted from the workload, so a deep branch
    # is reported once.
    for index, template in enumerate(composites):
        if _depth(template) >= _DEEPEST:
            value = _as_go_prints(template.composite_pod_group_templates)
            detail = f"maximum template hierarchy depth is {_DEEPEST}"
            report.add(f"{path}.{_COMPOSITES}[{index}]", invalid(value, detail))
    _check_priorities(spec, path, report)
    _check_children(composites, path, report)


def _check_list(
    templates: _Composites, names: set[str], path: str, report: Report
) -> None:
    """Check that no name of a list occurs in another list; then check the children."""
    for index, template in enumerate(templates):
        if template.name in names:
            where = f"{path}.{_COMPOSITES}[{index}].name"
            report.add(where, duplicate(template.name))
    # After the loop: names within one list are compared by the rules of fields
    # (`Rules`), which report repeated ones themselves.
    names.update(template.name for template in templates)
    for index, template in enumerate(templates):
        where = f"{path}.{_COMPOSITES}[{index}]"
        children = template.pod_group_templates
        for number, child in enumerate(children):
            if child.name in names:
                name_path = f"{where}.podGroupTemplates[{number}].name"
                report.add(name_path, duplicate(child.name))
        names.update(child.name for child in children)
        _check_list(template.composite_pod_group_templates, names, where, report)


def _depth(template: CompositePodGroupTemplate) -> int:
    children = map(_depth, template.composite_pod_group_templates)
    return 1 + max(children, default=0)


def _check_priorities(spec: WorkloadSpec, path: str, report: Report) -> None:
    """Check that all templates have the same priority."""
    # Upstream first compares the outer groups, and returns if they differ.
    own = {_priority(template) for template in spec.pod_group_templates}
    if len(own) > 1:
        detail = "detected multiple priority configurations"
        report.add(path, invalid(None, detail))
        return
    own.update(map(_priority, _descendants(spec.composite_pod_group_templates)))
    if len(own) > 1:
        detail = (
            "all priority and priorityClassName values must be identical, detected "
            "multiple values"
        )
        report.add(path, invalid(None, detail))


def _priority(
    template: PodGroupTemplate | CompositePodGroupTemplate,
) -> tuple[str, int | None]:
    return template.priority_class_name, template.priority


def _descendants(
    templates: _Composites,
) -> Iterator[PodGroupTemplate | CompositePodGroupTemplate]:
    for template in templates:
        yield template
        yield from template.pod_group_templates
        yield from _descendants(template.composite_pod_group_templates)


def _check_children(templates: _Composites, path: str, report: Report) -> None:
    """Check that every template of groups of groups has a child."""
    for index, template in enumerate(templates):
        where = f"{path}.{_COMPOSITES}[{index}]"
        if not (template.pod_group_templates or template.composite_pod_group_templates):
            detail = (
                "must have at least one child PodGroupTemplate or "
                "CompositePodGroupTemplate"
            )
            report.add(where, invalid(template.name, detail))
        _check_children(template.composite_pod_group_templates, where, report)


def _as_go_prints(value: object) -> object:
    """Return a value as the error prints it: with all fields of the internal types."""
    if isinstance(value, tuple):
        # Go prints a list that is not set as null.
        return [_as_go_prints(item) for item in value] or None
    if not isinstance(value, ApiValue):
        return value
    return {
        name.title().replace("_", ""): _as_go_prints(getattr(value, name))
        for name in value.__struct_fields__
    }
