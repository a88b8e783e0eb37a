"""Detects requests that a web page made a browser send.

A page of any site can make a browser send requests to 127.0.0.1, and can read the
responses if a name of its own leads there (DNS rebinding). Servers without
authentication reject such requests by the fields that no page may choose: ``Host`` is
the page's own name, ``Origin`` comes with each POST, and browsers send JSON of another
site only after the server has allowed it, which none does. Programs send neither
``Origin`` nor the types of forms.
"""

import ipaddress
from functools import lru_cache
from http import HTTPStatus
from typing import Final, TypeAlias

import attrs

__all__ = ["Refusal", "SentFields", "is_loopback", "refusal_of"]

Refusal: TypeAlias = tuple[HTTPStatus, str]
"""A status, and the reason."""

_JSON: Final = "application/json"
_MOST_CACHED: Final = 256  # names of hosts: parsing one takes 3 us
_LONGEST: Final = 100  # characters of a host in a message


@attrs.frozen(kw_only=True)
class SentFields:
    """The fields of a request that a browser sets itself; empty if absent.

    Attributes:
        host: Of ``Host``.
        origin: Of ``Origin``.
        content_type: Of ``Content-Type``.
    """

    host: str
    origin: str
    content_type: str


def refusal_of(
    fields: SentFields, *, checks_host: bool, own_origin: str = ""
) -> Refusal | None:
    """Return why a request may be that of a web page, or None.

    Args:
        fields: Its fields.
        checks_host: Whether only addresses and ``localhost`` are names of this server:
            it can only be reached from this machine.
        own_origin: The origin of the server's own pages, if it has any.
    """
    if checks_host and not _is_own_host(fields.host):
        host = fields.host[:_LONGEST]
        problem = f"expected localhost or an IP address as Host, got {host!r}"
        return HTTPStatus.FORBIDDEN, problem
    if fields.origin not in ("", own_origin):
        return HTTPStatus.FORBIDDEN, "requests of web pages (Origin) are rejected"
    if fields.content_type and not _is_json(fields.content_type):
        return HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"expected Content-Type: {_JSON}"
    return None


def is_loopback(host: str) -> bool:
    """Return whether an address is a loopback address; of names, localhost is."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@lru_cache(_MOST_CACHED)
def _is_own_host(host: str) -> bool:
    name, colon, port = host.rpartition(":")
    if not (colon and port.isdecimal()) or host.endswith("]"):
        name = host
    try:
        return bool(ipaddress.ip_address(name.removeprefix("[").removesuffix("]")))
    except ValueError:
        return name.lower().removesuffix(".") == "localhost"


def _is_json(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == _JSON
