"""What is well or not with a scheduler's process: its health checks, put together."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol, TypeVar

import attrs

from quaymaster._surfaces.operation.engine_probe import EngineBusyError, EngineProbe
from quaymaster._surfaces.operation.health import PING, Check, health_pages
from quaymaster._surfaces.operation.pages import Page

__all__ = ["SchedulerState", "Standing", "health"]

T = TypeVar("T")

_MOST_NAMED: Final = 3


def _nothing() -> str:
    return ""


def _no_troubles() -> Mapping[str, str]:
    return {}


def _always() -> bool:
    return True


class SchedulerState(Protocol):
    """The part of a scheduler that tells whether it has begun."""

    def unlisted(self) -> Sequence[str]:
        """The kinds that have never been listed; on the engine's thread."""


@attrs.frozen(kw_only=True)
class Standing:
    """What a process knows of itself; may be asked from any thread.

    Attributes:
        is_leading: Whether this replica is to schedule, and so to know the cluster.
        lease_problem: What is wrong with the lease that it holds; empty if nothing is,
            or if it holds none.
        io_problem: What is wrong with its connection to the cluster.
        troubles: Kind -> why it cannot be followed right now, for those of which that
            is so.
        is_stopping: Whether it has begun to end.
    """

    is_leading: Callable[[], bool] = _always
    lease_problem: Callable[[], str] = _nothing
    io_problem: Callable[[], str] = _nothing
    troubles: Callable[[], Mapping[str, str]] = _no_troubles
    is_stopping: Callable[[], bool] = lambda: False


def health(
    standing: Standing, probe: EngineProbe, state: SchedulerState
) -> Mapping[str, Page]:
    """Return the pages of health.

    The names of checks are upstream's where it has them: ``leaderElection``,
    ``shutdown``, ``sched-handler-sync``, ``informer-sync`` and ``ping``. A replica that
    waits for the lease is ready: else a Deployment of several would never be.

    Args:
        standing: What the process knows of itself.
        probe: Asks the engine.
        state: What the engine has seen of the cluster.
    """

    def synced() -> str:
        return _unsynced(standing, probe, state) if standing.is_leading() else ""

    def shutdown() -> str:
        return "process is shutting down" if standing.is_stopping() else ""

    lease = Check("leaderElection", standing.lease_problem)
    engine = Check("engine", probe.problem)
    io_process = Check("io-process", standing.io_problem)
    return {
        **health_pages("/healthz", [PING, lease, engine, io_process]),
        **health_pages("/livez", [PING, engine, io_process]),
        **health_pages(
            "/readyz",
            [
                PING,
                lease,
                Check("shutdown", shutdown),
                Check("informer-sync", synced),
                Check("sched-handler-sync", synced),
                io_process,
            ],
        ),
    }


def _unsynced(standing: Standing, probe: EngineProbe, state: SchedulerState) -> str:
    """Say what has not been listed, and why.

    Handlers are told in the same turn as informers.
    """
    try:
        missing = probe.ask(state.unlisted)
    except EngineBusyError as error:
        return str(error)
    if not missing:
        return ""
    troubles = standing.troubles()
    # Those first of which it is known why.
    missing = sorted(missing, key=lambda kind: kind not in troubles)
    named = ", ".join(
        f"{kind} ({troubles[kind]})" if kind in troubles else kind
        for kind in missing[:_MOST_NAMED]
    )
    more = len(missing) - _MOST_NAMED
    return f"not listed yet: {named}{f' and {more} more' if more > 0 else ''}"
