"""The service that answers over HTTP whether pods would fit, for programs."""

from quaymaster._service.application import make_app
from quaymaster._service.errors import DeadlineError, RequestError
from quaymaster._service.limits import ServiceLimits
from quaymaster._service.warm import WarmCluster

__all__ = ["DeadlineError", "RequestError", "ServiceLimits", "WarmCluster", "make_app"]
