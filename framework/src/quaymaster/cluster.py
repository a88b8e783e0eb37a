"""The port to a cluster: what the scheduler asks of an API server."""

from quaymaster._core.contract.cluster import (
    AlreadyExistsError,
    ApiError,
    Cluster,
    ConflictError,
    EventNote,
    ForbiddenError,
    InvalidError,
    ListPendingError,
    ListResult,
    NotFoundError,
    PodStatusPatch,
    ResourceExpiredError,
    TooManyRequestsError,
    UnknownOutcomeError,
    Watch,
    WatchEvent,
    WatchEventType,
)
from quaymaster._core.contract.declarations import Verb, Write

__all__ = [
    "AlreadyExistsError",
    "ApiError",
    "Cluster",
    "ConflictError",
    "EventNote",
    "ForbiddenError",
    "InvalidError",
    "ListPendingError",
    "ListResult",
    "NotFoundError",
    "PodStatusPatch",
    "ResourceExpiredError",
    "TooManyRequestsError",
    "UnknownOutcomeError",
    "Verb",
    "Watch",
    "WatchEvent",
    "WatchEventType",
    "Write",
]
