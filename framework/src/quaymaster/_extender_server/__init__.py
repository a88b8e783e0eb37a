"""A profile's plugins, served to another scheduler as its extender."""

from quaymaster._extender_server.http_server import ExtenderServer
from quaymaster._extender_server.service import ExtenderService

__all__ = ["ExtenderServer", "ExtenderService"]
