"""The values of labels that new nodes can have, with the taints they come with.

Mirrors ``topologydomaingroup.go`` and ``buildDomainGroups`` (sigs.k8s.io/karpenter
v1.15, ``pkg/controllers/provisioning/scheduling``).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from quaymaster._api.objects import Taint, Toleration
from quaymaster._studies.autoscaling.karpenter.instance_types import InstanceType
from quaymaster._studies.autoscaling.karpenter.objects import NodePool
from quaymaster._studies.autoscaling.karpenter.requirements import Requirements
from quaymaster._studies.autoscaling.karpenter.taints import tolerates_all

__all__ = ["DomainGroup", "domain_groups"]


class DomainGroup:
    """The values of one label, each with the sets of taints of its nodes."""

    __slots__ = ("_taints",)

    def __init__(self) -> None:
        self._taints: dict[str, list[Sequence[Taint]]] = {}

    def insert(self, domain: str, taints: Sequence[Taint]) -> None:
        """Add a value; nodes without taints make all others unimportant."""
        present = self._taints.get(domain)
        if present is None or not taints:
            self._taints[domain] = [taints]
        elif present[0] and taints not in present:
            present.append(taints)

    def all_domains(self) -> Iterable[str]:
        """Return the values."""
        return self._taints

    def tolerated_domains(self, tolerations: Sequence[Toleration]) -> Iterator[str]:
        """Yield the values of nodes whose taints are tolerated."""
        for domain, sets in self._taints.items():
            if any(tolerates_all(taints, tolerations) for taints in sets):
                yield domain


def domain_groups(
    pools: Mapping[str, NodePool], types: Mapping[str, Sequence[InstanceType]]
) -> Mapping[str, DomainGroup]:
    """Return the values that the nodes of pools can have, by label."""
    groups: dict[str, DomainGroup] = {}
    for name, listed in types.items():
        _add_pool(groups, pools[name], listed)
    return groups


def _add_pool(
    groups: dict[str, DomainGroup], pool: NodePool, types: Sequence[InstanceType]
) -> None:
    template = pool.spec.template
    own = Requirements.from_conditions(template.spec.requirements)
    own.add(Requirements.from_labels(template.metadata.labels))
    values: dict[str, set[str]] = {}
    for each in types:
        for key, requirement in each.requirements.by_key.items():
            mine = own.by_key.get(key)
            both = requirement if mine is None else requirement.intersection(mine)
            # As upstream, also the values that are excluded.
            values.setdefault(key, set()).update(both.values)
        for key in own.by_key.keys() - each.requirements.by_key.keys():
            values.setdefault(key, set()).update(own.by_key[key].values)
    for requirement in own:
        if requirement.operator == "In":
            values.setdefault(requirement.key, set()).update(requirement.values)
    for key, domains in values.items():
        group = groups.setdefault(key, DomainGroup())
        for domain in sorted(domains):
            group.insert(domain, template.spec.taints)
