"""What tests see of ``quaymaster._authors.testing``."""

from quaymaster._authors.testing.contract.checks import CHECKS
from quaymaster._authors.testing.contract.quiet_logs import quiet_logs
from quaymaster._authors.testing.contract.surroundings import first_difference
from quaymaster._authors.testing.recorded.answers import status_tree
from quaymaster._authors.testing.recorded.case import (
    CallNotPlayedError,
    Json,
    RecordedCase,
    read_cases,
)
from quaymaster._authors.testing.recorded.check import play_calls_with, play_case
from quaymaster._authors.testing.recorded.differences import difference
from quaymaster._authors.testing.recorded.objects import object_from
from quaymaster._authors.testing.recorded.player import RecordedPlayer
from quaymaster._authors.testing.recorded.statuses import RecordedStatuses
from quaymaster._authors.testing.shorthand import (
    parse_host_port,
    parse_taint,
    parse_toleration,
)
from quaymaster._authors.testing.slow_executor import SlowExecutor

__all__ = [
    "CHECKS",
    "CallNotPlayedError",
    "Json",
    "RecordedCase",
    "RecordedPlayer",
    "RecordedStatuses",
    "SlowExecutor",
    "difference",
    "first_difference",
    "object_from",
    "parse_host_port",
    "parse_taint",
    "parse_toleration",
    "play_calls_with",
    "play_case",
    "quiet_logs",
    "read_cases",
    "status_tree",
]
