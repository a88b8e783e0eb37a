"""The plugins of the histories: a doorman, two witnesses, a saboteur, a score."""

from collections.abc import Sequence

from quaymaster import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    Handle,
    Node,
    NodeInfo,
    PermitWait,
    Pod,
    PodUse,
    Scope,
    Status,
    hookimpl,
)
from tests.chaos.stage import SabotageError, Stage, stage_of

__all__ = ["Doorman", "FirstWitness", "LastWitness", "Saboteur", "Spreading"]


class FirstWitness:
    """Is the first to reserve, and so the last to give back."""

    def __init__(self, args: object, handle: Handle) -> None:
        self._handle = handle
        self._ledger = stage_of(handle).ledger
        stage_of(handle).handle = handle

    @hookimpl
    def reserve(self, pod: Pod, node_name: str) -> None:
        self._ledger.decided(self._handle.informers, pod, node_name)

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        self._ledger.given_back(pod)

    @hookimpl
    def post_bind(self, pod: Pod) -> None:
        self._ledger.completed(pod)


class LastWitness:
    """Is the last to reserve, and so the first to give back."""

    def __init__(self, args: object, handle: Handle) -> None:
        self._ledger = stage_of(handle).ledger

    @hookimpl
    def reserve(self) -> None:
        pass

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        self._ledger.begun_to_give_back(pod)


class Doorman:
    """Keeps some pods waiting, and fails now and then from Reserve to PreBind.

    A pod that it has turned away tries again when there is a new node.
    """

    def __init__(self, args: object, handle: Handle) -> None:
        self._stage = stage_of(handle)
        self._informers = handle.informers

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD))]

    @hookimpl
    def reserve(self, pod: Pod, node_name: str) -> object:
        self._stage.reached("reserve", pod, node_name)
        return _mischief(self._stage, pod)

    @hookimpl
    def unreserve(self) -> None:
        pass

    @hookimpl
    def permit(self, pod: Pod, node_name: str) -> object:
        self._stage.reached("permit", pod, node_name)
        seconds = pod.metadata.labels.get("waits")
        if seconds is None or self._stage.doors_are_open:
            return _mischief(self._stage, pod)
        known = frozenset(node.uid for node in self._informers.list(Node))
        self._stage.kept_waiting[pod.uid] = known
        return PermitWait(float(seconds))

    @hookimpl
    def pre_bind(self, pod: Pod, node_name: str) -> object:
        self._stage.reached("pre_bind", pod, node_name)
        return _mischief(self._stage, pod)


class Saboteur:
    """Fails now and then in Filter and Score."""

    pod_use = PodUse.NONE

    def __init__(self, args: object, handle: Handle) -> None:
        self._stage = stage_of(handle)

    @hookimpl
    def filter(self, pod: Pod) -> object:
        self._stage.reached("filter", pod, "")
        return _mischief(self._stage, pod)

    @hookimpl
    def score(self, pod: Pod) -> object:
        return _mischief(self._stage, pod) or 0


class Spreading:
    """Prefers nodes with few pods, and is asked once for all pods and each node."""

    scope = Scope.NODE

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def sign_pod(self) -> tuple[()]:
        return ()

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return max(0, 100 - 20 * len(node.pods))


def _mischief(stage: Stage, pod: Pod) -> object:
    if not stage.is_sabotaged():
        return None
    stage.refused[pod.key] = None
    stage.hurt.add(pod.uid)
    match stage.choose(4):
        case 0:
            raise SabotageError("sabotage")
        case 1:
            return "nonsense"
        case 2:
            return Status.from_error("sabotage")
    return Status.unschedulable("sabotage")
