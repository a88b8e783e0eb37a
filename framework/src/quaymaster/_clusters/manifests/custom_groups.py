"""Makes the PodGroups of custom objects, whose pods are members.

The rules are in the mapping of the kind, see
`quaymaster._clusters.manifests.group_rules`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._base.errors import Problem
from quaymaster._clusters.manifests.group_rules import Condition, GroupRule
from quaymaster._clusters.manifests.paths import (
    Tree,
    field_at,
    first_field,
    is_unset,
)
from quaymaster._core.config.naming import show

__all__ = ["GroupShare", "has_topology", "merged_groups", "pod_group", "share_of"]

_MIN_COUNT: Final = "schedulingPolicy.gang.minCount"
_VERSION: Final = "scheduling.k8s.io/v1beta1"
_COPIED: Final = ("schedulingConstraints", "disruptionMode", "resourceClaims")


@attrs.frozen(kw_only=True)
class GroupShare:
    """The part of a PodGroup that one Job makes.

    Attributes:
        name: The group.
        pods: How many pods the Job runs at once.
        least: How many of these the group needs; None: see ``min_count``.
        min_count: The minimum of the whole group; None: the sum of the parts.
        is_gang: Whether the group is a gang.
        spec: The other fields of its spec.
    """

    name: str
    pods: int
    least: int
    min_count: int | None
    is_gang: bool
    spec: Mapping[str, object]


def share_of(
    rules: Sequence[GroupRule],
    trees: Sequence[Tree],
    values: Mapping[str, str],
    pods: int,
    problems: list[Problem],
) -> GroupShare | None:
    """Return the share of some pods in a group, or None if they are in no group.

    Args:
        rules: The rules of the kind.
        trees: The item of the pods, and its object.
        values: The values of placeholders.
        pods: How many pods run at once.
        problems: Receives the problems, each with its path.
    """
    rule = next((rule for rule in rules if _holds(rule.when, trees)), None)
    if rule is None or not pods:
        return None
    settings = _settings(rule, trees, values)
    policy = settings.get("schedulingPolicy")
    gang = field_at(settings, "schedulingPolicy.gang")
    is_gang = rule.gang if is_unset(policy) and gang is None else gang is not None
    min_count = _count(trees, rule.min_count, problems)
    own = field_at(gang, "minCount")
    if isinstance(own, int) and not isinstance(own, bool) and own > 0:
        min_count = own
    elif own is not None:
        path = f"{_filled(rule.scheduling or '', values)}.{_MIN_COUNT}"
        message = f"expected an integer of at least 1, got {show(own)}"
        problem = Problem(path=path, message=message)
        # All parts of a group have the same field.
        problems += [problem] if problem not in problems else []
    least = _count(trees, rule.min_count_of_part, problems)
    return GroupShare(
        name=_filled(rule.name, values),
        pods=pods,
        least=pods if least is None else min(least, pods),
        min_count=min_count,
        is_gang=is_gang,
        spec=_other_fields(rule, settings, trees),
    )


def merged_groups(shares: Iterable[GroupShare]) -> Iterator[GroupShare]:
    """Yield one share for each group, with the pods of all its parts."""
    groups: dict[str, GroupShare] = {}
    for share in shares:
        first = groups.get(share.name)
        groups[share.name] = share if first is None else _sum_of(first, share)
    yield from groups.values()


def _sum_of(first: GroupShare, second: GroupShare) -> GroupShare:
    return attrs.evolve(
        first,
        pods=first.pods + second.pods,
        least=first.least + second.least,
        spec={**second.spec, **first.spec},
    )


def pod_group(
    group: GroupShare, metadata: Mapping[str, object], priority_class: str
) -> Tree:
    """Return a PodGroup in wire form.

    Args:
        group: The group with all its parts.
        metadata: Its metadata, without the name.
        priority_class: The class of its pods, whose priority it must have.
    """
    policy: dict[str, object] = {"basic": {}}
    if group.is_gang:
        count = group.least if group.min_count is None else group.min_count
        policy = {"gang": {"minCount": max(count, 1)}}
    spec = {"schedulingPolicy": policy, **group.spec}
    if priority_class:
        spec["priorityClassName"] = priority_class
    return {
        "apiVersion": _VERSION,
        "kind": "PodGroup",
        "metadata": {**metadata, "name": group.name},
        "spec": spec,
    }


def has_topology(group: Tree) -> bool:
    """Return whether a PodGroup in wire form must share a topology domain."""
    return not is_unset(field_at(group, "spec.schedulingConstraints.topology"))


def _holds(conditions: Sequence[Condition], trees: Sequence[Tree]) -> bool:
    return not conditions or any(
        _is_true(condition, tree) for condition in conditions for tree in trees
    )


def _is_true(condition: Condition, tree: Tree) -> bool:
    value = field_at(tree, condition.path)
    if condition.equals is None:
        return value is not None and value != "" and value is not False
    return value == condition.equals


def _settings(
    rule: GroupRule, trees: Sequence[Tree], values: Mapping[str, str]
) -> Tree:
    if rule.scheduling is None:
        return {}
    entry = first_field(trees, [_filled(rule.scheduling, values)])
    return entry[1] if entry is not None and isinstance(entry[1], Mapping) else {}


def _count(
    trees: Sequence[Tree], paths: tuple[str, ...], problems: list[Problem]
) -> int | None:
    entry = first_field(trees, paths)
    if entry is None:
        return None
    path, value = entry
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        message = f"expected an integer of at least 0, got {show(value)}"
        problems.append(Problem(path=path, message=message))
        return None
    return value or None


def _other_fields(
    rule: GroupRule, settings: Tree, trees: Sequence[Tree]
) -> dict[str, object]:
    spec = {key: settings[key] for key in _COPIED if not is_unset(settings.get(key))}
    entry = first_field(trees, rule.topology)
    if entry is not None and not is_unset(entry[1]):
        spec.setdefault("schedulingConstraints", {"topology": [{"key": entry[1]}]})
    return spec


def _filled(text: str, values: Mapping[str, str]) -> str:
    for placeholder, value in values.items():
        text = text.replace(placeholder, value)
    return text
