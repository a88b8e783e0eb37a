"""TLS settings of the connection to an extender.

Mirrors ``makeTransport`` (Kubernetes v1.36, ``pkg/scheduler/extender.go``):
``enableHTTPS`` without root certificates leaves the server's certificate unchecked.
"""

import ssl

from quaymaster._base.https import load_client_certificate
from quaymaster._core.config.settings import Extender, ExtenderTLS
from quaymaster._core.extenders.errors import ExtenderError

__all__ = ["tls_context"]


def tls_context(extender: Extender) -> ssl.SSLContext:
    """Create the TLS context of an extender's ``tlsConfig``.

    Raises:
        ExtenderError: A certificate or key cannot be read.
    """
    settings = extender.tls_config or ExtenderTLS()
    has_roots = bool(settings.ca_file or settings.ca_data)
    try:
        context = _with_roots(settings)
        # The order of the two lines matters: Python rejects CERT_NONE while the host
        # name is checked.
        if settings.insecure or (extender.enable_https and not has_roots):
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        load_client_certificate(
            context,
            cert_file=settings.cert_file,
            cert_data=settings.cert_data,
            key_file=settings.key_file,
            key_data=settings.key_data,
        )
    except (OSError, ValueError) as error:
        where = f"extender {extender.url_prefix}: tlsConfig"
        raise ExtenderError(f"{where}: cannot be used: {error}") from error
    return context


def _with_roots(settings: ExtenderTLS) -> ssl.SSLContext:
    if settings.ca_data:
        return ssl.create_default_context(cadata=settings.ca_data.decode("ascii"))
    return ssl.create_default_context(cafile=settings.ca_file or None)
