"""Certificates for servers and clients of tests."""

import base64
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

__all__ = ["encoded", "make_certificate", "mutual_tls_context"]


def make_certificate(folder: Path) -> Path:
    """Write a self-signed certificate for harbour.example into a folder.

    Returns:
        The folder, with ``cert.pem`` and ``key.pem``.
    """
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs the openssl command to make a certificate")
    arguments = (
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=harbour.example "
        "-addext subjectAltName=DNS:harbour.example -keyout key.pem -out cert.pem"
    )
    subprocess.run(
        [openssl, *arguments.split()], cwd=folder, check=True, capture_output=True
    )
    return folder


def mutual_tls_context(folder: Path) -> ssl.SSLContext:
    """Return the TLS context of a server that requests certificates of its clients."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    context.load_verify_locations(folder / "cert.pem")
    context.verify_mode = ssl.CERT_OPTIONAL
    return context


def encoded(path: Path) -> str:
    """Return a file in base64, as kubeconfigs and configurations have it inline."""
    return base64.b64encode(path.read_bytes()).decode()
