"""Defaults of pull policies.

Mirrors ``SetDefaults_Container`` (Kubernetes v1.37, ``pkg/apis/core/v1/defaults.go``)
and ``ParseImageName`` (``pkg/util/parsers``), with the grammar of
``github.com/distribution/reference``.
"""

import functools
import re
from typing import Final

__all__ = ["default_pull_policy"]

_LABEL: Final = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_DOMAIN: Final = rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_STEP: Final = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_ALGORITHM: Final = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*"
_IMAGE: Final = re.compile(
    rf"(?:{_DOMAIN}/)?{_STEP}(?:/{_STEP})*"
    r"(?::(?P<tag>[\w][\w.-]{0,127}))?"
    rf"(?:@(?P<digest>{_ALGORITHM}:[0-9a-fA-F]{{32,}}))?",
    re.ASCII,
)
_ID: Final = re.compile(r"[a-f0-9]{64}", re.ASCII)


@functools.lru_cache(maxsize=4096)
def default_pull_policy(image: str) -> str:
    """Return Always for the newest image of a name, else IfNotPresent.

    A name that cannot be read counts as one with a tag, as upstream.
    """
    name = _IMAGE.fullmatch(image)
    if name is None or _ID.fullmatch(image):
        return "IfNotPresent"
    tag, digest = name.group("tag", "digest")
    return "Always" if tag == "latest" or not (tag or digest) else "IfNotPresent"
