"""Remembers which groups do not fit, so that they need not be tried for ever.

Upstream has a group that does not fit tried again whenever its own pods lose their
nodes, which wakes those that found none: it never comes to rest. Here a group rests
until something has changed.
"""

from collections.abc import Collection

import attrs
from quaymaster import Handle, Pod

from quaymaster_coscheduling.cluster_changes import ClusterChanges
from quaymaster_coscheduling.gangs import Gangs
from quaymaster_coscheduling.pod_group import PodGroup, PodGroupSpec, group_key

__all__ = ["Impasses"]

_LONGEST_SECONDS = 300.0
"""After this long the queue tries any pod again: what another plugin's verdict hangs on
may be in no object."""


@attrs.define(eq=False)
class _Impasse:
    """A group that did not fit.

    Attributes:
        spec: What the group asked for.
        revision: The count of changes at that time.
        holders: The uids of pods of other groups that held nodes, waiting.
        end: When it is forgotten.
        unfit: The uids of the members for which there was no node left.
    """

    spec: PodGroupSpec
    revision: int
    holders: frozenset[str]
    end: float
    unfit: set[str] = attrs.field(factory=set)


class Impasses:
    """The groups that do not fit as things stand.

    Args:
        handle: The framework.
        gangs: The members of groups.
        changes: Detects whether the state is still the same.
    """

    def __init__(self, handle: Handle, gangs: Gangs, changes: ClusterChanges) -> None:
        self._handle = handle
        self._gangs = gangs
        self._changes = changes
        self._known: dict[str, _Impasse] = {}

    def note(self, group: PodGroup, unfit: Collection[Pod]) -> None:
        """Note that some members found no node, those that wait in place."""
        impasse = self._known.get(group.key)
        if impasse is None or not self._stands(impasse, group):
            impasse = self._known[group.key] = _Impasse(
                spec=group.spec,
                revision=self._changes.count,
                holders=self._holders(group.key),
                end=self._handle.clock.now() + _LONGEST_SECONDS,
            )
        impasse.unfit.update(pod.uid for pod in unfit)

    def keys(self) -> Collection[str]:
        """Return the keys of the groups with cached failures."""
        return self._known.keys()

    def forget(self, key: str) -> None:
        """Drop the cached failures of a group."""
        self._known.pop(key, None)

    def is_over(self, group: PodGroup) -> bool | None:
        """Whether things have changed since a group did not fit; None if it never was.

        As long as they have not, its members need not be tried again.
        """
        impasse = self._known.get(group.key)
        return None if impasse is None else not self._stands(impasse, group)

    def refuses(self, group: PodGroup, pod: Pod) -> bool:
        """Whether the cache contains a failure of a pod, or of its whole group."""
        impasse = self._known.get(group.key)
        if impasse is None or not self._stands(impasse, group):
            return False
        unfit = impasse.unfit
        if pod.uid in unfit:
            return True
        pending = self._gangs.pending(group.key)
        left = sum(member.uid not in unfit for member in pending)
        return len(self._gangs.bound(group.key)) + left < group.spec.min_member

    def _stands(self, impasse: _Impasse, group: PodGroup) -> bool:
        return (
            impasse.revision == self._changes.count
            and impasse.spec == group.spec
            and self._handle.clock.now() < impasse.end
            and all(map(self._handle.waiting_pod, impasse.holders))
        )

    def _holders(self, key: str) -> frozenset[str]:
        waiting = self._handle.waiting_pods()
        return frozenset(
            waiting_pod.pod.uid
            for waiting_pod in waiting
            if group_key(waiting_pod.pod) != key
        )
