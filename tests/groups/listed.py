"""The cases that we answer differently, and why."""

from collections.abc import Mapping
from typing import Final

__all__ = ["NOT_CHECKED"]

_DIFFERENCE: Final = (
    "the message contains the difference of two pods, field by field of Go's types"
)

_OLD_CONDITION: Final = (
    "a second cycle began before the informer had the condition of the first"
)
_ANY_ORDER: Final = (
    "pods that the Job controller creates at once are queued in any order, so the "
    "index that a smaller Job gives up had another node"
)
_BEFORE_DELETIONS: Final = (
    "pods were tried before victims were gone, which upstream deletes in the background"
)
_SHARED_CLAIM: Final = (
    "a pod of the group got a node in the second attempt, and which pods need one is "
    "decided by a race for their claim"
)

NOT_CHECKED: Final[Mapping[str, str]] = {
    **{
        f"api-{gates}-115": _DIFFERENCE
        for gates in ("composite", "core", "jobs", "policy")
    },
    "basic-018": _OLD_CONDITION,
    "jobs-020": _ANY_ORDER,
    "jobs-027": _ANY_ORDER,
    **dict.fromkeys(
        (
            "preempt_of-018",
            "preempt_of-020",
            "preempt_of-021",
            "topology_preempt-000",
            "topology_preempt-012",
        ),
        _BEFORE_DELETIONS,
    ),
    **dict.fromkeys(("claims-004", "claims-006", "claims-018"), _SHARED_CLAIM),
}
