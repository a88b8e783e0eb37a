"""A profile's plugins, served to another scheduler as its extender."""

from quaymaster._extender_server.http_server import ExtenderServer, ServerOptions
from quaymaster._extender_server.service import ExtenderService, UnknownNodes
from quaymaster._extender_server.tls import CertificateError, ServerTLS, TLSFiles

__all__ = [
    "CertificateError",
    "ExtenderServer",
    "ExtenderService",
    "ServerOptions",
    "ServerTLS",
    "TLSFiles",
    "UnknownNodes",
]
