"""Measures queueing hints; used only by a scheduler with metrics."""

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._core.contract.cluster_events import ClusterEvent, QueueingHintFn
from quaymaster._core.queue.hints import HintRegistry, Question
from quaymaster._core.runtime.metrics import ONE_IN, SchedulerMetrics

__all__ = ["TimedQuestions"]


class TimedQuestions:
    """Makes `Question` objects, and measures one hint in ten.

    Args:
        metrics: Records the times.
    """

    def __init__(self, metrics: SchedulerMetrics) -> None:
        self._metrics = metrics
        self._calls = 0

    def __call__(
        self,
        registry: HintRegistry,
        event: ClusterEvent,
        old: ApiObject | None,
        new: ApiObject | None,
    ) -> Question:
        """Make a question; see `Question`."""
        question = _TimedQuestion(registry, event, old, new)
        question.timer = self
        question.label = event.label
        return question

    def is_sampled(self) -> bool:
        """Whether the next hint is measured."""
        self._calls += 1
        return self._calls % ONE_IN == 0

    def now(self) -> float:
        """Return the time, in seconds."""
        return self._metrics.now()

    def observe(self, plugin: str, event: str, helps: bool, seconds: float) -> None:
        """Record the time of a hint."""
        hint = "Queue" if helps else "QueueSkip"
        self._metrics.hints[plugin, event, hint].observe(seconds, ONE_IN)


class _TimedQuestion(Question):
    """A question of which one hint in ten is measured."""

    __slots__ = ("label", "timer")

    label: str
    timer: TimedQuestions

    def _helps(self, pod: Pod, plugin: str, hint: QueueingHintFn | None) -> bool:
        timer = self.timer
        if not timer.is_sampled():
            return super()._helps(pod, plugin, hint)
        start = timer.now()
        helps = super()._helps(pod, plugin, hint)
        timer.observe(plugin, self.label, helps, timer.now() - start)
        return helps
