"""A plugin that misbehaves for one of two pods."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from quaymaster import Handle, Pod
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER
from tests.kit.engine import scheduler_of

__all__ = ["Answer", "Faulty", "faulty_config", "gives", "schedule_two"]

Answer = Callable[[], object]


class Faulty:
    """Misbehaves for the pod 'bad', and does nothing for other pods."""

    answer: ClassVar[Answer]

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    def answer_for(self, pod: Pod, otherwise: object = None) -> object:
        """Return the faulty answer for the pod 'bad', and the normal one for others."""
        return type(self).answer() if pod.name == "bad" else otherwise


def gives(value: object) -> Answer:
    """Return a function that always returns the same value."""
    return lambda: value


def faulty_config(**points: Sequence[str]) -> dict[str, Any]:
    """Return a profile with the plugin; some points have only the listed plugins."""
    plugins: dict[str, Any] = {
        point: {
            "disabled": [{"name": "*"}],
            "enabled": [{"name": name} for name in names],
        }
        for point, names in points.items()
    }
    plugins["multiPoint"] = {"enabled": [{"name": "Faulty"}]}
    return {**HEADER, "profiles": [{"plugins": plugins}]}


def schedule_two(
    plugin: type[Faulty],
    answer: Answer | None = None,
    *,
    nominated: Iterable[Pod] = (),
    **points: Sequence[str],
) -> SchedulerHarness:
    """Make a cluster of two nodes, and schedule 'bad' and 'good'.

    Args:
        plugin: The plugin's class.
        answer: Returns its faulty answer; by default the one that the class has
            already.
        nominated: Pods that stay nominated, because the scheduler does not try them.
        **points: Extension points that have only these plugins.

    Returns:
        The harness.
    """
    if answer is not None:
        plugin.answer = staticmethod(answer)
    nominated = tuple(nominated)
    harness = SchedulerHarness(
        [
            make_node(name="a"),
            make_node(name="b"),
            *nominated,
            make_pod(name="bad", priority=1),
            make_pod(name="good"),
        ],
        plugins={"Faulty": plugin},
        config=faulty_config(**points),
    )
    queue = scheduler_of(harness).queue
    for pod in nominated:
        queue.delete(pod)
        queue.nominator.add(pod)
    harness.settle()
    return harness
