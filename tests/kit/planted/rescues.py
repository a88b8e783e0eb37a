"""A plugin whose PostFilter results repeat, and mistakes in it.

It advises how a pod could get a node, by budgets, objects of its own and the time.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar

from hypothesis import strategies as st

from quaymaster import (
    ApiObject,
    Handle,
    NominatingInfo,
    NominatingMode,
    Pod,
    PostFilterResult,
    Status,
    hookimpl,
)
from quaymaster.cluster import Verb, Write
from quaymaster.objects import ObjectMeta, PodDisruptionBudget
from quaymaster.testing import clusters, make_node, make_pod
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["OWN", "RESCUE_MISTAKES", "Rescues"]

HOUR = 3600


class Lifeboat(ApiObject, frozen=True, kw_only=True):
    """Has places for pods that fit nowhere."""

    api_version: ClassVar[str] = "example.com/v1"
    kind: ClassVar[str] = "Lifeboat"
    plural: ClassVar[str] = "lifeboats"

    places: int = 0


class Rescues(Plugin):
    """Correct: compares all that its result follows from."""

    kinds = (Lifeboat,)
    reads = (PodDisruptionBudget,)
    writes: ClassVar[Sequence[Write]] = ()

    def facts(self, pod: Pod) -> Sequence[object]:
        """Return what the result follows from."""
        return self.rank(pod), self.protected(), self.places(), self.hour()

    def rank(self, pod: Pod) -> str:
        """Return how important a pod is."""
        return "high" if pod.priority > 4 else "low"

    def protected(self) -> int:
        """Return the number of budgets that allow nothing."""
        budgets = self.handle.informers.list(PodDisruptionBudget)
        return sum(budget.status.disruptions_allowed == 0 for budget in budgets)

    def places(self) -> int:
        """Return the number of places in lifeboats."""
        return sum(boat.places for boat in self.handle.informers.list(Lifeboat))

    def hour(self) -> int:
        """Return the hour of the day."""
        return int(self.handle.clock.now()) // HOUR % 24

    def compared(self, pod: Pod) -> Sequence[object]:
        """Return what has to be equal for another pod."""
        return self.facts(pod)

    def draw(self) -> None:
        """Draw a random number, as `repeats` does."""
        self.handle.random.random()

    def result(
        self, pod: Pod, facts: Sequence[object], repeats: Callable[[Pod], bool]
    ) -> PostFilterResult:
        """Return the result."""
        status = Status.unschedulable(f"advice by {', '.join(map(str, facts))}")
        return PostFilterResult(status, repeats=repeats)

    @hookimpl
    def post_filter(self, pod: Pod) -> PostFilterResult:
        compared = self.compared(pod)

        def repeats(other: Pod) -> bool:
            if self.compared(other) != compared:
                return False
            self.draw()
            return True

        self.handle.random.random()
        return self.result(pod, self.facts(pod), repeats)


class ForgetsThePriority(Rescues):
    def compared(self, pod: Pod) -> Sequence[object]:
        return self.protected(), self.places(), self.hour()


class ForgetsBudgets(Rescues):
    def compared(self, pod: Pod) -> Sequence[object]:
        return self.rank(pod), self.places(), self.hour()


class ForgetsLifeboats(Rescues):
    def compared(self, pod: Pod) -> Sequence[object]:
        return self.rank(pod), self.protected(), self.hour()


class ForgetsTheTime(Rescues):
    def compared(self, pod: Pod) -> Sequence[object]:
        return self.rank(pod), self.protected(), self.places()


class ForgetsNominations(Rescues):
    """Its result depends on nominations, too."""

    def result(
        self, pod: Pod, facts: Sequence[object], repeats: Callable[[Pod], bool]
    ) -> PostFilterResult:
        count = sum(map(len, self.handle.nominated_pods().values()))
        return super().result(pod, [*facts, count], repeats)


class ForgetsTheQueue(Rescues):
    """Its result depends on the pods that wait, too."""

    def result(
        self, pod: Pod, facts: Sequence[object], repeats: Callable[[Pod], bool]
    ) -> PostFilterResult:
        pods = self.handle.informers.list(Pod)
        waiting = sum(each.priority for each in pods if not each.node_name)
        return super().result(pod, [*facts, waiting], repeats)


class ForgetsReadings(Rescues):
    """Its result depends on data from outside, too."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.readings = 0
        self.level = 0

    @hookimpl
    def start(self) -> None:
        self.handle.run_in_background(self.measure, self.arrive)

    def measure(self) -> int:
        """Read the level of the water."""
        self.readings += 1
        return self.readings

    def arrive(self, level: int) -> None:
        """Receive the level, and read it again later."""
        self.level = level
        self.handle.clock.call_later(60, self.start, background=True)

    def result(
        self, pod: Pod, facts: Sequence[object], repeats: Callable[[Pod], bool]
    ) -> PostFilterResult:
        return super().result(pod, [*facts, self.level], repeats)


class NamesThePod(Rescues):
    def result(
        self, pod: Pod, facts: Sequence[object], repeats: Callable[[Pod], bool]
    ) -> PostFilterResult:
        return super().result(pod, [*facts, pod.name], repeats)


class NominatesByName(Rescues):
    """Returns another nomination for each namespace."""

    def result(
        self, pod: Pod, facts: Sequence[object], repeats: Callable[[Pod], bool]
    ) -> PostFilterResult:
        result = super().result(pod, facts, repeats)
        nominating = NominatingInfo(pod.namespace, NominatingMode.OVERRIDE)
        return PostFilterResult(result.status, nominating, repeats=repeats)


class DrawsNothing(Rescues):
    def draw(self) -> None:
        return None


class DrawsTwice(Rescues):
    def draw(self) -> None:
        super().draw()
        super().draw()


class SetsTimers(Rescues):
    """Also sets a timer in each call of the hook."""

    def result(
        self, pod: Pod, facts: Sequence[object], repeats: Callable[[Pod], bool]
    ) -> PostFilterResult:
        self.handle.clock.call_later(HOUR, lambda: self.handle.activate([pod]))
        return super().result(pod, facts, repeats)


class RunsTasks(Rescues):
    """Also runs a task in each call of the hook."""

    def result(
        self, pod: Pod, facts: Sequence[object], repeats: Callable[[Pod], bool]
    ) -> PostFilterResult:
        self.handle.run_in_background(lambda: None, lambda _result: None)
        return super().result(pod, facts, repeats)


class DeletesPods(Rescues):
    """Also deletes a running pod in each call of the hook."""

    writes: ClassVar[Sequence[Write]] = (Write(Verb.DELETE, Pod),)

    def result(
        self, pod: Pod, facts: Sequence[object], repeats: Callable[[Pod], bool]
    ) -> PostFilterResult:
        pods = self.handle.cluster.list(Pod).items
        for each in [each for each in pods if not each.is_terminating][:1]:
            self.handle.cluster.delete(Pod, each.key, uid=each.uid)
        return super().result(pod, facts, repeats)


class RaisesInRepeats(Rescues):
    def draw(self) -> None:
        raise LookupError("gone")


OWN = clusters(
    nodes=st.just(make_node()),
    pods=st.builds(make_pod, priority=st.integers(0, 9)),
    objects=st.builds(
        Lifeboat,
        metadata=st.sampled_from(
            [ObjectMeta(name=name, namespace="default") for name in ("port", "aft")]
        ),
        places=st.integers(0, 3),
    ),
)
RESCUE_MISTAKES: Sequence[Mistake] = tuple(
    Mistake(plugin, ["repeats"], OWN)
    for plugin in (
        ForgetsThePriority,
        ForgetsBudgets,
        ForgetsLifeboats,
        ForgetsTheTime,
        ForgetsNominations,
        ForgetsTheQueue,
        ForgetsReadings,
        NamesThePod,
        NominatesByName,
        DrawsNothing,
        DrawsTwice,
        SetsTimers,
        RunsTasks,
        DeletesPods,
        RaisesInRepeats,
    )
)
