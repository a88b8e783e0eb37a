"""One rule that the contract suite tests with every plugin."""

from collections.abc import Callable, Iterable
from typing import NoReturn, TypeAlias

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._authors.testing.contract.small_cluster import SmallCluster, described
from quaymaster._authors.testing.contract.subject import Subject

__all__ = ["Ask", "Check", "Finding", "fail"]

Ask: TypeAlias = Callable[[Subject, SmallCluster, SmallCluster], None]
"""Takes the plugin, a cluster to run it on, and one to take changes from."""


def _is_any(_plugin: type) -> bool:
    return True


def _needs_no_more(_subject: Subject) -> bool:
    return False


def _concludes_nothing(_subject: Subject) -> None:
    pass


class Finding(Exception):
    """The finding of a check; it becomes a `ContractError`."""

    def __init__(self, hook: str, problem: str, example: Iterable[str] = ()) -> None:
        super().__init__(problem)
        self.hook = hook
        self.problem = problem
        self.example = tuple(example)


@attrs.frozen(kw_only=True)
class Check:
    """One check of the contract suite.

    Attributes:
        name: Its name, for opting out.
        promise: The rule for every plugin that passes.
        ask: Runs the check, and raises a `Finding` if a plugin breaks the rule.
        hooks: It applies to plugins that have one of these hooks; to all if empty.
        needs_clusters: Whether it runs on many clusters.
        needs_other: Whether it takes changes from a second one.
        only_for: Returns whether it applies to a plugin's class; by default, to all.
        tries_fixed: Whether few clusters exercise it, and it is cheap to try more:
            then pytest also tries the fixed clusters of ``plugins check``.
        needs_more: Returns whether it runs on further clusters after the usual ones;
            by default, on none.
        conclude: Raises a `Finding` if all clusters together break the rule.
    """

    name: str
    promise: str
    ask: Ask
    hooks: frozenset[str] = frozenset()
    needs_clusters: bool = True
    needs_other: bool = False
    tries_fixed: bool = False
    only_for: Callable[[type], bool] = _is_any
    needs_more: Callable[[Subject], bool] = _needs_no_more
    conclude: Callable[[Subject], None] = _concludes_nothing

    def is_about(self, subject: Subject) -> bool:
        """Return whether the check applies to a plugin."""
        if not self.only_for(subject.plugin):
            return False
        return not self.hooks or any(subject.has(hook) for hook in self.hooks)


def fail(hook: str, problem: str, *shown: ApiObject | Iterable[ApiObject]) -> NoReturn:
    """Raise a finding, with the objects of the example.

    Args:
        hook: The hook at fault.
        problem: The problem and the expectation.
        *shown: The objects of the example, or groups of objects.

    Raises:
        Finding: Always.
    """
    objects: list[ApiObject] = []
    for item in shown:
        objects += [item] if isinstance(item, ApiObject) else item
    raise Finding(hook, problem, described(objects))
