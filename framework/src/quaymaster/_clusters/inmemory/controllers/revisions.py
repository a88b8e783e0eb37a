"""The templates of workloads, and the template of each pod.

Mirrors the ControllerRevisions of ``pkg/controller/history`` (Kubernetes v1.36), but
starts empty in each cluster: all loaded pods are assumed to have the first template,
whatever hash another cluster gave them.
"""

from collections.abc import Mapping

from quaymaster._api.objects import PodTemplateSpec
from quaymaster._api.objects.codec import ENCODER
from quaymaster._clusters.inmemory.names import safe_hash

__all__ = ["REVISION_LABEL", "History", "Revisions"]

REVISION_LABEL = "controller-revision-hash"


class History:
    """The templates of one workload by their hashes.

    Attributes:
        current: The hash that all pods had when they were last equal.
        newest: The hash of the current template.
        current_replicas: How many pods of the hash `current` there were at the last
            sync; only for StatefulSets.
    """

    __slots__ = ("_first", "_templates", "current", "current_replicas", "newest")

    def __init__(self, revision: str, template: PodTemplateSpec) -> None:
        self._first = revision
        self._templates = {revision: template}
        self.current = revision
        self.newest = revision
        self.current_replicas = 0

    def add(self, revision: str, template: PodTemplateSpec) -> None:
        """Record the newest template."""
        self._templates[revision] = template
        self.newest = revision

    def template(self, revision: str) -> PodTemplateSpec:
        """Return the template of a hash."""
        return self._templates[revision]

    def of(self, labels: Mapping[str, str]) -> str:
        """Return the hash of the template that a pod with these labels was made of."""
        # StatefulSets put their name before the hash, and DaemonSets do not.
        revision = labels.get(REVISION_LABEL, "").rpartition("-")[2]
        # A hash of another cluster is not in the history, as Go computes it from
        # another encoding.
        return revision if revision in self._templates else self._first


class Revisions:
    """The histories of all workloads of a kind, by their uids."""

    def __init__(self) -> None:
        self._by_owner: dict[str, History] = {}

    def note(self, uid: str, template: PodTemplateSpec) -> History:
        """Record the newest template of a workload, and return its history."""
        # The encoded template, not its identity: applying an equal template again must
        # not begin an update.
        revision = safe_hash(ENCODER.encode(template))
        history = self._by_owner.get(uid)
        if history is None:
            history = self._by_owner[uid] = History(revision, template)
        if history.newest != revision:
            history.add(revision, template)
        return history

    def forget(self, uid: str) -> None:
        """Drop the history of a removed workload."""
        self._by_owner.pop(uid, None)
