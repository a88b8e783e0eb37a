"""Named formats of strings, such as names of objects.

Mirrors ``pkg/cel/library/format.go`` (k8s.io/apiserver v0.36). The messages
about invalid strings are shorter than upstream's.
"""

import base64
import binascii
import datetime
import re
from collections.abc import Callable
from typing import Final

import attrs

from kubernetes_cel.declarations import Overload, function, method
from kubernetes_cel.dispatch import TYPE_NAMES
from kubernetes_cel.equality import comparable_with_own_class
from kubernetes_cel.libraries.urls import request_uri
from kubernetes_cel.values import NONE, Optional

__all__ = ["OVERLOADS", "Format"]


@attrs.frozen
class Format:
    """A format.

    Attributes:
        name: Its name.
        accepts: Returns whether a string has the format.
        problem: The message about a string that does not have it.
        pattern_size: The length of the pattern that upstream uses to compute costs.
    """

    name: str
    accepts: Callable[[str], bool] = attrs.field(eq=False)
    problem: str = attrs.field(eq=False)
    pattern_size: int = attrs.field(eq=False)


comparable_with_own_class(Format)
TYPE_NAMES[Format] = "kubernetes.NamedFormat"

_LABEL: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_NAME: Final = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"


def _matching(
    pattern: str, longest: int, *, prefix: bool = False
) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.ASCII)

    def accepts(text: str) -> bool:
        if len(text.encode()) > longest:
            return False
        if prefix and len(text) > 1 and text.endswith("-"):
            # ``maskTrailingDash`` (apimachinery, api/validation/generic.go): a
            # generated suffix will follow the dash, so the prefix is checked without
            # it.
            text = f"{text[:-2]}a"
        return compiled.fullmatch(text) is not None

    return accepts


def _is_qualified_name(text: str) -> bool:
    prefix, slash, name = text.rpartition("/")
    if slash and not _matching(_SUBDOMAIN, 253)(prefix):
        return False
    return _matching(_NAME, 63)(name)


def _is_uri(text: str) -> bool:
    try:
        request_uri(text)
    except ValueError:
        return False
    return True


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    # Python accepts less padding than Go's ``StdEncoding``.
    return len(text) % 4 == 0 and text != ""


def _is_date(text: str) -> bool:
    try:
        # ``strptime`` takes single digits for months and days, so the length is tested,
        # too.
        datetime.datetime.strptime(text, "%Y-%m-%d")
    except ValueError:
        return False
    return len(text) == 10


_CLOCK: Final = re.compile(
    # The unescaped dot is upstream's: any character may separate the fraction.
    r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})",
    re.ASCII,
)


def _is_datetime(text: str) -> bool:
    date, letter, clock = text.lower().partition("t")
    # Upstream splits at each ``t`` and reads the second part only.
    clock = clock.partition("t")[0]
    return bool(letter) and _is_date(date) and _CLOCK.fullmatch(clock) is not None


_UUID: Final = r"(?i:[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12})"
_LABEL_1035: Final = r"[a-z]([-a-z0-9]*[a-z0-9])?"
_FORMATS: Final = {
    "dns1123Label": Format(
        "DNS1123Label", _matching(_LABEL, 63), "a DNS-1123 label is expected", 30
    ),
    "dns1123Subdomain": Format(
        "DNS1123Subdomain",
        _matching(_SUBDOMAIN, 253),
        "a DNS-1123 subdomain is expected",
        60,
    ),
    "dns1035Label": Format(
        "DNS1035Label", _matching(_LABEL_1035, 63), "a DNS-1035 label is expected", 30
    ),
    "qualifiedName": Format(
        "QualifiedName", _is_qualified_name, "a qualified name is expected", 60
    ),
    "dns1123LabelPrefix": Format(
        "DNS1123LabelPrefix",
        _matching(_LABEL, 63, prefix=True),
        "the beginning of a DNS-1123 label is expected",
        30,
    ),
    "dns1123SubdomainPrefix": Format(
        "DNS1123SubdomainPrefix",
        _matching(_SUBDOMAIN, 253, prefix=True),
        "the beginning of a DNS-1123 subdomain is expected",
        60,
    ),
    "dns1035LabelPrefix": Format(
        "DNS1035LabelPrefix",
        _matching(_LABEL_1035, 63, prefix=True),
        "the beginning of a DNS-1035 label is expected",
        30,
    ),
    "labelValue": Format(
        "LabelValue",
        _matching(rf"({_NAME})?", 63),
        "the value of a label is expected",
        40,
    ),
    "uri": Format("URI", _is_uri, "invalid URI for request", 1103),
    "uuid": Format("uuid", _matching(_UUID, 36), "does not match the UUID format", 70),
    "byte": Format("byte", _is_base64, "invalid base64", 84),
    "date": Format("date", _is_date, "invalid date", 71),
    "datetime": Format("datetime", _is_datetime, "invalid datetime", 71),
}


def _named(name: str) -> Optional:
    return Optional(_FORMATS[name]) if name in _FORMATS else NONE


def _validate(format_: Format, text: str) -> Optional:
    return NONE if format_.accepts(text) else Optional([format_.problem])


OVERLOADS: Final[tuple[Overload, ...]] = (
    *(
        function(
            f"format.{name}",
            f"format.{name}() -> kubernetes.NamedFormat",
            lambda format_=format_: format_,
        )
        for name, format_ in _FORMATS.items()
    ),
    function(
        "format-named",
        "format.named(string) -> optional(kubernetes.NamedFormat)",
        _named,
    ),
    method(
        "format-validate",
        "kubernetes.NamedFormat.validate(string) -> optional(list(string))",
        _validate,
    ),
)
