"""Builds the first message to the I/O process from a configuration."""

from quaymaster._clusters.driver.frames import Begin, Election
from quaymaster._clusters.election.elector import new_identity
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.config.settings import LeaderElection

__all__ = ["first_message"]


def first_message(
    config: SchedulerConfig,
    kubeconfig: str | None,
    context: str,
    log_format: str = "text",
) -> Begin:
    """Return the first message that the I/O process receives.

    If the file does not limit the requests per second, there is no limit here: the API
    server limits them by priority and fairness.

    Args:
        config: The configuration.
        kubeconfig: The kubeconfig file that the command line names. It overrides that
            of the configuration.
        context: The context in the kubeconfig file.
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
