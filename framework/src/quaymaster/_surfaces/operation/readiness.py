"""The health checks of a scheduler's process."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol, TypeVar

import attrs

from quaymaster._surfaces.operation.engine_probe import EngineBusyError, EngineProbe
from quaymaster._surfaces.operation.health import PING, Check, health_pages
from quaymaster._surfaces.operation.pages import Page

__all__ = ["Readiness", "SchedulerState", "health"]

T = TypeVar("T")

_MOST_NAMED: Final = 3


def _nothing() -> str:
    return ""


def _no_troubles() -> Mapping[str, str]:
    return {}


def _always() -> bool:
    return True


class SchedulerState(Protocol):
    """The part of a scheduler that reports whether it has started."""

    def unlisted(self) -> Sequence[str]:
        """Return the kinds without a list yet; called on the engine's thread."""


@attrs.frozen(kw_only=True)
class Readiness:
    """The state of a process, as functions that any thread may call.

    Attributes:
        is_leading: Returns whether this replica schedules, and so lists the cluster.
        lease_problem: Returns what is wrong with the lease that it holds; empty if the
            lease is renewed or not held.
        io_problem: Returns what is wrong with its connection to the cluster.
        troubles: Returns kind -> why it cannot be followed right now.
        is_stopping: Returns whether it has begun to shut down.
    """

    is_leading: Callable[[], bool] = _always
    lease_problem: Callable[[], str] = _nothing
    io_problem: Callable[[], str] = _nothing
    troubles: Callable[[], Mapping[str, str]] = _no_troubles
    is_stopping: Callable[[], bool] = lambda: False


def health(
    readiness: Readiness, probe: EngineProbe, state: SchedulerState
) -> Mapping[str, Page]:
    """Return the pages of health.

    Checks that upstream has carry its names: ``leaderElection``, ``shutdown``,
    ``sched-handler-sync``, ``informer-sync`` and ``ping``. A replica that waits for the
    lease is ready; otherwise a Deployment of several replicas would never be available.

    Args:
        readiness: The state of the process.
        probe: Runs calls on the engine's thread.
        state: The kinds that the engine has listed.
    """

    def synced() -> str:
        return _unsynced(readiness, probe, state) if readiness.is_leading() else ""

    def shutdown() -> str:
        return "process is shutting down" if readiness.is_stopping() else ""

    lease = Check("leaderElection", readiness.lease_problem)
    engine = Check("engine", probe.problem)
    io_process = Check("io-process", readiness.io_problem)
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


def _unsynced(readiness: Readiness, probe: EngineProbe, state: SchedulerState) -> str:
    """Return the kinds that are not listed, and why.

    It serves both sync checks, because handlers run in the same turn as informers.
    """
    try:
        missing = probe.ask(state.unlisted)
    except EngineBusyError as error:
        return str(error)
    if not missing:
        return ""
    troubles = readiness.troubles()
    # Kinds with a reason come first.
    missing = sorted(missing, key=lambda kind: kind not in troubles)
    named = ", ".join(
        f"{kind} ({troubles[kind]})" if kind in troubles else kind
        for kind in missing[:_MOST_NAMED]
    )
    more = len(missing) - _MOST_NAMED
    return f"not listed yet: {named}{f' and {more} more' if more > 0 else ''}"
