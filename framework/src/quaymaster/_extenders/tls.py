"""TLS settings of the connection to an extender.

Mirrors ``makeTransport`` (Kubernetes v1.36, ``pkg/scheduler/extender.go``):
``enableHTTPS`` without root certificates leaves the server's certificate unchecked.
"""

import ssl
import tempfile
from pathlib import Path

from quaymaster._config.settings import Extender, ExtenderTLS
from quaymaster._extenders.errors import ExtenderError

__all__ = ["tls_context"]


def tls_context(extender: Extender) -> ssl.SSLContext:
    """Make the context that an extender's ``tlsConfig`` asks for.

    Raises:
        ExtenderError: A certificate or key cannot be read.
    """
    settings = extender.tls_config or ExtenderTLS()
    has_roots = bool(settings.ca_file or settings.ca_data)
    try:
        context = _with_roots(settings)
        if settings.insecure or (extender.enable_https and not has_roots):
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        _load_client_certificate(context, settings)
    except (OSError, ValueError) as error:
        where = f"extender {extender.url_prefix}: tlsConfig"
        raise ExtenderError(f"{where}: cannot be used: {error}") from error
    return context


def _with_roots(settings: ExtenderTLS) -> ssl.SSLContext:
    if settings.ca_data:
        return ssl.create_default_context(cadata=settings.ca_data.decode("ascii"))
    return ssl.create_default_context(cafile=settings.ca_file or None)


def _load_client_certificate(context: ssl.SSLContext, settings: ExtenderTLS) -> None:
    if not (settings.cert_data or settings.cert_file):
        return
    with tempfile.TemporaryDirectory() as folder:  # ssl reads nothing but files
        certificate = settings.cert_file
        if settings.cert_data:
            certificate = _written(Path(folder, "cert.pem"), settings.cert_data)
        key = settings.key_file
        if settings.key_data:
            key = _written(Path(folder, "key.pem"), settings.key_data)
        context.load_cert_chain(certificate, key or None)


def _written(path: Path, data: bytes) -> str:
    path.touch(mode=0o600)
    path.write_bytes(data)
    return str(path)
