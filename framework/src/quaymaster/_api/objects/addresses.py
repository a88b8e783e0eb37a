"""Checks IP addresses and networks.

Mirrors ``IsValidIPForLegacyField`` and ``IsValidCIDRForLegacyField`` with strict
validation (k8s.io/apimachinery v0.37, ``pkg/util/validation/ip.go``).
"""

import ipaddress
import re
from typing import Final, TypeAlias

__all__ = ["Network", "is_address", "network_of", "network_problem"]

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_LENGTH: Final = re.compile(r"0|[1-9][0-9]{0,2}", re.ASCII)


def is_address(text: str) -> bool:
    """Return whether a text is an address, without leading zeros in IPv4."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return not (isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped)


def network_of(text: str) -> Network | None:
    """Return the network that a text names, or None."""
    address, slash, length = text.partition("/")
    if not slash or not _LENGTH.fullmatch(length) or not is_address(address):
        return None
    try:
        return ipaddress.ip_network(text, strict=True)
    except ValueError:
        return None


def network_problem(text: str) -> str:
    """Return what is wrong with a network, or an empty text."""
    if network_of(text) is not None:
        return ""
    return f"expected a network such as 10.9.8.0/24 or 2001:db8::/64, got {text!r}"
