"""How many pods that a constraint selects are in each domain of a label.

Mirrors ``topologygroup.go`` (sigs.k8s.io/karpenter v1.15,
``pkg/controllers/provisioning/scheduling``).
"""

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from quaymaster._api.objects import Pod, Taint
from quaymaster._api.objects.selectors import Selector
from quaymaster._studies.autoscaling.karpenter.labels import HOSTNAME
from quaymaster._studies.autoscaling.karpenter.requirements import (
    Requirement,
    Requirements,
)
from quaymaster._studies.autoscaling.karpenter.solve.chance import Chance
from quaymaster._studies.autoscaling.karpenter.solve.topology_filter import NodeFilter

__all__ = ["TopologyGroup", "TopologyKind"]

_MAX_SKEW: Final = 2**31 - 1


class TopologyKind(enum.Enum):
    """What a constraint is, in the words of upstream's errors."""

    SPREAD = "topology spread"
    AFFINITY = "pod affinity"
    ANTI_AFFINITY = "pod anti-affinity"


class TopologyGroup:
    """The pods of one constraint, or of several equal ones.

    Args:
        kind: The constraint.
        key: The label whose values are the domains.
        namespaces: The namespaces of the pods that count.
        selector: Selects them.
        node_filter: The nodes that count.
        domains: The first domains.
        chance: Draws among equal domains.
        max_skew: The largest difference of a spread constraint.
        min_domains: With fewer domains, the smallest number of pods counts as 0.
        counts_all: Whether all pods that run already count.
    """

    def __init__(
        self,
        *,
        kind: TopologyKind,
        key: str,
        namespaces: frozenset[str],
        selector: Selector,
        node_filter: NodeFilter,
        domains: Iterable[str],
        chance: Chance,
        max_skew: int = _MAX_SKEW,
        min_domains: int | None = None,
        counts_all: bool = False,
    ) -> None:
        self.kind = kind
        self.key = key
        self.namespaces = namespaces
        self.selector = selector
        self.node_filter = node_filter
        self.counts = dict.fromkeys(domains, 0)
        self._empty = set(self.counts)
        self._chance = chance
        self._max_skew = max_skew
        self._min_domains = min_domains
        self._counts_all = counts_all
        self._selected: dict[str, bool] = {}

    def selects(self, pod: Pod) -> bool:
        """Return whether a pod counts; kept by its uid, as its labels stay."""
        selected = self._selected.get(pod.uid)
        if selected is None:
            selected = pod.namespace in self.namespaces and self.selector.matches(
                pod.labels
            )
            self._selected[pod.uid] = selected
        return selected

    def counts_labels(self, labels: Mapping[str, str]) -> bool:
        """Return whether a pod that runs already counts.

        As upstream: without a selector all of these do, and none of the new pods.
        """
        return self._counts_all or self.selector.matches(labels)

    def counts_pod(
        self, pod: Pod, taints: Sequence[Taint], requirements: Requirements
    ) -> bool:
        """Return whether a pod counts if it runs on a node."""
        return self.selects(pod) and self.node_filter.matches(taints, requirements)

    def record(self, domains: Iterable[str]) -> None:
        """Count a pod in domains."""
        for domain in domains:
            self.counts[domain] = self.counts.get(domain, 0) + 1
            self._empty.discard(domain)

    def record_all(self, counts: Mapping[str, int]) -> None:
        """Count as many pods in each domain."""
        for domain, count in counts.items():
            self.counts[domain] = self.counts.get(domain, 0) + count
        self._empty.difference_update(counts)

    def register(self, domains: Iterable[str]) -> None:
        """Add domains without pods."""
        new = [domain for domain in domains if domain not in self.counts]
        self.counts.update(dict.fromkeys(new, 0))
        self._empty.update(new)

    def allowed(
        self, pod: Pod, pod_domains: Requirement, node_domains: Requirement
    ) -> Requirement:
        """Return the domains where a pod may go; none for nowhere.

        Args:
            pod: The pod.
            pod_domains: What the pod requires of the label.
            node_domains: What the node requires of it.
        """
        if self.kind == TopologyKind.SPREAD:
            domain = self._spread(pod, pod_domains, node_domains)
            return self._only([] if domain is None else [domain])
        if self.kind == TopologyKind.AFFINITY:
            return self._only(self._near(pod, pod_domains, node_domains))
        return self._only(self._away(pod_domains, node_domains))

    def _only(self, domains: Iterable[str]) -> Requirement:
        return Requirement(self.key, False, frozenset(domains))

    def _host(self, node_domains: Requirement) -> str | None:
        """Return the only host of a node, perhaps a new one, or None."""
        if self.key != HOSTNAME or len(node_domains.values) != 1:
            return None
        [host] = node_domains.values
        return host

    def _spread(
        self, pod: Pod, pod_domains: Requirement, node_domains: Requirement
    ) -> str | None:
        """Return the allowed domain with the fewest pods; among equal ones, draw."""
        extra = int(self.selects(pod))
        host = self._host(node_domains)
        if host is not None:
            # A new node can always be made, so the smallest number is 0.
            count = self.counts.get(host, 0) + extra
            return host if count <= self._max_skew else None
        least = self._least(pod_domains)
        fewest, best = None, []
        for domain in self._present(node_domains):
            count = self.counts[domain] + extra
            if count - least > self._max_skew or not domain:
                continue
            if fewest is None or count < fewest:
                fewest, best = count, [domain]
            elif count == fewest:
                best.append(domain)
        return self._chance.choice(best) if best else None

    def _present(self, domains: Requirement) -> Iterator[str]:
        """Yield the domains of the group that a requirement allows."""
        if domains.operator == "In":
            return (d for d in domains.values if d in self.counts)
        return (d for d in self.counts if domains.has(d))

    def _least(self, domains: Requirement) -> int:
        """Return the smallest number of pods in the domains of a pod."""
        # A new host, without pods, can always be made.
        if self.key == HOSTNAME:
            return 0
        counts = [count for domain, count in self.counts.items() if domains.has(domain)]
        if self._min_domains is not None and len(counts) < self._min_domains:
            return 0
        return min(counts, default=_MAX_SKEW)

    def _near(
        self, pod: Pod, pod_domains: Requirement, node_domains: Requirement
    ) -> list[str]:
        host = self._host(node_domains)
        if host is not None:
            may = pod_domains.has(host) and (
                self.counts.get(host, 0) > 0 or self._may_begin(pod, pod_domains)
            )
            return [host] if may else []
        options = [
            domain
            for domain in self._present(node_domains)
            if self.counts[domain] > 0 and pod_domains.has(domain)
        ]
        if options or not self._may_begin(pod, pod_domains):
            return options
        return self._first_domains(pod_domains, node_domains)

    def _may_begin(self, pod: Pod, pod_domains: Requirement) -> bool:
        """Return whether a pod may be the first one of its own affinity."""
        return self.selects(pod) and (
            len(self.counts) == len(self._empty)
            or not any(
                count > 0 and pod_domains.has(domain)
                for domain, count in self.counts.items()
            )
        )

    def _first_domains(
        self, pod_domains: Requirement, node_domains: Requirement
    ) -> list[str]:
        """Draw a domain of the node, and one that the pod allows."""
        both = pod_domains.intersection(node_domains)
        of_node = [domain for domain in self.counts if both.has(domain)]
        of_pod = [domain for domain in self.counts if pod_domains.has(domain)]
        # Up to two domains, of which the pod may only allow one. The second loop of
        # ``nextDomainAffinity`` (topologygroup.go) does not look whether the first has
        # found something.
        return [
            self._chance.choice(options) for options in (of_node, of_pod) if options
        ]

    def _away(self, pod_domains: Requirement, node_domains: Requirement) -> list[str]:
        host = self._host(node_domains)
        if host is not None:
            # What the pod requires of its host is not read here, unlike below, as in
            # ``nextDomainAntiAffinity`` (topologygroup.go).
            return [] if self.counts.get(host, 0) else [host]
        if node_domains.operator == "In" and len(node_domains.values) < len(
            self._empty
        ):
            options = node_domains.values & self._empty
        else:
            options = frozenset(d for d in self._empty if node_domains.has(d))
        return [domain for domain in options if pod_domains.has(domain)]

    def text(self, pod_domains: Requirement, node_domains: Requirement) -> str:
        """Return upstream's error if a pod may go nowhere."""
        names = sorted(self.counts)
        counts = ", ".join(f"{name}: {self.counts[name]}" for name in names[:_SHOWN])
        if len(names) > _SHOWN:
            counts += f" and {len(names) - _SHOWN} other(s)"
        # As upstream: the parenthesis is not closed.
        return (
            f"unsatisfiable topology constraint for {self.kind.value}, key={self.key} "
            f"(counts = {counts}, podDomains = {pod_domains}, "
            f"nodeDomains = {node_domains}"
        )


_SHOWN: Final = 25
