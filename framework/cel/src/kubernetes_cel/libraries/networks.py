"""Addresses and networks.

Mirrors ``pkg/cel/library/ip.go`` and ``pkg/cel/library/cidr.go`` (k8s.io/apiserver
v0.36), which parse them with Go's ``net/netip``.
"""

import ipaddress
from typing import Final

import attrs

from kubernetes_cel.declarations import Overload, function, method
from kubernetes_cel.dispatch import TYPE_NAMES
from kubernetes_cel.equality import comparable_with_own_class
from kubernetes_cel.errors import CelEvaluationError
from kubernetes_cel.lookups import without_native_form

__all__ = ["CIDR", "IP", "OVERLOADS"]

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_LOCAL_MULTICAST_4: Final = ipaddress.ip_network("224.0.0.0/24")
_BROADCAST: Final = ipaddress.ip_address("255.255.255.255")


@attrs.frozen
class IP:
    """An address."""

    address: _Address


@attrs.frozen
class CIDR:
    """An address, and the number of bits of its network prefix."""

    address: _Address
    bits: int

    @property
    def network(self) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
        """The network of the address."""
        return ipaddress.ip_network((self.address, self.bits), strict=False)


for _kind, _name in ((IP, "net.IP"), (CIDR, "net.CIDR")):
    comparable_with_own_class(_kind)
    without_native_form(_kind)
    TYPE_NAMES[_kind] = _name


def _text(address: _Address) -> str:
    """Return the text of an address as Go prints it."""
    return address.compressed


def _address(text: str) -> _Address:
    # Kubernetes rejects zones and mapped addresses, which Go's parser accepts.
    if "%" in text:
        raise ValueError(f"IP address {text!r} with zone value is not allowed")
    address = ipaddress.ip_address(text)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        raise ValueError(f"IPv4-mapped IPv6 address {text!r} is not allowed")
    return address


def _ip(text: str) -> IP:
    try:
        return IP(_address(text))
    except ValueError as error:
        raise CelEvaluationError(
            f"IP Address {text!r} parse error during conversion from string: {error}"
        ) from error


def _is_ip(text: str) -> bool:
    try:
        _address(text)
    except ValueError:
        return False
    return True


def _is_canonical(text: str) -> bool:
    return _text(_ip(text).address) == text


def _cidr(text: str) -> CIDR:
    prefix, slash, bits = text.rpartition("/")
    try:
        address = _address(prefix)
        # ``netip.ParsePrefix`` accepts neither signs nor leading zeros.
        if not slash or not bits.isascii() or not bits.isdecimal():
            raise ValueError("bad bits after slash")
        if (len(bits) > 1 and bits.startswith("0")) or int(
            bits
        ) > address.max_prefixlen:
            raise ValueError("prefix length out of range")
        return CIDR(address, int(bits))
    except ValueError as error:
        raise CelEvaluationError(
            f"network address parse error during conversion from string: {error}"
        ) from error


def _is_cidr(text: str) -> bool:
    try:
        _cidr(text)
    except CelEvaluationError:
        return False
    return True


def _contains_ip(cidr: CIDR, ip: IP) -> bool:
    return ip.address in cidr.network


def _contains_cidr(cidr: CIDR, other: CIDR) -> bool:
    return (
        cidr.address.version == other.address.version
        # A network contains another one only if it is not smaller.
        and cidr.bits <= other.bits
        and other.address in cidr.network
    )


def _is_local_multicast(ip: IP) -> bool:
    if isinstance(ip.address, ipaddress.IPv4Address):
        return ip.address in _LOCAL_MULTICAST_4
    first, second = ip.address.packed[:2]
    return first == 0xFF and second & 0x0F == 2


def _is_global_unicast(ip: IP) -> bool:
    address = ip.address
    # As Go's ``IsGlobalUnicast``: private addresses count as global.
    return address != _BROADCAST and not (
        address.is_unspecified
        or address.is_loopback
        or address.is_multicast
        or address.is_link_local
    )


OVERLOADS: Final[tuple[Overload, ...]] = (
    function("string_to_ip", "ip(string) -> net.IP", _ip),
    method("ip_family", "net.IP.family() -> int", lambda ip: ip.address.version),
    function("ip_is_canonical", "ip.isCanonical(string) -> bool", _is_canonical),
    method(
        "ip_is_unspecified",
        "net.IP.isUnspecified() -> bool",
        lambda ip: ip.address.is_unspecified,
    ),
    method(
        "ip_is_loopback",
        "net.IP.isLoopback() -> bool",
        lambda ip: ip.address.is_loopback,
    ),
    method(
        "ip_is_link_local_multicast",
        "net.IP.isLinkLocalMulticast() -> bool",
        _is_local_multicast,
    ),
    method(
        "ip_is_link_local_unicast",
        "net.IP.isLinkLocalUnicast() -> bool",
        lambda ip: ip.address.is_link_local,
    ),
    method(
        "ip_is_global_unicast", "net.IP.isGlobalUnicast() -> bool", _is_global_unicast
    ),
    function("is_ip", "isIP(string) -> bool", _is_ip),
    function("ip_to_string", "string(net.IP) -> string", lambda ip: _text(ip.address)),
    function("string_to_cidr", "cidr(string) -> net.CIDR", _cidr),
    method(
        "cidr_contains_ip_string",
        "net.CIDR.containsIP(string) -> bool",
        lambda cidr, text: _contains_ip(cidr, _ip(text)),
    ),
    method("cidr_contains_ip_ip", "net.CIDR.containsIP(net.IP) -> bool", _contains_ip),
    method(
        "cidr_contains_cidr_string",
        "net.CIDR.containsCIDR(string) -> bool",
        lambda cidr, text: _contains_cidr(cidr, _cidr(text)),
    ),
    method(
        "cidr_contains_cidr",
        "net.CIDR.containsCIDR(net.CIDR) -> bool",
        _contains_cidr,
    ),
    method("cidr_ip", "net.CIDR.ip() -> net.IP", lambda cidr: IP(cidr.address)),
    method("cidr_prefix_length", "net.CIDR.prefixLength() -> int", lambda c: c.bits),
    method(
        "cidr_masked",
        "net.CIDR.masked() -> net.CIDR",
        lambda cidr: CIDR(cidr.network.network_address, cidr.bits),
    ),
    function("is_cidr", "isCIDR(string) -> bool", _is_cidr),
    function(
        "cidr_to_string",
        "string(net.CIDR) -> string",
        lambda cidr: f"{_text(cidr.address)}/{cidr.bits}",
    ),
)
