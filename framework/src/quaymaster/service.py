"""The HTTP service that answers whether pods would fit, for programs."""

from quaymaster._surfaces.service.application import make_app
from quaymaster._surfaces.service.errors import DeadlineError, RequestError
from quaymaster._surfaces.service.limits import ServiceLimits
from quaymaster._surfaces.service.warm import WarmCluster

__all__ = ["DeadlineError", "RequestError", "ServiceLimits", "WarmCluster", "make_app"]
