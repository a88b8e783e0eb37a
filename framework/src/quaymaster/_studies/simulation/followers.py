"""What follows the attempts of a simulation."""

from typing import TYPE_CHECKING, Protocol

from quaymaster._api.objects import Pod
from quaymaster._core.engine.failure import Failure
from quaymaster._core.engine.framework import Framework

if TYPE_CHECKING:
    from quaymaster._core.engine.group_reports import GroupReport

__all__ = ["FollowsAttempts", "FollowsGroups"]


class FollowsAttempts(Protocol):
    """Follows attempts, each from its beginning to its end."""

    @property
    def calls_hooks(self) -> bool:
        """Whether it may call hooks at the next call of `begin` or `fail`."""

    def begin(self, pod: Pod, framework: Framework, now: float, /) -> None:
        """Called just before an attempt of a pod."""

    def fail(self, pod: Pod, failure: Failure, /) -> None:
        """Called when a pod got no node."""

    def bind(self, pod: Pod, node_name: str, /) -> None:
        """Called when a pod was bound."""

    def preempt(self, victim: str, by: str, /) -> None:
        """Called when a pod was preempted for another one."""


class FollowsGroups(FollowsAttempts, Protocol):
    """Follows the attempts of groups as well."""

    def decided(self, report: "GroupReport", now: float, /) -> None:
        """Called after an attempt of a group, before its pods are bound."""
