"""What tests see of ``quaymaster._base.serving``."""

from quaymaster._base.serving.self_signed import SelfSignedTLS
from quaymaster._base.serving.timed_protocol import ConnectionLimits, make_protocol
from quaymaster._base.serving.tls import CertificateError, ServerTLS, TLSFiles

__all__ = [
    "CertificateError",
    "ConnectionLimits",
    "SelfSignedTLS",
    "ServerTLS",
    "TLSFiles",
    "make_protocol",
]
