"""Required affinity and anti-affinity: the nodes on which a pod may run.

Mirrors ``preFilterState`` and ``Filter`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/interpodaffinity/filtering.go``).
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from quaymaster import BoolArray, Node, NodeInfo, NodeVerdicts, Pod, Rows, Status
from quaymaster.counting import (
    Domains,
    ExistingPodTerm,
    Namespaces,
    PodCount,
    PodCounts,
    PodQuery,
)
from quaymaster_inter_pod_affinity.hosts import HostVerdicts
from quaymaster_inter_pod_affinity.tally import Tally
from quaymaster_inter_pod_affinity.terms import (
    affinity_terms,
    existing_anti_affinity,
)

__all__ = ["FAR", "NEAR", "UNWELCOME", "FilterState"]

FAR: Final = Status.unresolvable("node(s) didn't match pod affinity rules")
NEAR: Final = Status.unschedulable("node(s) didn't match pod anti-affinity rules")
UNWELCOME: Final = Status.unschedulable(
    "node(s) didn't satisfy existing pods anti-affinity rules"
)
# The first check has the highest code, so that the highest of several codes decides.
_UNWELCOME_CODE, _NEAR_CODE, _FAR_CODE = 1, 2, 3
_UINT8: Final = tuple(map(np.uint8, range(4)))
_STATUSES: Final = (None, UNWELCOME, NEAR, FAR)

Codes = npt.NDArray[np.uint8]


class FilterState:
    """The required terms that concern a pod, with counts of the matching pods.

    Args:
        pod: The pod being scheduled.
        counts: The counts of the snapshot.
        namespaces: The namespaces of the cluster.
    """

    __slots__ = (
        "_affinity",
        "_all_terms",
        "_anti_affinity",
        "_anti_queries",
        "_counts",
        "_existing",
        "_hosts",
        "_is_shared",
        "_keys",
        "_namespace_labels",
        "_pod",
    )

    def __init__(self, pod: Pod, counts: PodCounts, namespaces: Namespaces) -> None:
        terms = affinity_terms(pod)
        self._is_shared = False
        self._pod = pod
        self._counts = counts
        self._namespace_labels: Mapping[str, str] = namespaces.labels_of(pod.namespace)
        self._keys = tuple(dict.fromkeys(term.topology_key for term in terms.affinity))
        self._all_terms: PodQuery | None = None
        self._affinity, self._anti_affinity, self._existing = Tally(), Tally(), Tally()
        if terms.affinity:
            self._all_terms = terms.queries.of(terms.affinity, namespaces)
            group = counts.pods(self._all_terms)
            for key in self._keys:
                self._affinity.add(group.by_domain(counts.domains(key)))
        self._anti_queries: list[tuple[str, PodQuery]] = []
        for term in terms.anti_affinity:
            query = terms.queries.of((term,), namespaces)
            self._anti_queries.append((term.topology_key, query))
            domains = counts.domains(term.topology_key)
            self._anti_affinity.add(counts.pods(query).by_domain(domains))
        existing = counts.existing_terms(existing_anti_affinity)
        for item in existing.about(pod, self._namespace_labels):
            self._add_existing(*item)
        self._hosts = self._host_verdicts()

    def _add_existing(self, existing: ExistingPodTerm, group: PodCount) -> None:
        domains = self._counts.domains(existing.term.topology_key)
        self._existing.add(group.by_domain(domains))

    def clone(self) -> "FilterState":
        """Return a copy to which hypothetical pods can be added."""
        other = FilterState.__new__(FilterState)
        # Copied on writing: nearly all pods are decided without a trial, and then no
        # tally is ever copied.
        self._is_shared = other._is_shared = True
        other._pod = self._pod
        other._counts = self._counts
        other._namespace_labels = self._namespace_labels
        other._keys = self._keys
        other._all_terms = self._all_terms
        other._anti_queries = self._anti_queries
        other._affinity = self._affinity
        other._anti_affinity = self._anti_affinity
        other._existing = self._existing
        other._hosts = self._hosts
        return other

    @property
    def is_idle(self) -> bool:
        """Whether no required term concerns the pod, so that every node passes."""
        return (
            self._all_terms is None
            and not self._anti_queries
            and self._existing.is_empty
        )

    def imagine(self, other: Pod, node: Node, change: int) -> None:
        """Add (1) or remove (-1) a pod on a node."""
        if self._is_shared:
            self._affinity = self._affinity.clone()
            self._anti_affinity = self._anti_affinity.clone()
            self._existing = self._existing.clone()
            self._is_shared = False
        # Verdicts by host do not contain the imagined pods.
        self._hosts = None
        labels, pod = node.metadata.labels, self._pod
        # All terms at once: a pod counts for affinity only if it matches each of them
        # (``podMatchesAllAffinityTerms``).
        if self._all_terms is not None and self._all_terms.matches(other):
            for key in self._keys:
                self._affinity.imagine(key, labels.get(key), change)
        for key, query in self._anti_queries:
            if query.matches(other):
                self._anti_affinity.imagine(key, labels.get(key), change)
        for term in affinity_terms(other).anti_affinity:
            if term.selects(pod.namespace, self._namespace_labels, pod.labels):
                key = term.topology_key
                self._existing.imagine(key, labels.get(key), change)

    def judge(self, node: NodeInfo) -> Status | None:
        """Return the first of three reasons why a node is rejected, or None."""
        # Upstream's order of the three checks, which is visible in the reasons and
        # decides whether preemption is tried.
        if not self._has_affinity(node):
            return FAR
        if _is_near(self._anti_affinity, node):
            return NEAR
        if _is_near(self._existing, node):
            return UNWELCOME
        return None

    def judge_rows(self, rows: Rows) -> NodeVerdicts | None:
        """Filter many nodes with the result of `judge` for each."""
        if self._hosts is not None:
            return NodeVerdicts(self._hosts.codes(rows), _status_of)
        codes: Codes | None = None
        keys = (*self._keys, *self._anti_affinity.keys, *self._existing.keys)
        is_first = bool(self._keys) and self._is_first()
        for key in dict.fromkeys(keys):
            domains = self._counts.domains(key)
            verdicts = self._judge_domains(key, domains, is_first)
            if verdicts is not None:
                more = domains.spread(verdicts, rows)
                codes = _highest(codes, more)
        return None if codes is None else NodeVerdicts(codes, _status_of)

    def _host_verdicts(self) -> HostVerdicts | None:
        """Return verdicts by host, if there is only anti-affinity over host names."""
        groups = [
            *((_UNWELCOME_CODE, counts) for counts in self._existing.groups),
            *((_NEAR_CODE, counts) for counts in self._anti_affinity.groups),
        ]
        if self._all_terms is not None or not groups:
            return None
        domains = groups[0][1].domains
        # Identity: `PodCounts` has one `Domains` for each topology key.
        if domains.is_by_row and all(group.domains is domains for _, group in groups):
            return HostVerdicts(groups)
        return None

    def _judge_domains(
        self, key: str, domains: Domains, is_first: bool
    ) -> Codes | None:
        """Return a verdict for each domain, shape ``(slots,)``, or None if all pass."""
        verdicts: Codes | None = None
        for tally, code in (
            (self._existing, _UNWELCOME_CODE),
            (self._anti_affinity, _NEAR_CODE),
        ):
            array = tally.array(key)
            if array is not None:
                verdicts = _highest(verdicts, _codes(array > 0, code))
        if verdicts is not None:
            # The last slot is of nodes without the label. Anti-affinity never rejects
            # these, and affinity always does.
            verdicts[-1] = 0
        if key in self._keys:
            matched = self._affinity.array(key)
            if is_first:
                far: Codes = np.zeros(domains.slots, dtype=np.uint8)
            elif matched is None:
                far = np.full(domains.slots, _FAR_CODE, dtype=np.uint8)
            else:
                far = _codes(matched <= 0, _FAR_CODE)
            far[-1] = _FAR_CODE
            verdicts = _highest(verdicts, far)
            if domains.unlabelled:
                return verdicts
        if verdicts is None or not verdicts[domains.existing].any():
            return None
        return verdicts

    def _has_affinity(self, node: NodeInfo) -> bool:
        if not self._keys:
            return True
        labels, is_matched = node.labels, True
        for key in self._keys:
            value = labels.get(key)
            if value is None:
                return False
            is_matched = is_matched and self._affinity.at(key, value) > 0
        # After the labels are checked: even the first pod of a group needs the topology
        # key on its node (``satisfyPodAffinity``).
        return is_matched or self._is_first()

    def _is_first(self) -> bool:
        """Return whether the pod is the first of a group with affinity to itself."""
        return (
            self._affinity.is_empty
            and self._all_terms is not None
            and self._all_terms.matches(self._pod)
        )


def _codes(flags: BoolArray, code: int) -> Codes:
    """Return the code where a flag is set, else 0, as a new array."""
    return flags.view(np.uint8) * _UINT8[code]


def _highest(codes: Codes | None, other: Codes) -> Codes:
    return other if codes is None else np.maximum(codes, other)


def _is_near(tally: Tally, node: NodeInfo) -> bool:
    labels = node.labels
    for key in tally.keys:
        value = labels.get(key)
        if value is not None and tally.at(key, value) > 0:
            return True
    return False


def _status_of(code: int) -> Status:
    status = _STATUSES[code]
    assert status is not None
    return status
