"""What tests see of ``quaymaster._operation``."""

from quaymaster._operation.access import Gate, client_of
from quaymaster._operation.configz import REDACTED, configz, redacted
from quaymaster._operation.engine_probe import EngineBusyError, EngineProbe
from quaymaster._operation.health import PING, Check, health_pages
from quaymaster._operation.pages import Page, Query, Reply, text_reply
from quaymaster._operation.reviews import ApiReviewer, CachedReviewer, ReviewError
from quaymaster._operation.server import PageServer, ServingOptions
from quaymaster._operation.standing import Standing, health
from quaymaster._operation.users import ANONYMOUS, User, Verdict

__all__ = [
    "ANONYMOUS",
    "PING",
    "REDACTED",
    "ApiReviewer",
    "CachedReviewer",
    "Check",
    "EngineBusyError",
    "EngineProbe",
    "Gate",
    "Page",
    "PageServer",
    "Query",
    "Reply",
    "ReviewError",
    "ServingOptions",
    "Standing",
    "User",
    "Verdict",
    "client_of",
    "configz",
    "health",
    "health_pages",
    "redacted",
    "text_reply",
]
