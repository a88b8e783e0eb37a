"""A plugin that does something odd for one pod of two."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from quaymaster import Handle, Pod
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER
from tests.kit.engine import scheduler_of

__all__ = ["Answer", "Faulty", "faulty_config", "gives", "schedule_two"]

Answer = Callable[[], object]


class Faulty:
    """Does something odd for the pod 'bad', and nothing for others."""

    answer: ClassVar[Answer]

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    def told(self, pod: Pod, otherwise: object = None) -> object:
        """The odd answer, or what is said of other pods."""
        return type(self).answer() if pod.name == "bad" else otherwise


def gives(value: object) -> Answer:
    """An answer that is always the same."""
    return lambda: value


def faulty_config(**points: Sequence[str]) -> dict[str, Any]:
    """A profile with the plugin, and of which some points have these plugins alone."""
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
    """A cluster of two nodes on which 'bad' and 'good' were tried.

    Args:
        plugin: The plugin's class.
        answer: What is odd about it, unless that is said already.
        nominated: Pods that keep their nominations, since they are not tried.
        **points: Extension points at which there are these plugins alone.

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
