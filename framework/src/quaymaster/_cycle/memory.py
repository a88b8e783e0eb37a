"""What is remembered of earlier pods, for pods that plugins cannot tell from them.

A plugin that signs pods and answers for one node at a time is asked only once per
signature and node, until the node changes. A pod's *signature* is made of what each
such plugin says by ``sign_pod``; pods of one template have the same.
"""

import itertools
import weakref
from collections.abc import Hashable, Iterator, Sequence
from typing import Final

import attrs

from quaymaster._cycle.crowding import CrowdMemo
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

_BYTES: Final = 128 << 20
_BYTES_PER_NODE: Final = 24
_FEWEST: Final = 16
_NUMBERS: Final = itertools.count()


class FilterPlan:
    """A profile's filters, for one signature.

    Args:
        steps: In profile order, without those that skip the pod.

    Attributes:
        steps: The same.
        memos: Those of them that are remembered.
        passing: The rows that passed last, if they were all that what is remembered
            lets pass; else None.
        crowd: What was said of nodes with nominated pods.
    """

    __slots__ = ("crowd", "memos", "passing", "steps")

    def __init__(self, steps: Sequence[FilterCall | FilterMemo]) -> None:
        self.steps = steps
        self.memos = [step for step in steps if isinstance(step, FilterMemo)]
        self.passing: Rows | None = None
        self.crowd = CrowdMemo()


@attrs.define(eq=False)
class Recalled:
    """All that is remembered for one signature; stations fill it in as they go.

    Attributes:
        signature: What they all signed, in the order of `Memory`.
        plugins: The plugins that signed the pod.
        skipping: Those that did, too, but are asked again unless they skip.
        pre_filter: What they said at PreFilter.
        filters: What they said of each node.
        pre_score: What they said at PreScore.
        scores: How they scored each node.
        live_scores: The scores that are asked for in each cycle.
    """

    signature: tuple[Hashable, ...]
    plugins: frozenset[str]
    skipping: frozenset[str]
    pre_filter: Prepared | None = None
    filters: FilterPlan | None = None
    pre_score: Prepared | None = None
    scores: ScoreMemo | None = None
    live_scores: Sequence[ScoreCall] = ()


class Memory:
    """The signatures of one profile's pods; the oldest are forgotten first.

    Args:
        profile: The profile.
        nodes: The columns of all nodes.
    """

    def __init__(self, profile: Profile, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._names: Sequence[str] = [*profile.remembered, *profile.skipping]
        self._remembered = frozenset(profile.remembered)
        self._signs: Sequence[HookFunction] = [
            profile.sign[name] for name in self._names
        ]
        self._telling: Sequence[HookFunction] = [
            profile.sign_telling[name] for name in self._names
        ]
        self._known: dict[tuple[Hashable, ...], Recalled] = {}
        self._key = f"quaymaster.recalled.{next(_NUMBERS)}"

    def recall(self, pod: Pod) -> Recalled | None:
        """What is remembered for a pod's signature; None if no plugin signs it."""
        known = pod.spec.__dict__.get(self._key)
        traits = _traits(pod)
        if known is not None and known[0] == traits:
            recalled: Recalled | None = known[1]()
            if recalled is not None:
                return recalled
        recalled = self._recall(pod)
        if recalled is not None:
            # Specs outlive what is remembered, and whoever remembers it.
            pod.spec.__dict__[self._key] = traits, weakref.ref(recalled)
        return recalled

    def outdated(self, pod: Pod, recalled: Recalled | None) -> Iterator[str]:
        """Where a pod's signature is not what plugins say when they are asked anew."""
        if recalled is None:
            return
        asked = zip(self._names, recalled.signature, self._signs, strict=True)
        for plugin, known, sign in asked:
            fragment = _signed(sign, pod)
            if not _are_equal(fragment, known):
                yield (
                    f"sign_pod of plugin '{plugin}' gives {fragment!r} and gave "
                    f"{known!r}: it is asked once for all pods of a spec, so what it "
                    "gives must depend on the pod alone"
                )

    def _recall(self, pod: Pod) -> Recalled | None:
        try:
            signature = tuple([sign(pod) for sign in self._signs])
            hash(signature)  # which looking it up does not do as long as none is known
            recalled = self._known.pop(signature, None)
        except Exception:  # a plugin's; it is asked anew, for what it can sign
            signature = tuple([_signed(sign, pod) for sign in self._telling])
            recalled = self._known.pop(signature, None)
        if recalled is None:
            recalled = self._new(signature)
            if recalled is None:
                return None
        self._known[signature] = recalled
        return recalled

    def _new(self, signature: tuple[Hashable, ...]) -> Recalled | None:
        signed = frozenset(
            name
            for name, fragment in zip(self._names, signature, strict=True)
            if fragment is not None
        )
        plugins = signed & self._remembered
        if not plugins:
            return None
        size = _BYTES_PER_NODE * max(1, len(self._nodes))
        while len(self._known) >= max(_FEWEST, _BYTES // size):
            del self._known[next(iter(self._known))]
        return Recalled(signature, plugins, signed - plugins)


def _traits(pod: Pod) -> tuple[object, ...]:
    """What plugins may sign a pod by, beside its spec."""
    metadata = pod.metadata
    return (
        pod.status,
        pod.node_name,
        metadata.namespace,
        metadata.labels,
        metadata.annotations,
        metadata.owner_references,
    )


def _are_equal(fragment: Hashable, other: Hashable) -> bool:
    try:
        return bool(fragment == other)
    except Exception:  # a plugin's
        return False


def _signed(sign: HookFunction, pod: Pod) -> Hashable:
    """A plugin's fragment; None, which remembers nothing, if it gives none of use."""
    try:
        fragment: Hashable = sign(pod)
        hash(fragment)
    except Exception:
        return None
    return fragment
