"""One question that the contract suite asks of every plugin."""

from collections.abc import Callable, Iterable
from typing import NoReturn, TypeAlias

import attrs

from quaymaster._objects import ApiObject
from quaymaster._testing.contract.small_cluster import SmallCluster, described
from quaymaster._testing.contract.subject import Subject

__all__ = ["Ask", "Check", "Finding", "fail"]

Ask: TypeAlias = Callable[[Subject, SmallCluster, SmallCluster], None]
"""Takes the plugin, a cluster to ask about, and one to take changes from."""


class Finding(Exception):
    """What a check has found; it becomes a `ContractError`."""

    def __init__(self, hook: str, problem: str, example: Iterable[str] = ()) -> None:
        super().__init__(problem)
        self.hook = hook
        self.problem = problem
        self.example = tuple(example)


@attrs.frozen(kw_only=True)
class Check:
    """One question.

    Attributes:
        name: Its name, for opting out.
        promise: What holds for every plugin that passes.
        ask: Asks, and raises a `Finding` if the promise is broken.
        hooks: It is asked of plugins that have one of these; of all if empty.
        needs_clusters: Whether it is asked about one cluster after the other.
        needs_other: Whether it takes changes from a second one.
    """

    name: str
    promise: str
    ask: Ask
    hooks: frozenset[str] = frozenset()
    needs_clusters: bool = True
    needs_other: bool = False

    def is_about(self, subject: Subject) -> bool:
        """Whether the plugin has what this is about."""
        return not self.hooks or any(subject.has(hook) for hook in self.hooks)


def fail(hook: str, problem: str, *shown: ApiObject | Iterable[ApiObject]) -> NoReturn:
    """Say what is wrong, and on which objects.

    Args:
        hook: The hook at fault.
        problem: What was found and what was expected.
        *shown: The example, objects or groups of them.

    Raises:
        Finding: Always.
    """
    objects: list[ApiObject] = []
    for one in shown:
        objects += [one] if isinstance(one, ApiObject) else one
    raise Finding(hook, problem, described(objects))
