"""What tests of the service may see of `quaymaster._surfaces.service`."""

from quaymaster._surfaces.service.listening import AddressError, listen, url_of
from quaymaster._surfaces.service.protocol import TimedProtocol
from quaymaster._surfaces.service.refreshing import Refresher
from quaymaster._surfaces.service.standing import SharedStanding, Standing

__all__ = [
    "AddressError",
    "Refresher",
    "SharedStanding",
    "Standing",
    "TimedProtocol",
    "listen",
    "url_of",
]
