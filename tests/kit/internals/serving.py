"""What tests see of ``quaymaster._base.serving``."""

from quaymaster._base.serving.connections import Connections
from quaymaster._base.serving.heads import MOST_HEAD_BYTES, MOST_HEAD_FIELDS
from quaymaster._base.serving.limited_connections import ConnectionLimits
from quaymaster._base.serving.self_signed import SelfSignedTLS
from quaymaster._base.serving.timed_protocol import make_protocol
from quaymaster._base.serving.tls import CertificateError, ServerTLS, TLSFiles

__all__ = [
    "MOST_HEAD_BYTES",
    "MOST_HEAD_FIELDS",
    "CertificateError",
    "ConnectionLimits",
    "Connections",
    "SelfSignedTLS",
    "ServerTLS",
    "TLSFiles",
    "make_protocol",
]
