"""Counts of pods per node and per topology domain.

The snapshot keeps them up to date; a plugin requests the counts that it needs.
"""

from quaymaster._core.state.counting.counts import PodCounts
from quaymaster._core.state.counting.existing_pod_terms import (
    ExistingPodTerm,
    ExistingPodTerms,
    TermsOf,
)
from quaymaster._core.state.counting.per_template import PerTemplate
from quaymaster._core.state.counting.pod_count import DomainCounts, PodCount, PodQuery
from quaymaster._core.state.counting.pod_terms import PodTerm, compile_pod_terms
from quaymaster._core.state.topology import OUTSIDE, DomainMove, Domains, NodeFilter
from quaymaster._kits.indexes.namespaces import Namespaces

__all__ = [
    "OUTSIDE",
    "DomainCounts",
    "DomainMove",
    "Domains",
    "ExistingPodTerm",
    "ExistingPodTerms",
    "Namespaces",
    "NodeFilter",
    "PerTemplate",
    "PodCount",
    "PodCounts",
    "PodQuery",
    "PodTerm",
    "TermsOf",
    "compile_pod_terms",
]
