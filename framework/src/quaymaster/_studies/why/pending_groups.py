"""The reasons why pods are pending: by owner and by cause."""

from collections import Counter

import attrs

from quaymaster._base.displayed import Tabular
from quaymaster._base.notices import Notice
from quaymaster._studies.why.changes import SuggestedChange

__all__ = ["Cause", "CauseCount", "PendingGroup", "PendingSummary"]


@attrs.frozen(kw_only=True)
class Cause:
    """The reason why some nodes were rejected for a pod, or why it was not tried.

    Attributes:
        plugin: The plugin that rejected; empty if none did, or if PreFilter excluded
            the nodes.
        reason: Its message.
        nodes: The number of nodes; 0 if the cause does not concern nodes.
        alone: The number of these nodes that nothing else keeps from the pod.
    """

    plugin: str
    reason: str
    nodes: int
    alone: int = 0


@attrs.frozen(kw_only=True)
class CauseCount:
    """A cause of all groups together.

    Attributes:
        plugin: As in `Cause`.
        reason: As in `Cause`.
        pods: How many pods the cause keeps from some node.
        helped: How many of them have a node that only this cause keeps from them, or
            no other cause. This many pods may get a node once it is removed, if there
            is room.
    """

    plugin: str
    reason: str
    pods: int
    helped: int


@attrs.frozen(kw_only=True)
class PendingGroup:
    """Pending pods of the same owner with the same causes.

    Attributes:
        subject: Their owner in kubectl's notation: ``deployment/web``; or their
            PodGroup, since its pods wait together.
        namespace: Its namespace.
        scheduler: The scheduler name of the pods.
        reason: One word, as in `UnscheduledPod.reason`.
        pods: The keys of the pods, sorted.
        message: Why the first of them has no node, in upstream's words.
        causes: The causes for the first of them: first those that alone keep nodes from
            it, then the most frequent.
        change: The smallest change that places all of them, if requested and found. It
            is the same object for groups that one change places together.
        remarks: Facts about the first of them, as in `Suggestions`, if a change was
            requested.
        facts: The facts of plugins behind the message of the first of them.
    """

    subject: str
    namespace: str
    scheduler: str
    reason: str
    pods: tuple[str, ...]
    message: str
    causes: tuple[Cause, ...]
    change: SuggestedChange | None = None
    remarks: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class PendingSummary(Tabular):
    """The reasons why pods are pending, in groups.

    Attributes:
        groups: The largest first.
        placed: How many pods have got a node.
        kept: How many pods had a node in the input, and still have it.
        nodes: How many nodes there are.
        trials: How many simulations were run to try changes.
        is_complete: Whether all changes were tried; if not, more trials may find more.
        notices: What was left out or assumed.
    """

    groups: tuple[PendingGroup, ...]
    placed: int
    kept: int = 0
    nodes: int
    trials: int = 0
    is_complete: bool = True
    notices: tuple[Notice, ...] = ()

    @property
    def pods(self) -> int:
        """How many pods have no node."""
        return sum(len(group.pods) for group in self.groups)

    @property
    def causes(self) -> tuple[CauseCount, ...]:
        """The causes of all groups: first those whose removal helps most pods."""
        pods: Counter[tuple[str, str]] = Counter()
        helped: Counter[tuple[str, str]] = Counter()
        for group in self.groups:
            for cause in group.causes:
                name = (cause.plugin, cause.reason)
                pods[name] += len(group.pods)
                if cause.alone or len(group.causes) == 1:
                    helped[name] += len(group.pods)
        ordered = sorted(pods, key=lambda name: (-helped[name], -pods[name], name))
        return tuple(
            CauseCount(
                plugin=name[0], reason=name[1], pods=pods[name], helped=helped[name]
            )
            for name in ordered
        )
