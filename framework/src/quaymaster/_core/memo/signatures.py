"""Signatures of pods, and the memo of each signature.

A plugin that signs pods and answers for one node at a time is called only once per
signature and node, until the node changes. A pod's *signature* consists of the
fragments that these plugins return by ``sign_pod``; pods of one template share it.
"""

import weakref
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Final

import attrs
import msgspec
from msgspec.structs import replace

from quaymaster._api.objects import ObjectMeta, Pod, PodSpec, PodStatus, SpecKey
from quaymaster._core.contract.cluster import POD_SCHEDULED, differ_by_outcome
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.declarations import PodUse, Revised, Scope
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.decisions import Unfit
from quaymaster._core.cycle.score_call import ScoreCall
from quaymaster._core.memo.cached_skips import CachedSkips
from quaymaster._core.memo.filter_plan import FilterPlan
from quaymaster._core.memo.recorded_answers import RecordedAnswers
from quaymaster._core.memo.score_memo import ScoreMemo
from quaymaster._core.memo.shared import Fragments, SharedMemos
from quaymaster._core.runtime.profile import HookFunction, Profile
from quaymaster._core.state.node_table import NodeTable

__all__ = ["SignatureMemo", "Signatures"]

# Room for about 1,100 signatures at 5,000 nodes. More would pay little: if 1,000 kinds
# of pods take turns, 1,000 nodes have changed since the last pod of the same kind
# (docs/explanation/speed.md, ScalingKinds1000).
_BYTES: Final = 128 << 20

# Four bytes of code for each group of filters (mostly two groups, one of them shared),
# two bytes of total, and eight bytes of raw score for some plugins.
_BYTES_PER_NODE: Final = 24

# The number of templates whose Skips are cached; each takes some hundred bytes.
_MOST_SKIPS: Final = 1 << 12

# Chosen, not measured: in clusters of any size, a few Deployments that take turns find
# their memos again.
_FEWEST: Final = 16

# The number of single pods whose signature is kept.
_MOST_PODS: Final = 1 << 12


@attrs.define(eq=False)
class SignatureMemo:
    """The cached answers for one signature; the stations fill it in.

    Attributes:
        signature: The fragments of all plugins, in the order of `Signatures`.
        plugins: The plugins that signed the pod, and whose answers are cached.
        skipping: The plugins that signed the pod, and of which only Skips are cached.
        pre_filter: The answers at PreFilter.
        filters: The verdicts on each node.
        unfit: How the last attempt ended that found no node; None before it.
        pre_score: The answers at PreScore.
        scores: The scores of each node.
        live_scores: The Score plugins that are called for every pod.
    """

    signature: tuple[Hashable, ...]
    plugins: frozenset[str]
    skipping: frozenset[str]
    pre_filter: RecordedAnswers | None = None
    filters: FilterPlan | None = None
    unfit: Unfit | None = None
    pre_score: RecordedAnswers | None = None
    scores: ScoreMemo | None = None
    live_scores: Sequence[ScoreCall] = ()


class Signatures:
    """Finds the memo for a pod of one profile; the least recently used goes first.

    Args:
        profile: The profile.
        nodes: The columns of all nodes.
        changed: The plugins whose other data have changed, added by any thread: each
            with the name of a node, or an empty name for all of them. The cached
            answers are dropped before the next attempt.

    Attributes:
        skips: The cached Skips for the last pod passed to `of`. None for the first of
            equal pods, or if no plugin implements `skips_depend_on`.
        shared: The memos that several signatures share.
    """

    def __init__(
        self,
        profile: Profile,
        nodes: NodeTable,
        changed: set[tuple[str, str]] | None = None,
    ) -> None:
        self._nodes = nodes
        self._changed: set[tuple[str, str]] = set() if changed is None else changed
        self._static = _static_plugins(profile)
        self._forgotten = 0
        self._names: Sequence[str] = [*profile.remembered, *profile.skipping]
        self._remembered = frozenset(profile.remembered)
        self._signs: Sequence[HookFunction] = [
            profile.sign[name] for name in self._names
        ]
        self._reporting_signs: Sequence[HookFunction] = [
            profile.sign_telling[name] for name in self._names
        ]
        self._skips = profile.skips
        self.skips: CachedSkips | None = None
        self._kept_skips: deque[CachedSkips] = deque(maxlen=_MOST_SKIPS)
        self._memos: dict[tuple[Hashable, ...], SignatureMemo] = {}
        self.shared = SharedMemos()
        self._pods: dict[str, _SignedPod] = {}
        self._attempt: Attempt | None = None
        self._memo: SignatureMemo | None = None
        # The pods of a template share their spec, so they are signed only once. The key
        # belongs to this profile: other profiles sign the spec differently.
        self._last = SpecKey(_LastSigned)

    def of(self, attempt: Attempt) -> SignatureMemo | None:
        """Return the memo for an attempt's pod, or None if no plugin signs it."""
        # Identity: the stations of one attempt pass the same object. Only the first
        # one pays for the lookup.
        if self._attempt is not attempt:
            if self._changed:
                self._forget()
            pod = attempt.pod
            signed = self._signed(pod)
            self._memo = None if signed is None else signed.memo()
            self._attempt = attempt
            if self._skips:
                self.skips = None if signed is None else self._cached_skips(pod, signed)
        return self._memo

    def current(self, state: CycleState, pod: Pod) -> SignatureMemo | None:
        """Return the memo of the current attempt, after its PreFilter.

        Args:
            state: The cycle state of the attempt.
            pod: The pod of the attempt.

        Returns:
            The memo. None if no plugin signs the pod, if state or pod belong to another
            attempt, or if PreFilter rejected the pod.
        """
        attempt = self._attempt
        # Identity: another version of the same pod may have another signature.
        if attempt is None or attempt.state is not state or attempt.pod is not pod:
            return None
        return self._memo if attempt.diagnosis.is_filtered else None

    @property
    def revision(self) -> int:
        """A number that differs after data of a plugin have changed."""
        return self._forgotten + bool(self._changed)

    def data(self) -> Sequence[Revised]:
        """Return what the cached answers at PreFilter for the last pod depend on."""
        skips = self.skips
        return (self, *(() if skips is None else skips.sources))

    def fragments(self, memo: SignatureMemo) -> Fragments:
        """Return the fragment of each plugin."""
        return dict(zip(self._names, memo.signature, strict=True))

    def _cached_skips(self, pod: Pod, signed: "_Signed") -> CachedSkips | None:
        skips = signed.skips()
        if skips is None:
            # Wait for the second pod, because there may be none: pods with claims of
            # their own share no spec. Calling these hooks is a tenth of a decision.
            if not signed.was_tried:
                signed.was_tried = True
                return None
            skips = CachedSkips(self._skips, pod)
            self._kept_skips.append(skips)
            signed.skips = weakref.ref(skips)
        else:
            skips.refresh(pod)
        return skips

    def recall(self, pod: Pod) -> SignatureMemo | None:
        """Return the memo for a pod, or None if no plugin signs it."""
        signed = self._signed(pod)
        return None if signed is None else signed.memo()

    def _signed(self, pod: Pod) -> "_Signed | None":
        """Return the signature of a pod with its memo, or None if no plugin signs it.

        A pending pod is tried again and again, and other pods share its spec: with 500
        pending pods, to sign each of them again took a sixth of a failing attempt.
        """
        uid, traits = pod.metadata.uid, None
        # First: with an annotation of its own, a pod differs from the last one of its
        # spec. Not by `get`: most pods are tried once, and have no entry.
        if uid in self._pods:
            kept = self._pods[uid]
            # Identity: an equal spec may have another signature only if a plugin breaks
            # the rules, but to compare specs takes longer than to sign the pod.
            if kept.spec() is pod.spec:
                # Mostly nothing has changed since the last try, or the condition alone.
                signed = kept.signed
                if (
                    signed.forgotten == self._forgotten
                    and signed.memo() is not None
                    and kept.is_signed_alike(pod)
                ):
                    return signed
                traits = _traits(pod)
                if self._still_holds(kept.signed, traits):
                    self._keep(pod, kept.signed)
                    return kept.signed
        traits = traits or _traits(pod)
        last = self._last.of(pod)
        if last.signed is not None and self._still_holds(last.signed, traits):
            return last.signed
        memo = self._recall(pod)
        if memo is None:
            last.signed = None
            return None
        signed = last.signed = _Signed(traits, weakref.ref(memo), self._forgotten)
        self._keep(pod, signed)
        return signed

    def _still_holds(self, signed: "_Signed", traits: tuple[object, ...]) -> bool:
        return (
            signed.traits == traits
            and signed.forgotten == self._forgotten
            and signed.memo() is not None
        )

    def _keep(self, pod: Pod, signed: "_Signed") -> None:
        pods, uid = self._pods, pod.metadata.uid
        if uid not in pods and len(pods) >= _MOST_PODS:
            del pods[next(iter(pods))]
        # Weak: a spec is freed with its last pod.
        pods[uid] = _SignedPod(
            weakref.ref(pod.spec), pod.metadata, pod.status, pod.node_name, signed
        )

    def outdated(self, attempt: Attempt) -> Iterator[str]:
        """Yield an error for each cached fragment that the plugin no longer returns."""
        pod, memo = attempt.pod, self.of(attempt)
        if memo is None:
            return
        plugins = zip(self._names, memo.signature, self._signs, strict=True)
        for plugin, cached, sign in plugins:
            fragment = _fragment(sign(pod))
            if not _are_equal(fragment, cached):
                yield (
                    f"sign_pod of plugin '{plugin}' returned {fragment!r}, and before "
                    f"{cached!r}: it is called once for all pods with the same spec, "
                    "so its result must depend on the pod only"
                )

    @property
    def is_outdated(self) -> bool:
        """Whether a plugin's external data have changed since the attempt began."""
        return bool(self._changed)

    def _forget(self) -> None:
        """Drop the cached answers of plugins whose data have changed.

        If all answers of a plugin may differ, all memos are dropped, because verdicts
        and totals combine several plugins. The others answer as before, so no decision
        changes by that. If those for a node may differ, it is treated as changed.
        """
        names = set()
        while self._changed:
            plugin, node_name = self._changed.pop()
            if not node_name or plugin in self._skips:
                names.add(plugin)
            elif plugin in self._remembered:
                self._nodes.note_outside_change(
                    node_name, of_node=plugin in self._static
                )
        if not names.isdisjoint(self._names) or not names.isdisjoint(self._skips):
            self._memos.clear()
            self.shared = SharedMemos()
            self._forgotten += 1

    def _recall(self, pod: Pod) -> SignatureMemo | None:
        signature = tuple([sign(pod) for sign in self._signs])
        if Status in map(type, signature):
            # Some plugin failed: call all of them again by the hooks that report it.
            signature = tuple([_fragment(sign(pod)) for sign in self._reporting_signs])
        # Removed and added again, so that the order of the dict is that of last use.
        memo = self._memos.pop(signature, None)
        if memo is None:
            memo = self._new(signature)
            if memo is None:
                return None
        self._memos[signature] = memo
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
        while len(self._memos) >= max(_FEWEST, _BYTES // size):
            del self._memos[next(iter(self._memos))]
        return SignatureMemo(signature, plugins, signed - plugins)


class _Signed(msgspec.Struct, eq=False):
    """The signature of equal pods.

    References to objects of a profile are weak. Specs outlive profiles, and a memo
    refers to the profile's whole cluster. Python's collector could not free such a
    cycle, because pods are not tracked by it.

    Attributes:
        traits: The data besides the spec that they were signed by.
        memo: Returns the memo of the signature, or None if it was dropped.
        forgotten: How often all memos had been dropped by then.
        skips: Returns the cached Skips for such pods, or None.
        was_tried: Whether such a pod has been tried.
    """

    traits: tuple[object, ...]
    memo: Callable[[], SignatureMemo | None]
    forgotten: int
    skips: "Callable[[], CachedSkips | None]" = lambda: None
    was_tried: bool = False


class _SignedPod(msgspec.Struct, eq=False):
    """The last version of a pod, in its parts, with its signature.

    Attributes:
        spec: Returns its spec, or None if it was freed.
        metadata: Its metadata.
        status: Its status.
        node_name: The name of its node, or empty.
        signed: The signature.
    """

    spec: Callable[[], PodSpec | None]
    metadata: ObjectMeta
    status: PodStatus
    node_name: str
    signed: _Signed

    def is_signed_alike(self, pod: Pod) -> bool:
        """Whether a later version has the same traits; if so, keep it.

        It may miss an equal version. Computing and comparing the traits takes three
        times as long.
        """
        before, after = self.metadata, pod.metadata
        if self.node_name != pod.node_name or not (
            # Identity: a status patch keeps these objects.
            before is after
            or (
                before.labels is after.labels
                and before.annotations is after.annotations
                and before.owner_references is after.owner_references
                and before.namespace == after.namespace
            )
        ):
            return False
        status = pod.status
        # Identity: a short cut for the same version.
        if self.status is not status and not differ_by_outcome(self.status, status):
            return False
        self.metadata, self.status = after, status
        return True


class _LastSigned:
    """The signature of the last pod with a spec; None before the first pod."""

    __slots__ = ("signed",)

    def __init__(self, _spec: PodSpec) -> None:
        self.signed: _Signed | None = None


def _static_plugins(profile: Profile) -> frozenset[str]:
    """Return the plugins with answers that are kept while the node is the same."""
    return frozenset(
        call.plugin
        for key in ("filter", "score")
        for call in profile.plan(key)
        if call.pod_use is PodUse.NONE or call.scope is Scope.NODES
    )


def _traits(pod: Pod) -> tuple[object, ...]:
    """Return the data, except for the spec, that plugins may sign a pod by."""
    metadata, status = pod.metadata, pod.status
    return (
        _without_outcome(status) if status.conditions else status,
        pod.node_name,
        metadata.namespace,
        metadata.labels,
        metadata.annotations,
        metadata.owner_references,
    )


def _without_outcome(status: PodStatus) -> PodStatus:
    """Return a status without the condition that failed attempts write.

    Its message has the number of nodes. With an autoscaler, nodes come all the time,
    and to sign waiting pods again took a tenth of the attempts.
    """
    others = tuple([each for each in status.conditions if each.type != POD_SCHEDULED])
    return replace(status, conditions=others)


def _are_equal(fragment: Hashable, other: Hashable) -> bool:
    try:
        return bool(fragment == other)
    except Exception:  # a plugin's
        return False


def _fragment(answer: Hashable | Status) -> Hashable:
    """Return a plugin's fragment, or None, which caches nothing, if its hook failed."""
    # Identity: `isinstance` may run code of the fragment, which is a plugin's object.
    return None if type(answer) is Status else answer
