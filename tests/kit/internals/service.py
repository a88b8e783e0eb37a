"""What tests of the service may see of `quaymaster._surfaces.service`."""

from quaymaster._surfaces.service.guarding import WithoutBrowsers
from quaymaster._surfaces.service.listening import AddressError, listen, url_of
from quaymaster._surfaces.service.readiness import Readiness, SharedReadiness
from quaymaster._surfaces.service.refreshing import Refresher
from quaymaster._surfaces.service.worker import Worker

__all__ = [
    "AddressError",
    "Readiness",
    "Refresher",
    "SharedReadiness",
    "WithoutBrowsers",
    "Worker",
    "listen",
    "url_of",
]
