"""How many pods of some kind there are on each node, and in each topology domain.

Every `Snapshot` has a `PodCounts`, open to every plugin::

    query = PodQuery(selector=selector, namespaces=frozenset({pod.namespace}))
    group = handle.snapshot.counts.pods(query)
    zones = handle.snapshot.counts.domains("topology.kubernetes.io/zone")
    per_zone = group.by_domain(zones)
    per_zone.array()[zones.number("eu-west-1a")]

A question is answered by a count of all pods the first time it is asked; from then on
the answer is kept up to date as pods and nodes come, change and go. Pods that no
question is about cost next to nothing, however many questions there are. What is handed
out is live: ask again in each scheduling cycle, or `Kept` does, and never write to it.
"""

from quaymaster._counting.carried import CarriedTerm, CarriedTerms, TermsOf
from quaymaster._counting.counts import PodCounts
from quaymaster._counting.groups import DomainCounts, PodGroup, PodQuery
from quaymaster._counting.kept import Kept

__all__ = [
    "CarriedTerm",
    "CarriedTerms",
    "DomainCounts",
    "Kept",
    "PodCounts",
    "PodGroup",
    "PodQuery",
    "TermsOf",
]
