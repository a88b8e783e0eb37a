"""Plays calls of tests to the inner parts of plugins."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from quaymaster import ApiObject, Node
from quaymaster.errors import QuaymasterError
from quaymaster.objects import PersistentVolumeClaim
from quaymaster_default_preemption import DefaultPreemption, DefaultPreemptionArgs
from quaymaster_default_preemption.args import candidates_wanted
from quaymaster_volume_binding import VolumeBinding, VolumePlan
from quaymaster_volume_binding.finder import Finder
from quaymaster_volume_binding.lookup import Lookup
from quaymaster_volume_binding.pod_claims import ClaimError, PodClaims, claims_of
from tests.kit.internals.preemption import why_not_eligible
from tests.kit.internals.testing import (
    CallNotPlayedError,
    Json,
    RecordedCase,
    RecordedPlayer,
    RecordedStatuses,
    object_from,
)
from tests.upstream.listed import MISSING_CLAIM

__all__ = ["PreemptionPlayer", "VolumeBinderPlayer"]

_PART_OF: Final = "a step of {}, which is played as a whole"
_OWNER: Final = "upstream's PreFilter checks before that the pod owns its claims"


class PreemptionPlayer(RecordedPlayer):
    """DefaultPreemption, with its steps that are functions of their own here.

    Args:
        case: The case.
        beside: The filters of the profile.
    """

    def __init__(self, case: RecordedCase, beside: Sequence[type]) -> None:
        super().__init__(DefaultPreemption, case, beside=beside)
        args = case.tree.get("args", {})
        self._args = DefaultPreemptionArgs(
            min_candidate_nodes_percentage=args.get("minCandidateNodesPercentage", 10),
            min_candidate_nodes_absolute=args.get("minCandidateNodesAbsolute", 100),
        )

    def play(self, call: Json) -> Json:
        """See `RecordedPlayer.play`."""
        name = call["call"]
        if name == "SelectVictimsOnNode":
            raise CallNotPlayedError(_PART_OF.format("PostFilter"))
        if name == "GetOffsetAndNumCandidates":
            # The offset is random.
            return {"results": [None, candidates_wanted(self._args, call["in"][0])]}
        if name == "PodEligibleToPreemptOthers" and "cluster" not in call:
            return self._eligibility(call)
        return super().play(call)

    def _eligibility(self, call: Json) -> Json:
        argument, status = call["in"]
        absent = status or {"status": {"code": "Success"}}
        statuses = RecordedStatuses({"absentNodesStatus": absent}, self.snapshot.nodes)
        pod = self._pod_of(argument)
        text = why_not_eligible(self.handle, self.state, pod, statuses)
        return {"results": [not text, text]}


class VolumeBinderPlayer(RecordedPlayer):
    """The part of VolumeBinding that finds volumes.

    Args:
        case: The case.
    """

    def __init__(self, case: RecordedCase) -> None:
        super().__init__(VolumeBinding, case)
        self._lookup = Lookup(self.handle.informers)

    def play(self, call: Json) -> Json:
        """See `RecordedPlayer.play`."""
        name = call["call"]
        if name in _STEPS:
            raise CallNotPlayedError(_PART_OF.format(_STEPS[name]))
        if "cluster" in call:
            raise CallNotPlayedError("the cluster changes between calls")
        return {"results": _BINDER_PLAYS[name](self, call["in"])}

    def claims(self, call: Sequence[Json]) -> Sequence[Any]:
        """Play GetPodVolumeClaims."""
        try:
            claims = claims_of(self._lookup, self._pod_of(call[0]))
        except ClaimError as error:
            if "not owner" in str(error):
                raise CallNotPlayedError(_OWNER) from None
            return [{}, {"error": MISSING_CLAIM}]
        kinds = PodClaims.sort(self._lookup, claims)
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

    def volumes(self, call: Sequence[Json]) -> Sequence[Any]:
        """Play FindPodVolumes."""
        _, trees, node_tree = call
        claims = [
            object_from(tree["PersistentVolumeClaim"], PersistentVolumeClaim)
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


def _named(obj: ApiObject) -> Json:
    return {obj.kind: {"metadata": {"name": obj.name}}}


_STEPS: Final = {"AssumePodVolumes": "Reserve", "checkBindings": "PreBind"}

_BINDER_PLAYS: Final[
    Mapping[str, Callable[[VolumeBinderPlayer, Sequence[Json]], Sequence[Any]]]
] = {
    "FindPodVolumes": VolumeBinderPlayer.volumes,
    "GetPodVolumeClaims": VolumeBinderPlayer.claims,
}
