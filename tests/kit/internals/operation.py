"""What tests see of ``quaymaster._operation``."""

from quaymaster._logs import JsonFormatter, without_secrets
from quaymaster._operation.access import Gate, client_of
from quaymaster._operation.attempts import attempts_page
from quaymaster._operation.background import DriftWatch
from quaymaster._operation.client_stats import ClientStats
from quaymaster._operation.configz import REDACTED, configz, redacted
from quaymaster._operation.drift import Difference, DriftCounter, held_wrongly
from quaymaster._operation.dump import (
    dump_page,
    holdings,
    log_dump,
    told_in_lines,
    whole_dump,
)
from quaymaster._operation.engine_probe import (
    EngineBusyError,
    EngineIdleError,
    EngineProbe,
)
from quaymaster._operation.exposition import metrics_page
from quaymaster._operation.families import FAMILIES
from quaymaster._operation.health import PING, Check, health_pages
from quaymaster._operation.pages import Page, Query, Reply, text_reply
from quaymaster._operation.readings import SchedulerReader, client_readings
from quaymaster._operation.reviews import ApiReviewer, CachedReviewer, ReviewError
from quaymaster._operation.server import PageServer, ServingOptions
from quaymaster._operation.server_view import Seen, ServerComparer, told, view_of
from quaymaster._operation.standing import Standing, health
from quaymaster._operation.users import ANONYMOUS, User, Verdict

__all__ = [
    "ANONYMOUS",
    "FAMILIES",
    "PING",
    "REDACTED",
    "ApiReviewer",
    "CachedReviewer",
    "Check",
    "ClientStats",
    "Difference",
    "DriftCounter",
    "DriftWatch",
    "EngineBusyError",
    "EngineIdleError",
    "EngineProbe",
    "Gate",
    "JsonFormatter",
    "Page",
    "PageServer",
    "Query",
    "Reply",
    "ReviewError",
    "SchedulerReader",
    "Seen",
    "ServerComparer",
    "ServingOptions",
    "Standing",
    "User",
    "Verdict",
    "attempts_page",
    "client_of",
    "client_readings",
    "configz",
    "dump_page",
    "health",
    "health_pages",
    "held_wrongly",
    "holdings",
    "log_dump",
    "metrics_page",
    "redacted",
    "text_reply",
    "told",
    "told_in_lines",
    "view_of",
    "whole_dump",
    "without_secrets",
]
