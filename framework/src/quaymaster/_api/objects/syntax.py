"""The forms that names, labels and other texts of objects must have.

Mirrors ``pkg/util/validation`` and ``pkg/api/validate/content`` (k8s.io/apimachinery
v0.36).
"""

import functools
import re
from collections.abc import Callable
from typing import Final, NamedTuple

from quaymaster._api.objects.requirements import (
    is_label_key,
    is_label_value,
    is_subdomain,
)

__all__ = [
    "CSI_DRIVER_NAME",
    "DNS_LABEL",
    "DOMAIN_PATH",
    "FEATURE_NAME",
    "LABEL_KEY",
    "LABEL_VALUE",
    "PATH_SEGMENT",
    "PERCENTAGE",
    "PORT_NAME",
    "SUBDOMAIN",
    "Form",
    "as_prefix",
]

_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_PORT: Final = re.compile(r"(?!-)(?!.*--)(?=.*[a-z])[-a-z0-9]{1,15}(?<!-)", re.ASCII)
_FEATURE: Final = re.compile(r"[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*", re.ASCII)
_PATH: Final = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+", re.ASCII)
_PERCENTAGE: Final = re.compile(r"0*([0-9]{1,2}|100)%", re.ASCII)


class Form(NamedTuple):
    """A form that a text must have.

    Attributes:
        expected: A description of the form, for messages.
        fits: Returns whether a text has the form.
    """

    expected: str
    fits: Callable[[str], bool]


def as_prefix(name: str) -> str:
    """Make a full name from the prefix of a generated one, to check its form.

    A prefix may end with a dash, as in upstream's ``maskTrailingDash``.
    """
    return f"{name[:-2]}a" if len(name) > 1 and name.endswith("-") else name


@functools.lru_cache(maxsize=4096)
def _is_dns_label(text: str) -> bool:
    return len(text) <= 63 and _LABEL.fullmatch(text) is not None


# The module of these two is not complete yet when this one is loaded first.
def _is_key(text: str) -> bool:
    return is_label_key(text)


def _is_value(text: str) -> bool:
    return is_label_value(text)


def _is_domain_path(text: str) -> bool:
    domain, _, path = text.partition("/")
    return len(text) <= 63 and is_subdomain(domain) and bool(_PATH.fullmatch(path))


def _is_path_segment(text: str) -> bool:
    return text not in (".", "..") and "/" not in text and "%" not in text


SUBDOMAIN: Final = Form(
    "at most 253 lower-case letters, digits, '-' and '.', with a letter or digit at "
    "either end of each part",
    is_subdomain,
)
DNS_LABEL: Final = Form(
    "at most 63 lower-case letters, digits and '-', with a letter or digit at either "
    "end",
    _is_dns_label,
)
DOMAIN_PATH: Final = Form(
    "at most 63 characters of a path below a domain, such as example.com/jobs",
    _is_domain_path,
)
LABEL_KEY: Final = Form("a label key such as app or example.com/app", _is_key)
LABEL_VALUE: Final = Form(
    "at most 63 letters, digits, '-', '_' and '.', with a letter or digit at either "
    "end",
    _is_value,
)
PATH_SEGMENT: Final = Form("a name without '/' and '%'", _is_path_segment)
PORT_NAME: Final = Form(
    "at most 15 lower-case letters, digits and single '-', with a letter or digit at "
    "either end and one letter at least",
    lambda text: _PORT.fullmatch(text) is not None,
)
CSI_DRIVER_NAME: Final = Form(
    "at most 63 letters, digits, '-' and '.', with a letter or digit at either end of "
    "each part",
    lambda text: len(text) <= 63 and is_subdomain(text.lower()),
)
FEATURE_NAME: Final = Form(
    "a feature such as MyFeature or MyFeature/part",
    lambda text: len(text) <= 253 and _FEATURE.fullmatch(text) is not None,
)
PERCENTAGE: Final = Form(
    "a number or a percentage such as 30%",
    lambda text: _PERCENTAGE.fullmatch(text) is not None,
)
