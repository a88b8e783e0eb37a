"""Signatures of pods, and what is remembered for each.

A plugin that signs pods and answers for one node at a time is asked only once per
signature and node, until the node changes. A pod's *signature* is made of what each
such plugin says by ``sign_pod``; pods of one template have the same.
"""

import weakref
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Pod, PodSpec, SpecKey
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.score_call import ScoreCall
from quaymaster._core.memo.filter_plan import FilterPlan
from quaymaster._core.memo.known_skips import KnownSkips
from quaymaster._core.memo.recorded_answers import RecordedAnswers
from quaymaster._core.memo.score_memo import ScoreMemo
from quaymaster._core.memo.shared import Fragments, SharedMemos
from quaymaster._core.runtime.profile import HookFunction, Profile
from quaymaster._core.state.node_table import NodeTable

__all__ = ["SignatureMemo", "Signatures"]

# Room for some 1,100 signatures at 5,000 nodes. More would pay little: with 1,000 kinds
# of pods that take turns, a thousand nodes have moved since a kind was seen last
# (docs/explanation/speed.md, ScalingKinds1000).
_BYTES: Final = 128 << 20

# A code of four bytes for each group of filters (mostly two, one of which is shared by
# all that have signed alike), a total of two, and raw scores of eight for some.
_BYTES_PER_NODE: Final = 24

# As many templates may take turns before what their pods skip is found out again. Each
# takes some hundred bytes.
_MOST_SKIPS: Final = 1 << 12

# However many nodes there are, the pods of a few Deployments that take turns find their
# like. This is a bound, and not from a measurement.
_FEWEST: Final = 16


@attrs.define(eq=False)
class SignatureMemo:
    """Everything that is remembered for one signature; the stations fill it in.

    Attributes:
        signature: What they all signed, in the order of `Signatures`.
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
    pre_filter: RecordedAnswers | None = None
    filters: FilterPlan | None = None
    pre_score: RecordedAnswers | None = None
    scores: ScoreMemo | None = None
    live_scores: Sequence[ScoreCall] = ()


class Signatures:
    """Finds what is remembered for a pod of one profile; the oldest is forgotten first.

    Args:
        profile: The profile.
        nodes: The columns of all nodes.
        changed: Takes the names of plugins whose data from outside have changed, from
            any thread: what is known then is forgotten before the next attempt.

    Attributes:
        skips: What is known of the plugins that skip the pod that `of` was asked for
            last; None for the first of equal pods, or if no plugin says what a Skip
            depends on.
        shared: What several signatures share.
    """

    def __init__(
        self, profile: Profile, nodes: NodeTable, changed: set[str] | None = None
    ) -> None:
        self._nodes = nodes
        self._changed: set[str] = set() if changed is None else changed
        self._forgotten = 0
        self._names: Sequence[str] = [*profile.remembered, *profile.skipping]
        self._remembered = frozenset(profile.remembered)
        self._signs: Sequence[HookFunction] = [
            profile.sign[name] for name in self._names
        ]
        self._telling: Sequence[HookFunction] = [
            profile.sign_telling[name] for name in self._names
        ]
        self._skips = profile.skips
        self.skips: KnownSkips | None = None
        self._kept_skips: deque[KnownSkips] = deque(maxlen=_MOST_SKIPS)
        self._known: dict[tuple[Hashable, ...], SignatureMemo] = {}
        self.shared = SharedMemos()
        self._attempt: Attempt | None = None
        self._memo: SignatureMemo | None = None
        # All pods of a template share their spec: so they are signed once. The key is
        # this profile's own.
        self._last = SpecKey(_LastSigned)

    def of(self, attempt: Attempt) -> SignatureMemo | None:
        """Return what is remembered for an attempt's pod; None if nobody signs it."""
        # Identity: all stations of one attempt get the same object, and one lookup.
        if self._attempt is not attempt:
            if self._changed:
                self._forget()
            pod = attempt.pod
            last = self._last.of(pod)
            self._memo = self._known_of(pod, last)
            self._attempt = attempt
            if self._skips:
                self.skips = self._known_skips(pod, last)
        return self._memo

    def current(self, state: CycleState, pod: Pod) -> SignatureMemo | None:
        """Return what is remembered for the attempt under way, once it was filtered.

        Args:
            state: Its scratch space.
            pod: Its pod.

        Returns:
            None if nobody signs it, it is another attempt's, or PreFilter rejected it.
        """
        attempt = self._attempt
        # Identity: another object of the same pod may be signed otherwise.
        if attempt is None or attempt.state is not state or attempt.pod is not pod:
            return None
        return self._memo if attempt.diagnosis.is_filtered else None

    def fragments(self, memo: SignatureMemo) -> Fragments:
        """Return what each plugin signed."""
        return dict(zip(self._names, memo.signature, strict=True))

    def _known_skips(self, pod: Pod, last: "_LastSigned") -> KnownSkips | None:
        skips = last.skips()
        if skips is None:
            # The first pod may be the only one, as where each has a claim of its own:
            # to find out what its Skips depend on takes a tenth of its decision.
            if not last.was_tried:
                last.was_tried = True
                return None
            skips = KnownSkips(self._skips, pod)
            self._kept_skips.append(skips)
            last.skips = weakref.ref(skips)
        else:
            skips.refresh(pod)
        return skips

    def recall(self, pod: Pod) -> SignatureMemo | None:
        """Return what is remembered for a pod; None if nobody signs it."""
        return self._known_of(pod, self._last.of(pod))

    def _known_of(self, pod: Pod, last: "_LastSigned") -> SignatureMemo | None:
        traits = _traits(pod)
        if last.traits == traits and last.forgotten == self._forgotten:
            memo = last.memo()
            if memo is not None:
                return memo
        last.skips, last.was_tried = _nothing, False
        memo = self._recall(pod)
        if memo is not None:
            last.traits, last.memo = traits, weakref.ref(memo)
            last.forgotten = self._forgotten
        return memo

    def outdated(self, attempt: Attempt) -> Iterator[str]:
        """Say where a pod's signature is not what plugins sign when asked again."""
        pod, memo = attempt.pod, self.of(attempt)
        if memo is None:
            return
        asked = zip(self._names, memo.signature, self._signs, strict=True)
        for plugin, known, sign in asked:
            fragment = _fragment(sign(pod))
            if not _are_equal(fragment, known):
                yield (
                    f"sign_pod of plugin '{plugin}' gives {fragment!r} and gave "
                    f"{known!r}: it is asked once for all pods of a spec, so what it "
                    "gives must depend on the pod alone"
                )

    @property
    def is_outdated(self) -> bool:
        """Whether a plugin's data have changed since the attempt began."""
        return bool(self._changed)

    def _forget(self) -> None:
        """Forget what is known, if a plugin whose data have changed had a part in it.

        It all goes: verdicts and totals are those of several plugins. The others say
        the same again, so no decision changes by that.
        """
        names = set()
        while self._changed:
            names.add(self._changed.pop())
        if not names.isdisjoint(self._names) or not names.isdisjoint(self._skips):
            self._known.clear()
            self.shared = SharedMemos()
            self._forgotten += 1

    def _recall(self, pod: Pod) -> SignatureMemo | None:
        signature = tuple([sign(pod) for sign in self._signs])
        if Status in map(type, signature):  # asked anew, for what plugins can sign
            signature = tuple([_fragment(sign(pod)) for sign in self._telling])
        memo = self._known.pop(signature, None)
        if memo is None:
            memo = self._new(signature)
            if memo is None:
                return None
        self._known[signature] = memo
        return memo

    def _new(self, signature: tuple[Hashable, ...]) -> SignatureMemo | None:
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
        return SignatureMemo(signature, plugins, signed - plugins)


class _LastSigned:
    """How the last pod with a spec was signed.

    References to what belongs to a profile are weak: specs outlive profiles, and what a
    profile knows leads to its whole cluster. That is a cycle which Python's collector
    does not find, since it looks at no pods.

    Attributes:
        traits: What it was signed by, beside the spec; None if no pod was yet.
        forgotten: How often everything had been forgotten by then.
        memo: Gives what is remembered for its signature, or None if that is forgotten.
        skips: Gives what is known of plugins that skip such pods, if anything.
        was_tried: Whether a pod with the spec and these traits has been tried.
    """

    __slots__ = ("forgotten", "memo", "skips", "traits", "was_tried")

    def __init__(self, _spec: PodSpec) -> None:
        self.traits: tuple[object, ...] | None = None
        self.forgotten = 0
        self.memo: Callable[[], SignatureMemo | None] = _nothing
        self.skips: Callable[[], KnownSkips | None] = _nothing
        self.was_tried = False


def _nothing() -> None:
    return None


def _traits(pod: Pod) -> tuple[object, ...]:
    """Return what plugins may sign a pod by, beside its spec."""
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


def _fragment(answer: Hashable | Status) -> Hashable:
    """Return a plugin's fragment; None, which remembers nothing, if it is of no use."""
    # Identity: `isinstance` may run code of a fragment, which is the plugin's object.
    return None if type(answer) is Status else answer
