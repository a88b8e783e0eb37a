"""How a configuration has its cluster reached, and who schedules it."""

from quaymaster._clusters.driver.frames import Begin, Election
from quaymaster._clusters.election.elector import new_identity
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.config.settings import LeaderElection

__all__ = ["begin_of"]


def begin_of(
    config: SchedulerConfig,
    kubeconfig: str | None,
    context: str,
    log_format: str = "text",
) -> Begin:
    """What the process for input and output is told first.

    Where the file does not say how many calls a second it takes, there is no limit: the
    API server's priority and fairness says how many it takes.

    Args:
        config: The configuration.
        kubeconfig: The kubeconfig file that the command line names, which comes before
            that of the configuration.
        context: The context.
        log_format: The format of the log.
    """
    connection = config.client_connection
    is_limited = config.limits_requests
    return Begin(
        kubeconfig=kubeconfig or connection.kubeconfig or None,
        context=context,
        qps=max(0.0, connection.qps) if is_limited else 0.0,
        burst=connection.burst if is_limited else 0,
        election=_election(config.leader_election),
        log_format=log_format,
    )


def _election(settings: LeaderElection) -> Election | None:
    if not settings.leader_elect:
        return None
    return Election(
        new_identity(),
        settings.resource_name,
        settings.resource_namespace,
        settings.lease_duration.total_seconds(),
        settings.renew_deadline.total_seconds(),
        settings.retry_period.total_seconds(),
    )
