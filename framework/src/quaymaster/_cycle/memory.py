"""What is remembered of earlier pods, for pods that plugins cannot tell from them.

A plugin that signs pods and answers for one node at a time is asked only once per
signature and node, until the node changes. A pod's *signature* is made of what each
such plugin says by ``sign_pod``; pods of one template have the same.
"""

import itertools
from collections.abc import Hashable, Sequence
from typing import Final

import attrs

from quaymaster._cycle.crowding import CrowdMemo
from quaymaster._cycle.diagnosis import Rejections
from quaymaster._cycle.filter_call import FilterCall
from quaymaster._cycle.filter_memo import FilterMemo
from quaymaster._cycle.prepared import Prepared
from quaymaster._cycle.score_call import ScoreCall
from quaymaster._cycle.score_memo import ScoreMemo
from quaymaster._runtime import HookFunction, Profile
from quaymaster.arrays import Rows
from quaymaster.node_table import NodeTable
from quaymaster.objects import Pod

__all__ = ["FilterPlan", "Memory", "Recalled"]

_BYTES: Final = 64 << 20
_BYTES_PER_NODE: Final = 16
_FEWEST: Final = 16
_NUMBERS: Final = itertools.count()


class FilterPlan:
    """A profile's filters, for one signature.

    Args:
        steps: In profile order, without those that skip the pod.

    Attributes:
        steps: The same.
        memos: Those of them that are remembered.
        passing: The rows that passed last, of all rows; else None.
        rejections: What others said then that are not remembered; None if they judged
            some rows one by one.
        crowd: What was said of nodes with nominated pods.
    """

    __slots__ = ("crowd", "memos", "passing", "rejections", "steps")

    def __init__(self, steps: Sequence[FilterCall | FilterMemo]) -> None:
        self.steps = steps
        self.memos = [step for step in steps if isinstance(step, FilterMemo)]
        self.passing: Rows | None = None
        self.rejections: list[Rejections] | None = None
        self.crowd = CrowdMemo()

    def note(self, rejections: Rejections | None) -> None:
        """Note what another filter has said; None if of some rows, one by one."""
        if rejections is None:
            self.rejections = None
        elif self.rejections is not None:
            self.rejections.append(rejections)


@attrs.define(eq=False)
class Recalled:
    """All that is remembered for one signature; stations fill it in as they go.

    Attributes:
        plugins: The plugins that signed the pod.
        pre_filter: What they said at PreFilter.
        filters: What they said of each node.
        pre_score: What they said at PreScore.
        scores: How they scored each node.
        live_scores: The scores that are asked for in each cycle.
        is_forgotten: Whether it had to make room for others.
    """

    plugins: frozenset[str]
    pre_filter: Prepared | None = None
    filters: FilterPlan | None = None
    pre_score: Prepared | None = None
    scores: ScoreMemo | None = None
    live_scores: Sequence[ScoreCall] = ()
    is_forgotten: bool = False

    def forget(self) -> None:
        """Let go of everything."""
        self.is_forgotten = True
        self.pre_filter = self.filters = self.pre_score = self.scores = None


class Memory:
    """The signatures of one profile's pods; the oldest are forgotten first.

    Args:
        profile: The profile.
        nodes: The columns of all nodes.
    """

    def __init__(self, profile: Profile, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._names: Sequence[str] = list(profile.remembered)
        self._signs: Sequence[HookFunction] = [
            profile.sign[name] for name in self._names
        ]
        self._known: dict[tuple[Hashable, ...], Recalled] = {}
        self._key = f"quaymaster.recalled.{next(_NUMBERS)}"

    def recall(self, pod: Pod) -> Recalled | None:
        """What is remembered for a pod's signature; None if no plugin signs it."""
        known = pod.spec.__dict__.get(self._key)
        if known is not None:
            like, recalled = known
            if _is_like(pod, like) and not recalled.is_forgotten:
                return recalled  # type: ignore[no-any-return]
        recalled = self._recall(pod)
        if recalled is not None:
            pod.spec.__dict__[self._key] = pod, recalled
        return recalled

    def _recall(self, pod: Pod) -> Recalled | None:
        try:
            signature = tuple([sign(pod) for sign in self._signs])
            hash(signature)  # which looking it up does not do as long as none is known
            recalled = self._known.pop(signature, None)
        except Exception:  # a plugin's; it is asked anew, for what it can sign
            signature = tuple([_signed(sign, pod) for sign in self._signs])
            recalled = self._known.pop(signature, None)
        if recalled is None:
            recalled = self._new(signature)
            if recalled is None:
                return None
        self._known[signature] = recalled
        return recalled

    def _new(self, signature: tuple[Hashable, ...]) -> Recalled | None:
        plugins = frozenset(
            name
            for name, fragment in zip(self._names, signature, strict=True)
            if fragment is not None
        )
        if not plugins:
            return None
        size = _BYTES_PER_NODE * max(1, len(self._nodes))
        while len(self._known) >= max(_FEWEST, _BYTES // size):
            self._known.pop(next(iter(self._known))).forget()
        return Recalled(plugins)


def _is_like(pod: Pod, other: Pod) -> bool:
    """Whether pods of one spec differ in nothing that a plugin may sign them by."""
    mine, its = pod.metadata, other.metadata
    return (
        pod.status == other.status
        and pod.node_name == other.node_name
        and mine.namespace == its.namespace
        and mine.labels == its.labels
        and mine.annotations == its.annotations
        and mine.owner_references == its.owner_references
    )


def _signed(sign: HookFunction, pod: Pod) -> Hashable:
    """A plugin's fragment; None, which remembers nothing, if it gives none of use."""
    try:
        fragment: Hashable = sign(pod)
        hash(fragment)
    except Exception:
        return None
    return fragment
