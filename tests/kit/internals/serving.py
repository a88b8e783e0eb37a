"""What tests see of ``quaymaster._serving``."""

from quaymaster._serving.self_signed import SelfSignedTLS
from quaymaster._serving.tls import CertificateError, ServerTLS, TLSFiles

__all__ = ["CertificateError", "SelfSignedTLS", "ServerTLS", "TLSFiles"]
