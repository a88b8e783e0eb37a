"""What a minor version of Kubernetes says of its own scheduler."""

from collections.abc import Mapping

import attrs

__all__ = ["Release"]


@attrs.frozen(kw_only=True)
class Release:
    """A minor version of Kubernetes.

    Attributes:
        version: Its name, such as ``1.37``.
        default_profile: The shipped profile that is its default one.
        feature_gates: The gates that its scheduler reads, with their defaults.
        locked: Those of them that cannot be set to anything else.
    """

    version: str
    default_profile: str
    feature_gates: Mapping[str, bool]
    locked: frozenset[str]
