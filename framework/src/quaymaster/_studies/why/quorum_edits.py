"""Changes of a PodGroup: a lower quorum."""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.groups import (
    GangSchedulingPolicy,
    PodGroup,
    PodGroupSchedulingPolicy,
)
from quaymaster._base.errors import counted
from quaymaster._studies.why.changes import (
    Candidate,
    ChangeKind,
    FieldChange,
    SuggestedChange,
)

__all__ = ["lowered_quorums"]

_PATH: Final = "spec.schedulingPolicy.gang.minCount"


def lowered_quorums(
    group: PodGroup, pods: int, objects: Sequence[ApiObject]
) -> Iterator[Candidate]:
    """Offer to lower the quorum of a group, to the number of its pods at most.

    A group that a controller keeps up to date is left alone, since the controller would
    restore its quorum.

    Args:
        group: The group, as it is in the cluster.
        pods: The number of its pods.
        objects: The input; only a group in it can be changed.
    """
    gang = group.spec.scheduling_policy.gang
    is_given = any(_is(obj, group) for obj in objects)
    if gang is None or not is_given or group.metadata.controller is not None:
        return
    levels = min(pods, gang.min_count - 1)
    if levels > 0:
        yield Candidate(
            kind=ChangeKind.MIN_COUNT,
            levels=levels,
            at=lambda level: _lowered(group, gang.min_count, level + 1),
        )


def _lowered(group: PodGroup, old: int, new: int) -> SuggestedChange:
    spec = {"schedulingPolicy": {"gang": {"minCount": new}}}
    patch = json.dumps({"spec": spec}, separators=(",", ":"))
    return SuggestedChange(
        kinds=(ChangeKind.MIN_COUNT,),
        text=f"lower minCount of podgroup/{group.name} from {old} to {new}, if it can "
        f"start with {counted(new, 'pod')}",
        fields=(
            FieldChange(
                object=f"podgroup/{group.name}",
                namespace=group.namespace,
                path=_PATH,
                old=str(old),
                new=str(new),
            ),
        ),
        command=f"kubectl patch podgroup.scheduling.k8s.io {group.name} "
        f"-n {group.namespace} --type=merge -p '{patch}'",
        apply=partial(_applied, group=group, new=new),
    )


def _applied(
    objects: Sequence[ApiObject], group: PodGroup, new: int
) -> list[ApiObject]:
    return [_edited(obj, new) if _is(obj, group) else obj for obj in objects]


def _edited(obj: ApiObject, new: int) -> ApiObject:
    assert isinstance(obj, PodGroup), "compared before"
    policy = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=new))
    return replace(obj, spec=replace(obj.spec, scheduling_policy=policy))


def _is(obj: ApiObject, group: PodGroup) -> bool:
    return (
        isinstance(obj, PodGroup)
        and obj.name == group.name
        and (obj.namespace or "default") == group.namespace
    )
