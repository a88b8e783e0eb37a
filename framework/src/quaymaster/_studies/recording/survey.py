"""Finds the decisions in a record, and when each was made.

A decision becomes visible late: a pod is bound after its volumes, and its victims are
evicted before its nomination is written. So a record is read twice: first to find when
each decision was made, then to make the decisions again.
"""

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Final, TypeAlias

import attrs

from quaymaster._api.objects import (
    ApiObject,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodCondition,
    StorageClass,
)
from quaymaster._kits.volumes.claims import class_of_claim
from quaymaster._studies.recording.state import Entry

__all__ = ["Life", "Outcome", "QueueKey", "Survey", "survey"]

QueueKey: TypeAlias = Callable[[Pod, int], object]
"""Returns the queue place of a pod that arrived with an entry's number, or None."""

_SECONDS: Final = 1.0  # an estimate: evictions run in the background
_WAITS: Final = "WaitForFirstConsumer"
_DEVICE_CLAIM: Final = "ResourceClaim"  # a kind that a plugin declares
_EXTENDED: Final = "resource.kubernetes.io/extended-resource-claim"
_SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
_DISRUPTION: Final = ("DisruptionTarget", "True", "PreemptionByScheduler")


@attrs.define(kw_only=True, eq=False)
class Outcome:
    """The result of an attempt of a recorded scheduler.

    Attributes:
        pod: The pod's key.
        uid: Its uid.
        scheduler: Its scheduler name.
        at: When the result was seen, in seconds since the beginning of the record.
        decided: The number of the entry before which the decision was made.
        seen: The number of the entry that shows it.
        since: The number of the entry with which the pod was created, or before which
            its last attempt was decided.
        since_version: The resource version with which the pod was created, or of the
            result of its last attempt.
        place: Its place in the queue, or None if unknown.
        rank: How many decisions were made before; set by `put_in_order`.
        bound: When the API server bound it, in seconds since the epoch, or None.
        node: The node to which the pod was bound, or empty.
        message: Why it was not bound.
        nominated_node: The node to which it was nominated.
        victims: The keys of the victims.
    """

    pod: str
    uid: str
    scheduler: str
    at: float
    decided: int
    seen: int
    since: int = 0
    since_version: str = ""
    place: object = None
    rank: int = 0
    bound: float | None = None
    node: str = ""
    message: str = ""
    nominated_node: str = ""
    victims: list[str] = attrs.field(factory=list)


@attrs.define(eq=False)
class Life:
    """The facts about a pod in the whole record.

    Attributes:
        created: When it was created, in seconds since the beginning of the record.
        bound: When it was bound; None if it was not, or was created with a node.
        finished: When it ended by itself; None if it did not.
    """

    created: float
    bound: float | None = None
    finished: float | None = None


@attrs.define(eq=False)
class _Waiting:
    """A pod that waits for a node.

    Attributes:
        since: The number of the entry of its last outcome, or of its creation.
        version: The resource version of that entry.
        decided: The number of the entry before which that decision was made.
        place: Its place in the queue, or None if unknown.
        expected: The number of the entry with the node of the expected bind.
        node: That node.
    """

    since: int
    version: str
    decided: int
    place: object = None
    expected: int | None = None
    node: str = ""


@attrs.frozen
class _Eviction:
    number: int
    at: float
    pod: str
    priority: int


@attrs.frozen(eq=False)
class _Nomination:
    """A pod that was nominated to a node.

    Attributes:
        outcome: Its nomination.
        priority: Its priority.
        later: The pods that were evicted since, for this pod or the next.
    """

    outcome: Outcome
    priority: int
    later: list[_Eviction] = attrs.field(factory=list)

    def take(self, uid: str, next_one: int) -> list[_Eviction]:
        """Take the victims that are nearer to this nomination than to the next.

        If a pod is nominated twice, the victims belong to the first nomination: while
        they are terminating, the scheduler does not preempt again for this pod.

        Args:
            uid: The uid of the next nominated pod.
            next_one: The number of the entry with the next nomination.

        Returns:
            The other victims.
        """
        seen, until = self.outcome.seen, self.outcome.at + _SECONDS
        middle = (seen + next_one) / 2
        is_same = uid == self.outcome.uid
        mine = [
            eviction
            for eviction in self.later
            if eviction.number <= middle or (is_same and eviction.at <= until)
        ]
        self.outcome.victims += [eviction.pod for eviction in mine]
        return [eviction for eviction in self.later if eviction not in mine]


@attrs.define(eq=False)
class Survey:
    """The decisions of a record.

    Attributes:
        outcomes: The decisions, in the order in which they were seen.
        lives: The facts about each pod, by its uid.
        entries: The number of changes.
        with_node: How many pods were created with a node during the recording.
    """

    outcomes: list[Outcome] = attrs.field(factory=list)
    lives: dict[str, Life] = attrs.field(factory=dict)
    entries: int = 0
    with_node: int = 0


def survey(
    entries: Iterable[Entry], place_of: QueueKey = lambda _pod, _number: None
) -> Survey:
    """Find the decisions in all changes of a record.

    Args:
        entries: The changes.
        place_of: Returns the place of a pod in the queue; places are comparable.
    """
    surveyor = _Surveyor(place_of)
    for number, entry in enumerate(entries):
        surveyor.take(number, entry)
    surveyor.finish()
    return surveyor.survey


class _Surveyor:
    """Follows the changes.

    Args:
        place_of: Returns the place of a pod in the queue.
    """

    def __init__(self, place_of: QueueKey) -> None:
        self.survey = Survey()
        self._place_of = place_of
        self._waiting: dict[str, _Waiting] = {}
        self._claimed: dict[tuple[str, str], int] = {}
        self._evictions: defaultdict[str, list[_Eviction]] = defaultdict(list)
        self._nominated: dict[str, _Nomination] = {}
        self._waiting_classes: set[str] = set()

    def take(self, number: int, entry: Entry) -> None:
        """Follow one change."""
        self.survey.entries = number + 1
        old, new = entry.old, entry.new
        if isinstance(old, Pod) or isinstance(new, Pod):
            # Both are pods, or None.
            self._take_pod(number, entry, old, new)  # type: ignore[arg-type]
        elif isinstance(new, StorageClass):
            if new.volume_binding_mode == _WAITS:
                self._waiting_classes.add(new.name)
        elif new is not None and not entry.listed:
            for claim in _claims_decided(old, new, self._waiting_classes):
                self._claimed[claim] = number

    def _take_pod(
        self, number: int, entry: Entry, old: Pod | None, new: Pod | None
    ) -> None:
        if new is None:
            if old is not None:
                self._waiting.pop(old.uid, None)
            return
        if old is None:
            self._came(number, entry, new)
            return
        life = self.survey.lives[new.uid]
        if new.is_finished and not old.is_finished and life.finished is None:
            life.finished = entry.at
        if _is_evicted(new) and not _is_evicted(old) and new.node_name:
            self._evicted(number, entry.at, new)
        waiting = self._waiting.get(new.uid)
        if waiting is None:
            return
        if new.node_name:
            life.bound = entry.at
            del self._waiting[new.uid]
            self._bound(number, entry, new, waiting)
        else:
            self._rejected(number, entry, old, new, waiting)

    def _came(self, number: int, entry: Entry, pod: Pod) -> None:
        self.survey.lives[pod.uid] = Life(entry.at)
        if not pod.node_name:
            # A listed pod may have been tried before: then its place is not that of its
            # arrival.
            place = None if entry.listed else self._place_of(pod, number)
            self._waiting[pod.uid] = _Waiting(number, entry.version, number, place)
        elif not entry.listed:
            self.survey.with_node += 1

    def _bound(self, number: int, entry: Entry, pod: Pod, waiting: _Waiting) -> None:
        # The scheduler writes the claims of volumes and devices in PreBind, before it
        # binds the pod.
        decided = min([number, *self._claims(pod, waiting.since)])
        if waiting.expected is not None and waiting.node == pod.node_name:
            # With the gate NominatedNodeNameForExpectation, the scheduler writes the
            # node before it waits for permits and volumes.
            decided = min(decided, waiting.expected)
        self._add(number, entry, pod, waiting, decided, node=pod.node_name)

    def _rejected(
        self, number: int, entry: Entry, old: Pod, new: Pod, waiting: _Waiting
    ) -> None:
        before, after = _rejection(old), _rejection(new)
        nominated = new.status.nominated_node_name
        is_new = bool(nominated) and nominated != old.status.nominated_node_name
        is_reported = after is not None and _words(after) != _words(before)
        victims: list[_Eviction] = []
        if nominated and (is_new or is_reported):
            victims = self._victims(number, nominated, new, waiting.since)
        # Something else has changed. An attempt with the same reasons leaves no trace,
        # since the scheduler does not write an equal condition again.
        if after is None or not (is_reported or victims):
            if is_new:
                waiting.expected, waiting.node = number, nominated
            return
        outcome = self._add(
            number,
            entry,
            new,
            waiting,
            min([number, *(victim.number for victim in victims)]),
            message=after.message,
            nominated_node=nominated,
            victims=[victim.pod for victim in victims],
        )
        if nominated:
            self._nominated[nominated] = _Nomination(outcome, new.priority)
        waiting.since, waiting.version = number, entry.version
        waiting.decided = outcome.decided
        waiting.place, waiting.expected = None, None

    def _evicted(self, number: int, at: float, pod: Pod) -> None:
        """Record an eviction for the present or next nomination to the node."""
        eviction = _Eviction(number, at, pod.key, pod.priority)
        nomination = self._nominated.get(pod.node_name)
        # Preemption only evicts pods of lower priority.
        if nomination is not None and nomination.priority > pod.priority:
            nomination.later.append(eviction)
        else:
            self._evictions[pod.node_name].append(eviction)

    def _victims(self, number: int, node: str, pod: Pod, since: int) -> list[_Eviction]:
        """Return the evicted pods of a node, for a pod that is nominated later."""
        evictions = self._evictions.pop(node, [])
        before = self._nominated.pop(node, None)
        if before is not None:
            evictions += before.take(pod.uid, number)
        return [
            eviction
            for eviction in evictions
            if eviction.number > since and eviction.priority < pod.priority
        ]

    def finish(self) -> None:
        """End the survey after the last change."""
        for nomination in self._nominated.values():
            # So far behind the end that all evictions are nearer to the last
            # nomination.
            nomination.take("", 2 * self.survey.entries)

    def _claims(self, pod: Pod, since: int) -> Iterator[int]:
        """Yield the entries that decided claims of a pod since its last attempt."""
        for claim in _claims_of(pod):
            number = self._claimed.get(claim)
            if number is not None and number > since:
                yield number

    def _add(
        self,
        number: int,
        entry: Entry,
        pod: Pod,
        waiting: _Waiting,
        decided: int,
        *,
        node: str = "",
        message: str = "",
        nominated_node: str = "",
        victims: Iterable[str] = (),
    ) -> Outcome:
        outcome = Outcome(
            pod=pod.key,
            uid=pod.uid,
            scheduler=pod.spec.scheduler_name,
            at=entry.at,
            decided=decided,
            seen=number,
            since=waiting.decided,
            since_version=waiting.version,
            place=waiting.place,
            bound=entry.bound,
            node=node,
            message=message,
            nominated_node=nominated_node,
            victims=list(victims),
        )
        self.survey.outcomes.append(outcome)
        return outcome


def _rejection(pod: Pod) -> PodCondition | None:
    """Return the condition with the reason why a pod has no node."""
    for condition in pod.status.conditions:
        if condition.type == "PodScheduled" and condition.status == "False":
            # A gated pod was not tried.
            return None if condition.reason == "SchedulingGated" else condition
    return None


def _words(condition: PodCondition | None) -> tuple[str, str] | None:
    return None if condition is None else (condition.reason, condition.message)


def _is_evicted(pod: Pod) -> bool:
    return any(
        (condition.type, condition.status, condition.reason) == _DISRUPTION
        for condition in pod.status.conditions
    )


def _claims_decided(
    old: ApiObject | None, new: ApiObject, waiting: Container[str]
) -> Iterator[tuple[str, str]]:
    """Yield the claims that a scheduler has just decided, by kind and key.

    Args:
        old: An object before.
        new: The object after.
        waiting: The storage classes that leave binding to the scheduler.
    """
    if isinstance(new, PersistentVolumeClaim):
        was_open = not (isinstance(old, PersistentVolumeClaim) and _is_decided(old))
        # The volume controller binds claims of other classes at once, without a
        # decision.
        if was_open and _is_decided(new) and class_of_claim(new) in waiting:
            yield new.kind, new.key
    elif isinstance(new, PersistentVolume):
        claim = new.spec.claim_ref
        # A volume that comes with its claim was provisioned after the decision.
        was_free = isinstance(old, PersistentVolume) and old.spec.claim_ref is None
        if claim is not None and was_free and new.spec.storage_class_name in waiting:
            yield PersistentVolumeClaim.kind, f"{claim.namespace}/{claim.name}"
    elif new.kind == _DEVICE_CLAIM and _is_device_claim_decided(old, new):
        yield new.kind, new.key


def _is_device_claim_decided(old: ApiObject | None, new: ApiObject) -> bool:
    """Return whether a scheduler has just created or allocated a claim for devices."""
    if new.annotations.get(_EXTENDED) == "true":
        return old is None  # the scheduler creates it after the decision
    return old is not None and _is_allocated(new) and not _is_allocated(old)


def _is_decided(claim: PersistentVolumeClaim) -> bool:
    return bool(claim.spec.volume_name) or _SELECTED_NODE in claim.annotations


def _is_allocated(claim: ApiObject) -> bool:
    """Whether devices are allocated to a claim; a plugin declares its kind."""
    status = getattr(claim, "status", None)
    return getattr(status, "allocation", None) is not None


def _claims_of(pod: Pod) -> Iterator[tuple[str, str]]:
    """Yield the claims of a pod, by kind and key."""
    for volume in pod.spec.volumes:
        name = ""
        if volume.persistent_volume_claim is not None:
            name = volume.persistent_volume_claim.claim_name
        elif volume.ephemeral is not None:
            name = f"{pod.name}-{volume.name}"
        if name:
            yield PersistentVolumeClaim.kind, f"{pod.namespace}/{name}"
    names = [
        resource_claim.resource_claim_name
        for resource_claim in pod.spec.resource_claims
    ]
    names += [
        claim_status.resource_claim_name
        for claim_status in pod.status.resource_claim_statuses
    ]
    extended = pod.status.extended_resource_claim_status
    if extended is not None:
        names.append(extended.resource_claim_name)
    for claim in names:
        if claim:
            yield _DEVICE_CLAIM, f"{pod.namespace}/{claim}"
