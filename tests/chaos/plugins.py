"""The plugins of the histories: they wait, fail, score, and log decisions."""

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
from tests.chaos.fault_plan import FaultPlan, PlannedError, plan_of

__all__ = ["Doorman", "FirstWitness", "LastWitness", "Saboteur", "Spreading"]


class FirstWitness:
    """Logs decisions; it reserves first, and so unreserves last."""

    def __init__(self, args: object, handle: Handle) -> None:
        self._handle = handle
        self._ledger = plan_of(handle).ledger
        plan_of(handle).handle = handle

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
    """Logs decisions; it reserves last, and so unreserves first."""

    def __init__(self, args: object, handle: Handle) -> None:
        self._ledger = plan_of(handle).ledger

    @hookimpl
    def reserve(self) -> None:
        pass

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        self._ledger.begun_to_give_back(pod)


class Doorman:
    """Delays some pods on Permit, and fails from Reserve to PreBind by plan.

    A pod that it has rejected is retried when there is a new node.
    """

    def __init__(self, args: object, handle: Handle) -> None:
        self._plan = plan_of(handle)
        self._informers = handle.informers

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD))]

    @hookimpl
    def reserve(self, pod: Pod, node_name: str) -> object:
        self._plan.reached("reserve", pod, node_name)
        return _planned_fault(self._plan, pod)

    @hookimpl
    def unreserve(self) -> None:
        pass

    @hookimpl
    def permit(self, pod: Pod, node_name: str) -> object:
        self._plan.reached("permit", pod, node_name)
        seconds = pod.metadata.labels.get("waits")
        if seconds is None or self._plan.permits_all:
            return _planned_fault(self._plan, pod)
        uids = frozenset(node.uid for node in self._informers.list(Node))
        self._plan.kept_waiting[pod.uid] = uids
        return PermitWait(float(seconds))

    @hookimpl
    def pre_bind(self, pod: Pod, node_name: str) -> object:
        self._plan.reached("pre_bind", pod, node_name)
        return _planned_fault(self._plan, pod)


class Saboteur:
    """Fails in Filter and Score by plan."""

    pod_use = PodUse.NONE

    def __init__(self, args: object, handle: Handle) -> None:
        self._plan = plan_of(handle)

    @hookimpl
    def filter(self, pod: Pod) -> object:
        self._plan.reached("filter", pod, "")
        return _planned_fault(self._plan, pod)

    @hookimpl
    def score(self, pod: Pod) -> object:
        return _planned_fault(self._plan, pod) or 0


class Spreading:
    """Prefers nodes with few pods; all pods have one signature."""

    scope = Scope.NODE

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def sign_pod(self) -> tuple[()]:
        return ()

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return max(0, 100 - 20 * len(node.pods))


def _planned_fault(plan: FaultPlan, pod: Pod) -> object:
    if not plan.should_fail():
        return None
    plan.refused[pod.key] = None
    plan.spoiled.add(pod.uid)
    match plan.choose(4):
        case 0:
            raise PlannedError("sabotage")
        case 1:
            return "nonsense"
        case 2:
            return Status.from_error("sabotage")
    return Status.unschedulable("sabotage")
