"""The description of a minor version of Kubernetes and its scheduler."""

from collections.abc import Mapping

import attrs

__all__ = ["Change", "Release"]


@attrs.frozen(kw_only=True)
class Change:
    """A difference in decisions or messages between a version and the one before.

    Attributes:
        name: Its name in code, commands and docs, such as ``resize-totals``.
        title: What changes, in one line.
        gate: The feature gate that turns it on and off; empty if only the version does.
        is_of_cluster: Whether the API server or the controllers implement it, so that a
            scheduler decides the same on the same state.
    """

    name: str
    title: str
    gate: str = ""
    is_of_cluster: bool = False


@attrs.frozen(kw_only=True)
class Release:
    """A minor version of Kubernetes.

    Attributes:
        version: Its name, such as ``1.37``.
        patch: The release whose sources it follows, such as ``1.37.2``.
        default_profile: The shipped profile that is its default one.
        feature_gates: The gates that its scheduler reads, and those of the API server
            and the controllers that the in-memory cluster simulates, with their
            defaults.
        locked: The gates that cannot be set to another value.
        gated_plugins: Plugin -> the feature gate that adds it to the end of the default
            profile, in order. All are off by default.
        changes: The differences from the version before.
    """

    version: str
    patch: str
    default_profile: str
    feature_gates: Mapping[str, bool]
    locked: frozenset[str]
    gated_plugins: Mapping[str, str]
    changes: tuple[Change, ...] = ()
