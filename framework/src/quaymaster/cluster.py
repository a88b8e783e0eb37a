"""The port to a cluster: the calls that the scheduler makes to an API server."""

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
