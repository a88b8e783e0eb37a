"""Times queueing hints; used only by a scheduler that has metrics."""

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._core.contract.cluster_events import ClusterEvent, QueueingHintFn
from quaymaster._core.queue.hints import HintRegistry, Question
from quaymaster._core.runtime.metrics import ONE_IN, SchedulerMetrics

__all__ = ["TimedQuestions"]


class TimedQuestions:
    """Puts questions to plugins, and times one answer in ten.

    Args:
        metrics: Takes the numbers.
    """

    def __init__(self, metrics: SchedulerMetrics) -> None:
        self._metrics = metrics
        self._asked = 0

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
        """Whether the next answer is to be timed."""
        self._asked += 1
        return self._asked % ONE_IN == 0

    def now(self) -> float:
        """The time, in seconds."""
        return self._metrics.now()

    def tell(self, plugin: str, event: str, helps: bool, seconds: float) -> None:
        """Take the time of an answer."""
        hint = "Queue" if helps else "QueueSkip"
        self._metrics.hints[plugin, event, hint].observe(seconds, ONE_IN)


class _TimedQuestion(Question):
    """A question whose answers are timed now and then."""

    __slots__ = ("label", "timer")

    label: str
    timer: TimedQuestions

    def _helps(self, pod: Pod, plugin: str, hint: QueueingHintFn | None) -> bool:
        timer = self.timer
        if not timer.is_sampled():
            return super()._helps(pod, plugin, hint)
        start = timer.now()
        helps = super()._helps(pod, plugin, hint)
        timer.tell(plugin, self.label, helps, timer.now() - start)
        return helps
