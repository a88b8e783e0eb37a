"""Rights as rules of roles, each with its reasons."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import attrs

from quaymaster._surfaces.deploy.rights import Need

__all__ = ["Rule", "rules_of"]

_Grounds: TypeAlias = tuple[str, str, tuple[str, ...]]
"""Group, name of the only object, and the components that need it."""


@attrs.frozen
class Rule:
    """One rule of a role.

    Attributes:
        group: The group of its resources.
        resources: The resources.
        verbs: The verbs.
        names: The name of the only object; empty for all.
        reasons: A line for each resource: the components that need it.
    """

    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    names: tuple[str, ...]
    reasons: tuple[str, ...]

    def tree(self) -> dict[str, list[str]]:
        """Return the rule as in RBAC."""
        tree = {
            "apiGroups": [self.group],
            "resources": list(self.resources),
            "verbs": list(self.verbs),
        }
        if self.names:
            tree["resourceNames"] = list(self.names)
        return tree


def rules_of(needs: Iterable[Need]) -> Sequence[Rule]:
    """Return the fewest rules that give exactly some rights.

    Resources of a group share a rule if they have the same verbs.

    Args:
        needs: The rights; their namespaces are those of the role, not of its rules.
    """
    merged: dict[tuple[str, str, tuple[str, ...]], dict[str, str]] = {}
    for group, resource, name, verbs, who in _by_grounds(needs):
        reason = f"{resource}: {', '.join(who)}"
        merged.setdefault((group, name, verbs), {})[resource] = reason
    return [
        Rule(
            group,
            tuple(grounds),
            verbs,
            (name,) if name else (),
            tuple(grounds.values()),
        )
        for (group, name, verbs), grounds in merged.items()
    ]


def _by_grounds(
    needs: Iterable[Need],
) -> Iterator[tuple[str, str, str, tuple[str, ...], tuple[str, ...]]]:
    """Group verbs by resource and reason."""
    verbs_by_grounds: dict[tuple[str, _Grounds], list[str]] = {}
    for need in needs:
        right = need.right
        grounds = (right.group, right.name, need.who)
        verbs_by_grounds.setdefault((right.resource, grounds), []).append(right.verb)
    for (resource, (group, name, who)), verbs in verbs_by_grounds.items():
        yield group, resource, name, tuple(verbs), who
