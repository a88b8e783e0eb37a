"""What tests see of ``quaymaster._surfaces.operation``."""

from quaymaster._base.logs import JsonFormatter, TextFormatter, without_secrets
from quaymaster._surfaces.operation.access import Gate, client_of
from quaymaster._surfaces.operation.attempts import attempts_page, facts_now
from quaymaster._surfaces.operation.background import DriftWatch
from quaymaster._surfaces.operation.client_stats import ClientStats
from quaymaster._surfaces.operation.configz import REDACTED, configz, redacted
from quaymaster._surfaces.operation.drift import Difference, DriftCounter, find_drift
from quaymaster._surfaces.operation.dump import (
    dump_in_lines,
    dump_page,
    holdings,
    log_dump,
    whole_dump,
)
from quaymaster._surfaces.operation.engine_probe import (
    EngineBusyError,
    EngineIdleError,
    EngineProbe,
)
from quaymaster._surfaces.operation.exposition import metrics_page
from quaymaster._surfaces.operation.families import FAMILIES
from quaymaster._surfaces.operation.health import PING, Check, health_pages
from quaymaster._surfaces.operation.pages import Page, Query, Reply, text_reply
from quaymaster._surfaces.operation.readiness import Readiness, health
from quaymaster._surfaces.operation.readings import SchedulerReader, client_readings
from quaymaster._surfaces.operation.reviews import (
    ApiReviewer,
    CachedReviewer,
    ReviewError,
)
from quaymaster._surfaces.operation.server import PageServer, ServingOptions
from quaymaster._surfaces.operation.server_view import (
    Seen,
    ServerComparer,
    scheduler_view,
    view_of,
)
from quaymaster._surfaces.operation.users import ANONYMOUS, User, Verdict

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
    "Readiness",
    "Reply",
    "ReviewError",
    "SchedulerReader",
    "Seen",
    "ServerComparer",
    "ServingOptions",
    "TextFormatter",
    "User",
    "Verdict",
    "attempts_page",
    "client_of",
    "client_readings",
    "configz",
    "dump_in_lines",
    "dump_page",
    "facts_now",
    "find_drift",
    "health",
    "health_pages",
    "holdings",
    "log_dump",
    "metrics_page",
    "redacted",
    "scheduler_view",
    "text_reply",
    "view_of",
    "whole_dump",
    "without_secrets",
]
