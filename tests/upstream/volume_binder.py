"""Plays calls of tests to the binder of volumes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from quaymaster import ApiObject, Node, Pod
from quaymaster.errors import QuaymasterError
from quaymaster.objects import PersistentVolume, PersistentVolumeClaim
from quaymaster_volume_binding import VolumeBinding, VolumePlan
from quaymaster_volume_binding.assume_cache import OutOfSyncError
from quaymaster_volume_binding.binding import (
    BindingError,
    Reservation,
    WrittenBindings,
)
from quaymaster_volume_binding.finder import Finder
from quaymaster_volume_binding.lookup import Lookup
from quaymaster_volume_binding.plans import StaticBinding
from quaymaster_volume_binding.pod_claims import (
    ClaimError,
    PodClaims,
    are_all_bound,
    claims_of,
)
from tests.kit.internals.testing import (
    CallNotPlayedError,
    Json,
    RecordedCase,
    RecordedPlayer,
    object_from,
)

__all__ = ["VolumeBinderPlayer"]

_OWNER: Final = "an owner reference without a uid, which an API server rejects"
_NO_BINDINGS: Final = "null instead of an empty list: lists are never None here"
_NO_ANNOTATIONS: Final = (
    "the record has the same for empty annotations and none, with other errors"
)


class VolumeBinderPlayer(RecordedPlayer):
    """The part of VolumeBinding that finds volumes.

    Args:
        case: The case.
    """

    def __init__(self, case: RecordedCase) -> None:
        super().__init__(VolumeBinding, case)
        self._lookup = Lookup(self.handle.informers)
        objects = case.tree.get("objects", {})
        self._has_objects = bool(objects)
        self._has_owners_without_uid = any(
            not reference.uid
            for claim in self.handle.informers.list(PersistentVolumeClaim)
            for reference in claim.metadata.owner_references
        )
        for kind in (Node, Pod):
            for tree in objects.get(kind.kind, ()):
                self._informers.put(object_from(tree, kind))

    def play(self, call: Json) -> Json:
        """See `RecordedPlayer.play`."""
        name = call["call"]
        if "cluster" in call:
            raise CallNotPlayedError("the cluster changes between calls")
        return {"results": _BINDER_PLAYS[name](self, call["in"])}

    def claims(self, call: Sequence[Any]) -> Sequence[Any]:
        """Play GetPodVolumeClaims."""
        if self._has_owners_without_uid:
            raise CallNotPlayedError(_OWNER)
        try:
            claims = claims_of(self._lookup, self._pod_of(call[0]))
            kinds = PodClaims.sort(self._lookup, claims)
        except ClaimError as error:
            return [{}, {"error": _words_of_binder(error)}]
        except ValueError as error:
            return [{}, {"error": str(error)}]
        names = {"boundClaims": {own.claim.key for own in kinds.bound}}
        if not kinds.has_immediate:
            # Otherwise the attempt ends, and the delayed claims do not matter.
            delayed = (*kinds.selected, *kinds.open)
            names["unboundClaimsDelayBinding"] = {own.claim.key for own in delayed}
            names["unboundClaimsImmediate"] = set()
        trees = {
            field: [_named(claim) for claim in claims if claim.key in keys]
            for field, keys in names.items()
        }
        return [trees, None]

    def volumes(self, call: Sequence[Any]) -> Sequence[Any]:
        """Play FindPodVolumes."""
        _, trees, node_tree = call
        claims = [
            _claim(tree)
            for field in ("boundClaims", "unboundClaimsDelayBinding")
            for tree in (trees or {}).get(field) or ()
        ]
        node = object_from(node_tree["Node"], Node)
        finder = Finder(self._lookup, PodClaims.sort(self._lookup, claims))
        try:
            plan = finder.find(node.name, node.labels)
        except QuaymasterError as error:
            return [{}, None, {"error": str(error)}]
        if not isinstance(plan, VolumePlan):
            return [{}, sorted(plan), None]
        bindings = [
            {"pv": _named(binding.volume), "pvc": _named(binding.claim)}
            for binding in plan.static
        ]
        provisions = [{"PVC": _named(claim)} for claim in plan.provision]
        found = {"StaticBindings": bindings, "DynamicProvisions": provisions}
        return [found, None, None]

    def assume(self, call: Sequence[Any]) -> Sequence[Any]:
        """Play AssumePodVolumes."""
        argument, node_name, volumes = call
        if are_all_bound(self._lookup, self._pod_of(argument)):
            return [True, None]
        volumes = volumes or {}
        plan = VolumePlan(
            list(map(_binding, volumes.get("StaticBindings") or ())),
            [_claim(tree["PVC"]) for tree in volumes.get("DynamicProvisions") or ()],
        )
        try:
            Reservation.assume(self._lookup, plan, node_name)
        except OutOfSyncError as error:
            return [False, {"error": str(error)}]
        return [False, None]

    def check(self, call: Sequence[Any]) -> Sequence[Any]:
        """Play checkBindings."""
        argument, bindings, claims = call
        if not self._has_objects:
            raise CallNotPlayedError("the record lacks the objects of the cluster")
        if bindings is None or claims is None:
            raise CallNotPlayedError(_NO_BINDINGS)
        written = WrittenBindings(
            list(map(_binding, bindings)), list(map(_claim, claims))
        )
        self._check_annotations(written)
        pod = self._pod_of(argument)
        try:
            return [written.are_complete(self.handle, self._lookup, pod), None]
        except BindingError as error:
            return [False, {"error": str(error)}]

    def _check_annotations(self, written: WrittenBindings) -> None:
        for claim in written.claims:
            stored = self.handle.informers.get(PersistentVolumeClaim, claim.key)
            if stored is not None and not stored.annotations:
                raise CallNotPlayedError(_NO_ANNOTATIONS)


def _words_of_binder(error: ClaimError) -> str:
    """Return the text of an error as the binder has it, which checks again.

    PreFilter checks the same before, with other words for a missing claim.
    """
    key = error.missing
    if key is None:
        return str(error)
    return f'error getting PVC "{key}": persistentvolumeclaims "{key}" not found'


def _claim(tree: Json) -> PersistentVolumeClaim:
    return object_from(tree["PersistentVolumeClaim"], PersistentVolumeClaim)


def _binding(tree: Json) -> StaticBinding:
    volume = object_from(tree["pv"]["PersistentVolume"], PersistentVolume)
    return StaticBinding(_claim(tree["pvc"]), volume)


def _named(obj: ApiObject) -> Json:
    return {obj.kind: {"metadata": {"name": obj.name}}}


_BINDER_PLAYS: Final[
    Mapping[str, Callable[[VolumeBinderPlayer, Sequence[Any]], Sequence[Any]]]
] = {
    "AssumePodVolumes": VolumeBinderPlayer.assume,
    "FindPodVolumes": VolumeBinderPlayer.volumes,
    "GetPodVolumeClaims": VolumeBinderPlayer.claims,
    "checkBindings": VolumeBinderPlayer.check,
}
