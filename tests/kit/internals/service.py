"""What tests of the service may see of `quaymaster._surfaces.service`."""

from quaymaster._surfaces.service.listening import AddressError, listen, url_of
from quaymaster._surfaces.service.protocol import TimedProtocol
from quaymaster._surfaces.service.readiness import Readiness, SharedReadiness
from quaymaster._surfaces.service.refreshing import Refresher

__all__ = [
    "AddressError",
    "Readiness",
    "Refresher",
    "SharedReadiness",
    "TimedProtocol",
    "listen",
    "url_of",
]
