"""What tests of the service may see of `quaymaster._service`."""

from quaymaster._service.listening import AddressError, listen, url_of
from quaymaster._service.protocol import TimedProtocol
from quaymaster._service.refreshing import Refresher
from quaymaster._service.standing import SharedStanding, Standing

__all__ = [
    "AddressError",
    "Refresher",
    "SharedStanding",
    "Standing",
    "TimedProtocol",
    "listen",
    "url_of",
]
