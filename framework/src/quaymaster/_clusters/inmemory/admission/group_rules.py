"""The rules of the fields of groups, workloads and the groups of Jobs.

Mirrors the tags in k8s.io/api v0.37, ``scheduling/v1beta1/types.go``,
``scheduling/v1alpha3/types.go`` and ``batch/v1/types.go``. The order of the fields is
that of the classes in there, and so that of the errors.
"""

from typing import Final

from quaymaster._clusters.inmemory.admission.field_errors import (
    label_key,
    long_name,
    path_segment,
    short_name,
)
from quaymaster._clusters.inmemory.admission.field_rules import Rule, Rules

__all__ = [
    "COMPOSITE_POD_GROUP",
    "JOB",
    "POD_GROUP",
    "POD_GROUP_STATUS",
    "WORKLOAD",
]


_HIGHEST_PRIORITY: Final = 1_000_000_000
_MOST_CLAIMS: Final = 4
_MOST_TEMPLATES: Final = 8

_REFERENCE: Final = Rules(
    # A path of names: a workload, and the template in it.
    fields=(
        Rule(name="workload_name", is_required=True, form=long_name),
        Rule(name="template_name", is_required=True, form=short_name),
    )
)

_TOPOLOGY: Final = Rules(fields=(Rule(name="key", is_required=True, form=label_key),))

_CONSTRAINTS: Final = Rules(
    # The API has a list, but allows one level of topology so far.
    fields=(Rule(name="topology", most_items=1, inner=_TOPOLOGY),)
)

_DISRUPTION_MODE: Final = Rules(union=("single", "all"))

_CLAIM: Final = Rules(
    union=("resource_claim_name", "resource_claim_template_name"),
    fields=(
        Rule(name="name", is_required=True, form=short_name),
        Rule(name="resource_claim_name", form=long_name),
        Rule(name="resource_claim_template_name", form=long_name),
    ),
)


def _policy(minimum: Rule) -> Rules:
    """Return the rules of a policy: it stays basic, or it stays a gang."""
    return Rules(
        union=("basic", "gang"),
        fields=(
            # ``basic`` is empty, so "immutable" means that it can neither be set nor
            # cleared. The minimum of a gang may change.
            Rule(name="basic", is_immutable=True),
            Rule(name="gang", is_kept=True, inner=Rules(fields=(minimum,))),
        ),
    )


_POLICY: Final = _policy(Rule(name="min_count", is_required=True, least=1))
_COMPOSITE_POLICY: Final = _policy(
    Rule(name="min_group_count", is_required=True, least=1)
)

_CLAIMS: Final = Rule(
    name="resource_claims",
    is_immutable=True,
    most_items=_MOST_CLAIMS,
    has_unique_names=True,
    inner=_CLAIM,
)

_MODE: Final = Rule(name="disruption_mode", is_immutable=True, inner=_DISRUPTION_MODE)

_PRIORITIES: Final = (
    Rule(name="priority_class_name", is_immutable=True, form=long_name),
    Rule(name="priority", is_immutable=True, most=_HIGHEST_PRIORITY),
    Rule(
        name="preemption_policy",
        gate="PodGroupPreemptionPolicy",
        is_immutable=True,
        supported=("Never", "PreemptLowerPriority"),
    ),
)

_NAME: Final = Rule(name="name", is_required=True, form=short_name)

POD_GROUP: Final = Rules(
    fields=(
        Rule(
            name="parent_composite_pod_group_name",
            gate="CompositePodGroup",
            is_immutable=True,
            form=long_name,
        ),
        Rule(name="workload_ref", is_immutable=True, inner=_REFERENCE),
        Rule(name="scheduling_policy", inner=_POLICY),
        Rule(
            name="scheduling_constraints",
            gate="TopologyAwareWorkloadScheduling",
            is_immutable=True,
            # Only here: elsewhere the field is immutable whether its gate is on or off.
            is_frozen_while_gated=False,
            inner=_CONSTRAINTS,
        ),
        _CLAIMS,
        _MODE,
        *_PRIORITIES,
    )
)
"""The rules of the spec of a PodGroup."""

POD_GROUP_STATUS: Final = Rules(
    fields=(
        Rule(
            name="resource_claim_statuses",
            most_items=_MOST_CLAIMS,
            has_unique_names=True,
            inner=Rules(fields=(Rule(name="resource_claim_name", form=long_name),)),
        ),
    )
)
"""The rules of the status of a PodGroup; its conditions have others."""

COMPOSITE_POD_GROUP: Final = Rules(
    fields=(
        Rule(name="parent_composite_pod_group_name", is_immutable=True, form=long_name),
        Rule(
            name="workload_ref", is_required=True, is_immutable=True, inner=_REFERENCE
        ),
        Rule(name="scheduling_policy", is_immutable=True, inner=_COMPOSITE_POLICY),
        Rule(name="scheduling_constraints", is_immutable=True, inner=_CONSTRAINTS),
        _MODE,
        *_PRIORITIES,
    )
)
"""The rules of the spec of a CompositePodGroup."""

_TEMPLATE: Final = Rules(
    fields=(
        _NAME,
        Rule(name="scheduling_policy", inner=_POLICY),
        Rule(
            name="scheduling_constraints",
            gate="TopologyAwareWorkloadScheduling",
            is_immutable=True,
            inner=_CONSTRAINTS,
        ),
        _CLAIMS,
        _MODE,
        *_PRIORITIES,
    )
)


def _composite_template() -> Rules:
    # A function, because a template contains templates of its own kind, and the rules
    # below are not yet defined here.
    """Return the rules of a template that contains others of its own kind."""
    return Rules(
        fields=(
            _NAME,
            Rule(name="scheduling_policy", inner=_COMPOSITE_POLICY),
            Rule(name="scheduling_constraints", is_immutable=True, inner=_CONSTRAINTS),
            _MODE,
            *_PRIORITIES,
            _TEMPLATES,
            _COMPOSITE_TEMPLATES,
        )
    )


_TEMPLATES: Final = Rule(
    name="pod_group_templates",
    most_items=_MOST_TEMPLATES,
    keeps_items=True,
    has_unique_names=True,
    inner=_TEMPLATE,
)

_COMPOSITE_TEMPLATES: Final = Rule(
    name="composite_pod_group_templates",
    most_items=_MOST_TEMPLATES,
    keeps_items=True,
    has_unique_names=True,
    inner=_composite_template,
)

WORKLOAD: Final = Rules(
    union=("pod_group_templates", "composite_pod_group_templates"),
    fields=(
        Rule(
            name="controller_ref",
            is_immutable=True,
            inner=Rules(
                fields=(
                    Rule(name="api_group", form=long_name),
                    Rule(name="kind", is_required=True, form=path_segment),
                    Rule(name="name", is_required=True, form=path_segment),
                )
            ),
        ),
        _TEMPLATES,
        # Not `_COMPOSITE_TEMPLATES`: only the outer list has a gate. Without it, the
        # inner lists cannot exist.
        Rule(
            name="composite_pod_group_templates",
            gate="CompositePodGroup",
            most_items=_MOST_TEMPLATES,
            keeps_items=True,
            has_unique_names=True,
            inner=_composite_template,
        ),
    ),
)
"""The rules of the spec of a Workload."""

_JOB_POLICY: Final = Rules(
    union=("basic", "gang"),
    fields=(Rule(name="gang", inner=Rules(fields=(Rule(name="min_count", least=1),))),),
)

JOB: Final = Rules(
    fields=(
        Rule(
            name="scheduling",
            gate="WorkloadWithJob",
            is_kept=True,
            inner=Rules(
                fields=(
                    Rule(name="scheduling_policy", is_kept=True, inner=_JOB_POLICY),
                    Rule(
                        name="scheduling_constraints",
                        is_immutable=True,
                        inner=_CONSTRAINTS,
                    ),
                    _MODE,
                    _CLAIMS,
                )
            ),
        ),
    )
)
"""The rules of the group in the spec of a Job."""
