"""Heads of requests: they are bounded, and their bodies end where all agree.

A proxy and a server that disagree where a request ends let a client smuggle a second
request past the proxy. So whatever RFC 9112 lets a server read in two ways is rejected.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

__all__ = ["MOST_HEAD_BYTES", "MOST_HEAD_FIELDS", "HeadError", "read_fields"]

MOST_HEAD_BYTES: Final = 1 << 16
"""The longest head of a request: as of most servers; chosen, not measured."""
MOST_HEAD_FIELDS: Final = 100
"""The most fields of a head: as of Python's and Apache's servers."""

_REQUEST_LINE: Final = re.compile(
    rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+ [\x21-\x7e\x80-\xff]+ HTTP/[0-9]\.[0-9]\r\n"
)
_FIELD: Final = re.compile(
    rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e\x80-\xff]*)\r\n"
)
_ONCE: Final = (b"content-length", b"transfer-encoding", b"host")
_NEEDS_HOST: Final = b" HTTP/1.1\r\n"
_BODILESS: Final = (b"GET ", b"HEAD ")


class HeadError(ValueError):
    """A head that is rejected.

    Attributes:
        is_too_large: Whether it exceeds a limit.
    """

    def __init__(self, problem: str, *, is_too_large: bool = False) -> None:
        super().__init__(problem)
        self.is_too_large = is_too_large


def read_fields(line: bytes, read_line: Callable[[int], bytes]) -> bytes:
    """Read the fields of a head, up to the empty line, which is included.

    Args:
        line: The request line.
        read_line: Reads a line up to a number of bytes; empty at the end.

    Raises:
        HeadError: It is ambiguous, malformed or too large.
    """
    if not _REQUEST_LINE.fullmatch(line):
        raise HeadError("expected a request line such as 'GET /healthz HTTP/1.1'")
    left = MOST_HEAD_BYTES - len(line)
    lines: list[bytes] = []
    while (field := read_line(left + 1)) != b"\r\n":
        left -= len(field)
        if left < 0:
            problem = f"expected a head of at most {MOST_HEAD_BYTES} bytes"
            raise HeadError(problem, is_too_large=True)
        if len(lines) == MOST_HEAD_FIELDS:
            problem = f"expected at most {MOST_HEAD_FIELDS} fields"
            raise HeadError(problem, is_too_large=True)
        lines.append(field)
    _check_framing(line, lines)
    return b"".join(lines) + b"\r\n"


def _check_framing(line: bytes, lines: Sequence[bytes]) -> None:
    values: dict[bytes, bytes] = {}
    for field in lines:
        match = _FIELD.fullmatch(field)
        if match is None:
            raise HeadError("expected a field such as 'Accept: */*' and CRLF")
        name = match[1].lower()
        if name in _ONCE and name in values:
            raise HeadError(f"expected one field {name.decode()}")
        values[name] = match[2].strip(b" \t")
    if b"host" not in values and line.endswith(_NEEDS_HOST):
        raise HeadError("expected a field Host")
    length = values.get(b"content-length")
    has_coding = b"transfer-encoding" in values
    if length is not None and not length.isdigit():
        raise HeadError("expected a Content-Length in digits")
    if length is not None and has_coding:
        raise HeadError("expected Content-Length or Transfer-Encoding, got both")
    if line.startswith(_BODILESS) and (has_coding or (length or b"0").strip(b"0")):
        raise HeadError("expected no body in a GET or HEAD")
