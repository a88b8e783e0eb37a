"""A plugin whose objects have several owners, and mistakes in their references."""

from collections.abc import Sequence
from typing import ClassVar

from msgspec.structs import replace

from quaymaster import ApiObject, Pod, hookimpl
from quaymaster.cluster import ApiError, Verb, Write
from quaymaster.objects import ObjectMeta, OwnerReference
from quaymaster.testing import clusters, make_job, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["OWN", "OWNER_MISTAKES", "Owners"]

LABEL = "example.com/owned"
JOB = make_job(name="job")


class Deed(ApiObject, frozen=True, kw_only=True):
    """An object of a pod, of its node and of the owners of the pod."""

    api_version: ClassVar[str] = "example.com/v1"
    kind: ClassVar[str] = "Deed"
    plural: ClassVar[str] = "deeds"


class GlobalDeed(Deed, frozen=True, kw_only=True):
    """A deed without a namespace."""

    kind: ClassVar[str] = "GlobalDeed"
    plural: ClassVar[str] = "globaldeeds"
    namespaced: ClassVar[bool] = False


def reference_to(owner: ApiObject) -> OwnerReference:
    """Return the reference to an owner."""
    return OwnerReference(
        api_version=owner.api_version, kind=owner.kind, name=owner.name, uid=owner.uid
    )


class Owners(Plugin):
    """Correct: all owners are those that the cluster has."""

    kinds: ClassVar[Sequence[type[ApiObject]]] = (Deed,)
    reads = ()
    writes: ClassVar[Sequence[Write]] = (Write(Verb.CREATE, Deed),)
    blocks = False

    @hookimpl
    def post_filter(self, pod: Pod) -> None:
        if LABEL in pod.labels:
            deed = self.new_deed(pod)
            self.handle.run_in_background(lambda: self.create(deed), self.created)

    def create(self, deed: Deed) -> None:
        """Create a deed, if there is none yet."""
        try:
            self.handle.cluster.create(deed)
        except ApiError:
            return

    def created(self, _result: object) -> None:
        """Take the result."""

    def new_deed(self, pod: Pod) -> Deed:
        """Return the deed of a pod."""
        return Deed(metadata=self.metadata(pod))

    def metadata(self, pod: Pod) -> ObjectMeta:
        """Return the metadata of a deed."""
        return ObjectMeta(
            name=pod.name, namespace=pod.namespace, owner_references=self.owners(pod)
        )

    def owners(self, pod: Pod) -> tuple[OwnerReference, ...]:
        """Return the owners: the pod, its first node, and the owners of the pod."""
        nodes = [reference_to(info.node) for info in self.handle.snapshot]
        own = self.own_reference(pod)
        return (own, *nodes[:1], *pod.metadata.owner_references)

    def own_reference(self, pod: Pod) -> OwnerReference:
        """Return the reference to the pod."""
        return reference_to(pod)


class OwnersOfCore(Owners):
    def own_reference(self, pod: Pod) -> OwnerReference:
        return replace(reference_to(pod), api_version="core/v1")


class OwnersInThePlural(Owners):
    def own_reference(self, pod: Pod) -> OwnerReference:
        return replace(reference_to(pod), kind="pods")


class OwnersByKeys(Owners):
    def own_reference(self, pod: Pod) -> OwnerReference:
        return replace(reference_to(pod), name=pod.key)


class OwnersWithKeysForUids(Owners):
    def own_reference(self, pod: Pod) -> OwnerReference:
        return replace(reference_to(pod), uid=pod.key)


class NodesAsPods(Owners):
    def owners(self, pod: Pod) -> tuple[OwnerReference, ...]:
        own, *others = super().owners(pod)
        return (own, *(replace(each, kind=Pod.kind) for each in others))


class OwnersElsewhere(Owners):
    def metadata(self, pod: Pod) -> ObjectMeta:
        name = f"{pod.namespace}-{pod.name}"
        return replace(super().metadata(pod), name=name, namespace="deeds")


class OwnersOfGlobals(Owners):
    kinds: ClassVar[Sequence[type[ApiObject]]] = (GlobalDeed,)
    writes: ClassVar[Sequence[Write]] = (Write(Verb.CREATE, GlobalDeed),)

    def new_deed(self, pod: Pod) -> Deed:
        return GlobalDeed(metadata=replace(self.metadata(pod), namespace=""))


OWN = clusters(pods=pods({"labels": {LABEL: ""}}, {"owner": JOB}))
OWNER_MISTAKES: Sequence[Mistake] = tuple(
    Mistake(plugin, ["owners"], OWN)
    for plugin in (
        OwnersOfCore,
        OwnersInThePlural,
        OwnersByKeys,
        OwnersWithKeysForUids,
        NodesAsPods,
        OwnersElsewhere,
        OwnersOfGlobals,
    )
)
