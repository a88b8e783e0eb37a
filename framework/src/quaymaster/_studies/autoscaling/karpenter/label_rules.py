"""Which labels pods, pools and overlays may require, and how.

Mirrors ``pkg/apis/v1/nodeclaim_validation.go``, ``nodepool_validation.go`` and
``pkg/apis/v1alpha1/nodeoverlay_validation.go`` (sigs.k8s.io/karpenter v1.15).
"""

from collections.abc import Iterator, Sequence
from typing import Final

from quaymaster._api.objects import Taint
from quaymaster._api.objects.requirements import (
    is_label_key,
    is_label_value,
    parse_int64,
)
from quaymaster._api.objects.resource_names import (
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    PODS,
)
from quaymaster._studies.autoscaling.karpenter.labels import (
    CAPACITY_TYPE,
    NODE_POOL,
    NORMALIZED_LABELS,
    ON_DEMAND,
    RESERVED,
    SPOT,
    is_restricted,
)
from quaymaster._studies.autoscaling.karpenter.objects import NodeOverlay, NodePool
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions

__all__ = ["overlay_problems", "pool_problems", "requirement_problems"]

_OPERATORS: Final = frozenset(
    {"In", "NotIn", "Gt", "Lt", "Gte", "Lte", "Exists", "DoesNotExist"}
)
_COMPARISONS: Final = frozenset({"Gt", "Lt", "Gte", "Lte"})
_CAPACITY_TYPES: Final = frozenset({ON_DEMAND, RESERVED, SPOT})
_EFFECTS: Final = frozenset({"NoSchedule", "PreferNoSchedule", "NoExecute", ""})
_RESTRICTED_RESOURCES: Final = frozenset({CPU, MEMORY, EPHEMERAL_STORAGE, PODS})


def pool_problems(pool: NodePool, options: KarpenterOptions) -> Iterator[str]:
    """Yield why a pool would not become ready, in upstream's words."""
    template = pool.spec.template
    for key, value in template.metadata.labels.items():
        if not is_label_value(value):
            yield f"invalid value: {value} for label[{key}]"
        if key == NODE_POOL or _is_restricted(key, options) or not is_label_key(key):
            yield f'invalid key name "{key}" in labels, restricted'
    yield from _taint_problems(template.spec.taints + template.spec.startup_taints)
    for condition in template.spec.requirements:
        if condition.key == NODE_POOL:
            yield f'invalid key: "{condition.key}" in requirements, restricted'
        for problem in requirement_problems(
            condition.key,
            condition.operator,
            condition.values,
            options,
            condition.min_values,
        ):
            yield f"invalid value: {problem} in requirements, restricted"


def overlay_problems(overlay: NodeOverlay, options: KarpenterOptions) -> Iterator[str]:
    """Yield why an overlay does nothing, in upstream's words."""
    for condition in overlay.spec.requirements:
        key, operator = condition.key, condition.operator
        for problem in requirement_problems(key, operator, condition.values, options):
            yield f"invalid value: {problem} in requirements, restricted"
        if operator == "NotIn" and not condition.values:
            yield f"key {key} with operator NotIn must have a value defined"
    for name in sorted(_RESTRICTED_RESOURCES & overlay.spec.capacity.keys()):
        yield f"invalid capacity: {name} in resource, restricted"


def _taint_problems(taints: Sequence[Taint]) -> Iterator[str]:
    pairs: set[tuple[str, str]] = set()
    for taint in taints:
        if not is_label_key(taint.key) or not is_label_value(taint.value):
            yield f"invalid value: {taint.key}={taint.value} in taints"
        if taint.effect not in _EFFECTS:
            yield f'invalid value: "{taint.effect}" in taints'
        if (taint.key, taint.effect) in pairs:
            yield f"duplicate taint Key/Effect pair {taint.key}={taint.effect}"
        pairs.add((taint.key, taint.effect))


def requirement_problems(
    key: str,
    operator: str,
    values: Sequence[str],
    options: KarpenterOptions,
    min_values: int | None = None,
) -> Iterator[str]:
    """Yield what is wrong with a requirement on a label, in upstream's words."""
    key = NORMALIZED_LABELS.get(key, key)
    if operator not in _OPERATORS:
        names = " ".join(sorted(_OPERATORS))
        yield f"key {key} has an unsupported operator {operator} not in [{names}]"
    if _is_restricted(key, options):
        yield _restricted_text(key, options)
    if key == CAPACITY_TYPE and operator == "In":
        yield from _capacity_type_problems(values, min_values)
    if not is_label_key(key):
        yield f"key {key} is not a qualified name"
    for value in values:
        if not is_label_value(value):
            yield f"invalid value {value} for key {key}"
    if operator == "In" and not values:
        yield f"key {key} with operator {operator} must have a value defined"
    if operator == "In" and len(values) < (min_values or 0):
        yield (
            f"key {key} with operator {operator} must have at least minimum number "
            "of values defined in 'values' field"
        )
    if operator in _COMPARISONS and not _is_natural(values):
        yield (
            f"key {key} with operator {operator} "
            "must have a single positive integer value"
        )


def _is_natural(values: Sequence[str]) -> bool:
    return (
        len(values) == 1
        and (parse_int64(values[0]) or 0) >= 0
        and (parse_int64(values[0]) is not None)
    )


def _restricted_text(key: str, options: KarpenterOptions) -> str:
    labels = " ".join(sorted(options.well_known_labels))
    domains = " ".join(sorted(options.restricted_domains))
    return (
        f"using label {key} is not allowed as it might interfere with the internal "
        f"provisioning logic; specify a well known label: [{labels}], or a custom "
        f"label that does not use a restricted domain: [{domains}]"
    )


def _capacity_type_problems(
    values: Sequence[str], min_values: int | None
) -> Iterator[str]:
    count = sum(value in _CAPACITY_TYPES for value in values)
    listed = " ".join(values)
    if not count:
        yield f"no valid values found in [{listed}] for {CAPACITY_TYPE}"
    elif count < (min_values or 0):
        yield f"not enough valid values found in [{listed}] for {CAPACITY_TYPE}"


def _is_restricted(key: str, options: KarpenterOptions) -> bool:
    return is_restricted(key, options.well_known_labels, options.restricted_domains)
