"""A harness that asks results of PostFilter whether they repeat, as the framework."""

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import TypeVar

import attrs

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.fixed_objects import FixedNominations
from quaymaster._authors.testing.harness import PluginHarness
from quaymaster._core.binding.executor import InlineExecutor
from quaymaster._core.contract.clock import Timer, VirtualClock
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.results import NodeStatuses, PostFilterResult
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.engine.handle import Services

__all__ = ["RepeatingHarness", "Trace"]

T = TypeVar("T")


@attrs.frozen
class Trace:
    """What a call does besides its result.

    Attributes:
        acts: What the plugin has done with its handle.
        random: The state of the random generator after the call.
    """

    acts: Sequence[str]
    random: object


class _NotingClock(VirtualClock):
    """A clock that notes new timers.

    Args:
        note: Gets a text for each.
    """

    def __init__(self, note: Callable[[str], None]) -> None:
        super().__init__()
        self._note = note

    def call_at(
        self, due: float, callback: Callable[[], None], *, background: bool = False
    ) -> Timer:
        self._note("sets a timer")
        return super().call_at(due, callback, background=background)


class _NotingExecutor(InlineExecutor):
    """Runs tasks at once, and notes them.

    Args:
        note: Gets a text for each.
    """

    def __init__(self, note: Callable[[str], None]) -> None:
        super().__init__()
        self._note = note

    def submit(
        self, task: Callable[[], T], done: Callable[[T], None], *, blocks: bool = True
    ) -> None:
        self._note("starts a background task")
        super().submit(task, done, blocks=blocks)


class _Nominations(FixedNominations):
    """Nominations to which others are added."""

    def add(self, pod: Pod, node_name: str) -> None:
        """Nominate a pod."""
        pods = (*self.pods_on(node_name), pod)
        self._pods = {**self._pods, node_name: pods}
        self.changes.note(node_name, is_new=True)


class RepeatingHarness(PluginHarness):
    """A harness whose framework keeps the results of attempts.

    Attributes:
        plugin_clock: The clock of the plugin.
    """

    plugin_clock: VirtualClock

    def _adapted(self, services: Services) -> Services:
        self._acts: list[str] = []
        self._random = Random(0)
        self._nominations = _Nominations({})
        self.plugin_clock = _NotingClock(self._acts.append)

        def requeue(*_what: object) -> None:
            self._acts.append("requeues pods")

        return attrs.evolve(
            services,
            clock=self.plugin_clock,
            executor=_NotingExecutor(self._acts.append),
            random=self._random,
            nominator=self._nominations,
            activate=requeue,
            wake=requeue,
        )

    # The cluster --------------------------------------------------------------------

    def queue(self, pods: Iterable[Pod]) -> None:
        """Let informers deliver pods without a node, which no API server validates."""
        for pod in pods:
            self._informers.put(pod)
        self._raise_failed_callback()

    def unqueue(self, pod: Pod) -> None:
        """Let informers deliver that a pod without a node is gone."""
        self._informers.remove(pod)
        self._raise_failed_callback()

    def deliver(self, old: ApiObject | None, new: ApiObject | None) -> None:
        """Let informers deliver a change of an object."""
        if new is not None:
            self._informers.put(new)
        elif old is not None:
            self._informers.remove(old)
        self._raise_failed_callback()

    def nominate(self, pod: Pod, node_name: str) -> None:
        """Nominate a pod to a node."""
        self._nominations.add(pod, node_name)

    # The attempts -------------------------------------------------------------------

    def fail_once(self, pod: Pod) -> None:
        """Try a pod that fits nowhere; the framework keeps the result."""
        self._framework.algorithm.schedule(CycleState(), pod, _no_choice)

    def kept(self, pod: Pod) -> PostFilterResult | None:
        """Return the result whose `repeats` the framework calls for a pod, or None."""
        if pod.status.nominated_node_name:
            return None  # as `Algorithm` decides, outside of the memo
        attempt = Attempt.begin(CycleState(), pod, self.snapshot.nodes)
        unfit = self._framework.algorithm.filters.known_unfit(attempt)
        if unfit is None or not unfit.answers:
            return None
        (result,) = unfit.answers  # the filters beside the plugin have no PostFilter
        return None if result.repeats is None else result

    def traced(self, call: Callable[[], T]) -> tuple[T, Trace]:
        """Call a function; return its result and what it does besides."""
        self._acts.clear()
        version = self.cluster.resource_version
        result = call()
        acts = list(dict.fromkeys(self._acts))
        if self.cluster.resource_version != version:
            acts.append("writes to the cluster")
        return result, Trace(acts, self._random.getstate())

    def call_hook(self, pod: Pod, statuses: NodeStatuses) -> PostFilterResult:
        """Call PostFilter in the attempt that `attempt` began."""
        return self._call_post_filter(pod, statuses)

    def repeated_draws(self, call: Callable[[], T]) -> T:
        """Call a function; the next call gets the same random numbers."""
        before = self._random.getstate()
        try:
            return call()
        finally:
            self._random.setstate(before)


def _no_choice(*_what: object) -> int:
    raise AssertionError("a pod that fits nowhere has a node")
