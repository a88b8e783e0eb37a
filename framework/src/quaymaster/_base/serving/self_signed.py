"""A self-signed certificate for servers that have no certificate.

It needs the package cryptography, from the extra ``kubernetes``.
"""

import contextlib
import os
import ssl
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from quaymaster._base.serving.tls import Authorities, RenewedTLS, new_context, stamp

__all__ = ["SelfSignedTLS"]

_YEAR = timedelta(days=365)
_SLACK = timedelta(hours=1)  # clocks of clients may be behind


class SelfSignedTLS(RenewedTLS):
    """Wraps connections in TLS, with a certificate that is made at the start.

    Args:
        host: The address that the server listens on.
        client_authorities: The file of the authorities of clients' certificates, or
            None.
        authorities: Returns further authorities of clients' certificates.

    Raises:
        CertificateError: The file cannot be used.
    """

    def __init__(
        self,
        host: str,
        client_authorities: str | None = None,
        authorities: Authorities = lambda: "",
    ) -> None:
        own = _certificate_and_key(host)

        def make() -> ssl.SSLContext:
            context = new_context(client_authorities, authorities())
            with _as_file(own) as path:
                context.load_cert_chain(path)
            return context

        super().__init__(lambda: (stamp(client_authorities), authorities()), make)


def _certificate_and_key(host: str) -> bytes:
    """Make a key and a self-signed certificate for a host, in PEM form."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"{host}@quaymaster")])
    names: list[x509.GeneralName] = [x509.DNSName("localhost")]
    with contextlib.suppress(ValueError):
        names.append(x509.IPAddress(ip_address(host)))
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SLACK)
        .not_valid_after(now + _YEAR)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ) + certificate.public_bytes(serialization.Encoding.PEM)


@contextlib.contextmanager
def _as_file(data: bytes) -> Iterator[str]:
    """Give bytes a path, in memory if possible: containers may lack a writable folder.

    The library that reads certificates accepts only paths.
    """
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create("certificate"), "wb") as file:
            file.write(data)
            file.flush()
            yield f"/proc/self/fd/{file.fileno()}"
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "certificate.pem")
            path.write_bytes(data)
            yield str(path)
