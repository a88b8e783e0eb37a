"""What tests see of ``quaymaster._operation``."""

from quaymaster._operation.access import Gate, client_of
from quaymaster._operation.client_stats import ClientStats
from quaymaster._operation.configz import REDACTED, configz, redacted
from quaymaster._operation.engine_probe import EngineBusyError, EngineProbe
from quaymaster._operation.exposition import metrics_page
from quaymaster._operation.families import FAMILIES
from quaymaster._operation.health import PING, Check, health_pages
from quaymaster._operation.pages import Page, Query, Reply, text_reply
from quaymaster._operation.readings import SchedulerReader, client_readings
from quaymaster._operation.reviews import ApiReviewer, CachedReviewer, ReviewError
from quaymaster._operation.server import PageServer, ServingOptions
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
    "EngineBusyError",
    "EngineProbe",
    "Gate",
    "Page",
    "PageServer",
    "Query",
    "Reply",
    "ReviewError",
    "SchedulerReader",
    "ServingOptions",
    "Standing",
    "User",
    "Verdict",
    "client_of",
    "client_readings",
    "configz",
    "health",
    "health_pages",
    "metrics_page",
    "redacted",
    "text_reply",
]
