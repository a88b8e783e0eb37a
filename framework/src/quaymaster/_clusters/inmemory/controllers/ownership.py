"""The owners of pods, and the adoption of pods without an owner.

A pod belongs to the owner whose uid its controller reference has. Two kinds of pods are
adopted, by a change of that reference. First, pods whose reference has another uid than
the owner of that name, if the owner or the reference was loaded without a uid (as in
manifests made from a dump). Second, pods without a controller that an owner selects, as
in upstream's ``PodControllerRefManager`` (Kubernetes v1.36,
``pkg/controller/controller_ref_manager.go``).
"""

from collections import defaultdict
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    DaemonSet,
    Deployment,
    Job,
    OwnerReference,
    Pod,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from quaymaster._api.objects.selectors import (
    Selector,
    compile_label_selector,
    selector_from_labels,
)
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.pods import owner_reference

__all__ = ["OWNER_KINDS", "OwnerId", "Ownership", "selector_of"]

PodOwner: TypeAlias = ReplicaSet | ReplicationController | StatefulSet | DaemonSet | Job

OWNER_KINDS: Final = (ReplicaSet, ReplicationController, StatefulSet, DaemonSet, Job)
"""The kinds that own pods."""


class OwnerId(NamedTuple):
    """Kind and key of an owner."""

    kind: type[ApiObject]
    key: str


class Ownership:
    """All owners by uid, and the pods that wait to be adopted.

    Args:
        cluster: The cluster.

    Attributes:
        adoptions: The keys of pods, and the owners that `adopt` will write into them.
    """

    def __init__(self, cluster: ClusterAccess) -> None:
        self._cluster = cluster
        self._pods = cluster.objects(Pod)
        self._owners: dict[str, OwnerId] = {}
        self._selectors: defaultdict[str, dict[OwnerId, Selector]] = defaultdict(dict)
        # By namespace: the keys of pods without a controller.
        self._orphans: defaultdict[str, dict[str, None]] = defaultdict(dict)
        # By kind and namespace, then by the name of a controller whose uid no owner
        # has: the keys of its pods.
        self._strangers: defaultdict[tuple[str, str], dict[str, dict[str, None]]]
        self._strangers = defaultdict(dict)
        self.adoptions: list[tuple[str, OwnerId]] = []

    def get(self, uid: str) -> OwnerId | None:
        """Return the owner of that uid, or None."""
        return self._owners.get(uid)

    def owner_added(self, owner: ApiObject) -> None:
        """Add an owner, and find pods that it may adopt."""
        identity = OwnerId(type(owner), owner.key)
        self._owners[owner.uid] = identity
        if isinstance(owner, OWNER_KINDS):
            for pod in self.strangers_of(owner.kind, owner.namespace, owner.name):
                self._consider_stranger(pod, owner)
            by_name = self._strangers.get((owner.kind, owner.namespace), {})
            # From now on, the owner is found by its name, so these pods no longer wait
            # for it.
            by_name.pop(owner.name, None)
            selector = selector_of(owner)
            self._selectors[owner.namespace][identity] = selector
            for key in self._orphans.get(owner.namespace, ()):
                self._consider_orphan(self._pods[key], identity, selector)

    def owner_removed(self, owner: ApiObject) -> None:
        """Remove an owner."""
        self._owners.pop(owner.uid, None)
        self._selectors[owner.namespace].pop(OwnerId(type(owner), owner.key), None)

    def orphan_added(self, pod: Pod) -> None:
        """Add a pod without a controller."""
        namespace = pod.metadata.namespace
        self._orphans[namespace][pod.key] = None
        for identity, selector in self._selectors.get(namespace, {}).items():
            # The first selector that matches wins. Upstream's controllers race, and the
            # result depends on which one is faster.
            if self._consider_orphan(pod, identity, selector):
                return

    def orphan_removed(self, pod: Pod) -> None:
        """Remove a pod that was deleted or has a controller now."""
        self._orphans[pod.metadata.namespace].pop(pod.key, None)

    def stranger_added(self, pod: Pod, reference: OwnerReference) -> None:
        """Add a pod whose controller's uid no owner has."""
        namespace = pod.metadata.namespace
        for kind in OWNER_KINDS:
            if kind.kind == reference.kind:
                owner = self._cluster.objects(kind).get(f"{namespace}/{reference.name}")
                if owner is not None:
                    self._consider_stranger(pod, owner)
                    return
        by_name = self._strangers[reference.kind, namespace]
        by_name.setdefault(reference.name, {})[pod.key] = None

    def stranger_removed(self, pod: Pod, reference: OwnerReference) -> None:
        """Remove a pod that was deleted or has an owner now."""
        by_name = self._strangers.get((reference.kind, pod.metadata.namespace))
        if by_name and reference.name in by_name:
            by_name[reference.name].pop(pod.key, None)

    def strangers_of(self, kind: str, namespace: str, name: str) -> list[Pod]:
        """Return the pods that name this controller with a uid that no owner has."""
        keys = self._strangers.get((kind, namespace), {}).get(name, ())
        return [self._pods[key] for key in keys]

    def unknown_owners(self, kind: str, namespace: str) -> list[str]:
        """Return the names of controllers that are missing although they have pods."""
        by_name = self._strangers.get((kind, namespace), {})
        return [name for name, keys in by_name.items() if keys]

    def adopt(self) -> bool:
        """Write the new owners into their pods; return whether there were any."""
        adoptions, self.adoptions = self.adoptions, []
        for pod_key, identity in adoptions:
            pod = self._pods.get(pod_key)
            owner = self._cluster.objects(identity.kind).get(identity.key)
            if pod is not None and owner is not None:
                self._adopt(pod, owner)
        return bool(adoptions)

    def _adopt(self, pod: Pod, owner: ApiObject) -> None:
        metadata = pod.metadata
        current = metadata.controller
        # Another owner may have adopted it since it was considered.
        if current is not None and current.uid in self._owners:
            return
        # Identity: `current` is one of these objects.
        others = tuple(r for r in metadata.owner_references if r is not current)
        references = (owner_reference(owner), *others)
        metadata = replace(metadata, owner_references=references)
        self._cluster.change(pod, replace(pod, metadata=metadata))

    def _consider_stranger(self, pod: Pod, owner: ApiObject) -> None:
        reference = pod.metadata.controller
        if reference is not None and (
            # If the reference has a uid, only an owner without a uid of its own may
            # take the pod: else the pod belongs to an earlier object of the same name.
            not reference.uid or self._cluster.names.has_made(owner.uid)
        ):
            self.adoptions.append((pod.key, OwnerId(type(owner), owner.key)))

    def _consider_orphan(self, pod: Pod, identity: OwnerId, selector: Selector) -> bool:
        is_adoptable = (
            not pod.is_finished
            and not pod.is_terminating
            and selector.matches(pod.metadata.labels)
            # The names of a set's pods have a meaning, so a pod of another name cannot
            # be one (``isMemberOf``).
            and (identity.kind is not StatefulSet or _is_member(pod, identity.key))
        )
        if is_adoptable:
            self.adoptions.append((pod.key, identity))
        return is_adoptable


def selector_of(owner: PodOwner | Deployment) -> Selector:
    """Return the selector of the pods that an owner may adopt."""
    if isinstance(owner, ReplicationController):
        return selector_from_labels(owner.spec.selector)
    return compile_label_selector(owner.spec.selector)


def _is_member(pod: Pod, set_key: str) -> bool:
    parent, _, ordinal = pod.key.rpartition("-")
    return parent == set_key and ordinal.isdecimal()
