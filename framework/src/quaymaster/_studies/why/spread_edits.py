"""Changes of topology spread constraints."""

from collections.abc import Iterator
from functools import partial
from typing import Final

import msgspec

from quaymaster._api.objects import PodSpec, TopologySpreadConstraint
from quaymaster._studies.why.changes import Candidate, ChangeKind, SuggestedChange
from quaymaster._studies.why.editing import Editing

__all__ = ["changed_policies", "relaxed_spreading"]

_SKEWS: Final = 4
"""How far a maximal skew is raised at most; beyond, it is no longer required."""
_HONOR: Final = "Honor"
_REVISION: Final = "pod-template-hash"


def changed_policies(editing: Editing, spec: PodSpec) -> Iterator[Candidate]:
    """Offer to leave out nodes with taints, and pods of other revisions.

    The maintainers of the scheduler advise both (kubernetes#106396, #116118 and
    #121284). By default, nodes that a pod cannot use count as domains, and pods of a
    Deployment's older revisions count as well.
    """
    for index, constraint in enumerate(spec.topology_spread_constraints):
        if constraint.when_unsatisfiable != "DoNotSchedule":
            continue
        if constraint.node_taints_policy != _HONOR:
            yield _honoring(editing, constraint, index)
        # Only the ReplicaSets of Deployments label their pods with a hash of the
        # template.
        if editing.subject.kind == "Deployment" and not constraint.match_label_keys:
            yield _of_one_revision(editing, constraint, index)


def _honoring(
    editing: Editing, constraint: TopologySpreadConstraint, index: int
) -> Candidate:
    key, old = constraint.topology_key, constraint.node_taints_policy or ""
    return editing.candidate(
        ChangeKind.TAINTS_POLICY,
        f"do not count nodes whose taints {editing.subject} does not tolerate when it "
        f"spreads over {key}",
        editing.field(_path(index, "nodeTaintsPolicy"), old, _HONOR),
        partial(_changed, index=index, changes={"node_taints_policy": _HONOR}),
    )


def _of_one_revision(
    editing: Editing, constraint: TopologySpreadConstraint, index: int
) -> Candidate:
    return editing.candidate(
        ChangeKind.MATCH_LABEL_KEYS,
        f"do not count pods of older revisions when {editing.subject} spreads over "
        f"{constraint.topology_key}",
        editing.field(_path(index, "matchLabelKeys"), "", f"[{_REVISION}]"),
        partial(_changed, index=index, changes={"match_label_keys": (_REVISION,)}),
    )


def _path(index: int, field: str) -> str:
    return f"topologySpreadConstraints[{index}].{field}"


def _changed(spec: PodSpec, *, index: int, changes: dict[str, object]) -> PodSpec:
    constraints = list(spec.topology_spread_constraints)
    constraints[index] = msgspec.structs.replace(constraints[index], **changes)
    return msgspec.structs.replace(spec, topology_spread_constraints=tuple(constraints))


def relaxed_spreading(editing: Editing, spec: PodSpec) -> Iterator[Candidate]:
    """Offer a larger skew for each constraint, and to require it no longer."""
    for index, constraint in enumerate(spec.topology_spread_constraints):
        if constraint.when_unsatisfiable != "DoNotSchedule":
            continue
        yield Candidate(
            kind=ChangeKind.SPREADING,
            levels=_SKEWS + 1,
            at=partial(_relaxed, editing, constraint, index),
        )


def _relaxed(
    editing: Editing, constraint: TopologySpreadConstraint, index: int, level: int
) -> SuggestedChange:
    """Drop the requirement at the first level; raise the skew at the others."""
    old, key = constraint.max_skew, constraint.topology_key
    if level:
        new = old + _SKEWS + 1 - level
        changes: dict[str, object] = {"max_skew": new}
        text = (
            f"let {editing.subject} spread over {key} with a skew of {new}, not {old}"
        )
        field = editing.field(_path(index, "maxSkew"), str(old), str(new))
    else:
        changes = {"when_unsatisfiable": "ScheduleAnyway"}
        text = f"do not require that {editing.subject} spreads over {key}"
        whole = "DoNotSchedule", "ScheduleAnyway"
        field = editing.field(_path(index, "whenUnsatisfiable"), *whole)
    return SuggestedChange(
        kinds=(ChangeKind.SPREADING,),
        text=text,
        fields=(field,),
        apply=editing.apply(partial(_changed, index=index, changes=changes)),
    )
