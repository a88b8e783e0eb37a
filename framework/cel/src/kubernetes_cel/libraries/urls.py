"""URLs.

Mirrors ``pkg/cel/library/urls.go`` (k8s.io/apiserver v0.36), which parses them with
Go's ``net/url``.
"""

import ipaddress
import re
import string
from typing import Final
from urllib.parse import unquote_to_bytes

import attrs

from kubernetes_cel.declarations import Overload, function, method
from kubernetes_cel.dispatch import TYPE_NAMES
from kubernetes_cel.equality import comparable_with_own_class
from kubernetes_cel.errors import CelEvaluationError
from kubernetes_cel.lookups import without_native_form

__all__ = ["OVERLOADS", "URL", "request_uri"]

_UNRESERVED: Final = frozenset(string.ascii_letters + string.digits + "-_.~")
_IN_PATH: Final = _UNRESERVED | frozenset("$&+,/:;=@")
_IN_RAW_PATH: Final = _IN_PATH | frozenset("!'()*[]%")
_IN_HOST: Final = _UNRESERVED | frozenset("!$&'()*+,;=:[]<>\"")
_IN_USER: Final = _UNRESERVED | frozenset("-._:~!$&'()*+,;=%@")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):", re.ASCII)
_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PORT: Final = re.compile(r"(?::[0-9]*)?", re.ASCII)


@attrs.frozen
class URL:
    """The parts of a URL."""

    scheme: str
    opaque: str
    user: str
    host: str
    path: str
    query: str
    fragment: str


comparable_with_own_class(URL)
without_native_form(URL)
TYPE_NAMES[URL] = "kubernetes.URL"


def _unescaped(text: str) -> str:
    if _ESCAPE.search(text):
        raise ValueError("invalid URL escape")
    # Go's strings may hold any bytes, so invalid UTF-8 must survive here.
    return unquote_to_bytes(text).decode(errors="surrogateescape")


def _escaped_path(path: str) -> str:
    """Return a path unchanged if it is valid, or with escapes."""
    if all(each in _IN_RAW_PATH for each in path):
        return path
    raw = _unescaped(path).encode(errors="surrogateescape")
    return "".join(
        chr(each) if chr(each) in _IN_PATH else f"%{each:02X}" for each in raw
    )


def request_uri(text: str) -> URL:
    """Parse the URL of a request: an absolute URL, or a path from the root.

    Raises:
        ValueError: The text is not such a URL.
    """
    return _parsed(text, request=True)


def _parsed(text: str, *, request: bool) -> URL:
    if any(ord(each) < 0x20 or ord(each) == 0x7F for each in text):
        raise ValueError("invalid control character in URL")
    if not text and request:
        raise ValueError("empty url")
    if text == "*":
        return URL("", "", "", "", "*", "", "")
    if text.startswith(":"):
        raise ValueError("missing protocol scheme")
    match = _SCHEME.match(text)
    scheme, rest = (match[1].lower(), text[match.end() :]) if match else ("", text)
    rest, _, query = rest.partition("?")
    # A URL such as ``mailto:x`` has no slash after the scheme; Go calls the rest
    # opaque.
    if not rest.startswith("/"):
        if scheme:
            return URL(scheme, rest, "", "", "", query, "")
        if request:
            raise ValueError("invalid URI for request")
        # Without this rule, ``a:b`` would be read as a path (RFC 3986, 4.2).
        if ":" in rest.partition("/")[0]:
            raise ValueError("first path segment in URL cannot contain colon")
    user = host = ""
    if rest.startswith("//") and (scheme or not (request or rest.startswith("///"))):
        authority, slash, after = rest[2:].partition("/")
        rest = slash + after
        user, host = _authority(authority)
    _unescaped(rest)
    return URL(scheme, "", user, host, rest, query, "")


def _authority(text: str) -> tuple[str, str]:
    user, at, host = text.rpartition("@")
    if at and not all(each in _IN_USER for each in user):
        raise ValueError("net/url: invalid userinfo")
    _unescaped(user)
    return user, _host(host)


def _host(host: str) -> str:
    if "[" in host[1:]:
        raise ValueError("invalid IP-literal")
    if host.startswith("["):
        inside, bracket, port = host.rpartition("]")
        if not bracket:
            raise ValueError("missing ']' in host")
        # The percent sign of a zone is itself escaped in a URL.
        zone = inside.partition("%25")[2]
        host = (
            f"{inside.partition('%25')[0]}%{_unescaped(zone)}]{port}" if zone else host
        )
        try:
            ipaddress.IPv6Address(host[1:].rpartition("]")[0])
        except ValueError as error:
            raise ValueError(f"invalid host: {error}") from error
    else:
        colon = host.rfind(":")
        port = host[colon:] if colon >= 0 else ""
        if ":" in host[: max(colon, 0)]:
            raise ValueError("invalid host: too many colons")
    if not _PORT.fullmatch(port):
        raise ValueError(f"invalid port {port!r} after host")
    if not host.startswith("["):
        # Escapes of bytes above ASCII are allowed in host names, others are not.
        for each in re.sub(r"%[89A-Fa-f][0-9A-Fa-f]", "", host):
            if each < "\x80" and each not in _IN_HOST:
                raise ValueError(f"invalid character {each!r} in host name")
        return _unescaped(host)
    return host


def _url(text: str) -> URL:
    try:
        # Upstream parses twice: first as the URL of a request, then as any URL, for its
        # fragment.
        request_uri(text)
        before, _, fragment = text.partition("#")
        url = _parsed(before, request=False)
        return attrs.evolve(url, fragment=_unescaped(fragment))
    except ValueError as error:
        raise CelEvaluationError(
            f"URL parse error during conversion from string: {error}"
        ) from error


def _is_url(text: str) -> bool:
    try:
        request_uri(text)
    except ValueError:
        return False
    return True


def _host_name(url: URL) -> str:
    if url.host.startswith("["):
        return url.host[1:].partition("]")[0]
    return url.host.partition(":")[0]


def _port(url: URL) -> str:
    after = url.host.rpartition("]")[2]
    return after.partition(":")[2]


def _query(url: URL) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for pair in url.query.split("&"):
        # Go ignores pairs with a semicolon, which once separated pairs.
        if not pair or ";" in pair:
            continue
        key, _, value = pair.partition("=")
        try:
            key = _unescaped(key.replace("+", " "))
            value = _unescaped(value.replace("+", " "))
        except ValueError:
            continue
        values.setdefault(key, []).append(value)
    return values


OVERLOADS: Final[tuple[Overload, ...]] = (
    function("string_to_url", "url(string) -> kubernetes.URL", _url),
    function("is_url_string", "isURL(string) -> bool", _is_url),
    method(
        "url_get_scheme", "kubernetes.URL.getScheme() -> string", lambda url: url.scheme
    ),
    method("url_get_host", "kubernetes.URL.getHost() -> string", lambda url: url.host),
    method("url_get_hostname", "kubernetes.URL.getHostname() -> string", _host_name),
    method("url_get_port", "kubernetes.URL.getPort() -> string", _port),
    method(
        "url_get_escaped_path",
        "kubernetes.URL.getEscapedPath() -> string",
        lambda url: _escaped_path(url.path),
    ),
    method(
        "url_get_query",
        "kubernetes.URL.getQuery() -> map(string, list(string))",
        _query,
    ),
)
