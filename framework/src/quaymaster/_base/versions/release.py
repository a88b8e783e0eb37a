"""What a minor version of Kubernetes says of its own scheduler."""

from collections.abc import Mapping

import attrs

__all__ = ["Change", "Release"]


@attrs.frozen(kw_only=True)
class Change:
    """Something that a version decides, or says, otherwise than the one before.

    Attributes:
        name: How code, commands and docs call it, such as ``resize-totals``.
        title: What changes, in one line.
        gate: The feature gate that turns it on and off; empty: the version alone.
        is_of_cluster: Whether the API server or the controllers make it, so that a
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
            and the controllers that the in-memory cluster plays, with their defaults.
        locked: Those of them that cannot be set to anything else.
        gated_plugins: Plugins of its scheduler that do nothing while a feature gate is
            off, which it is by default.
        changes: What it does otherwise than the version before.
    """

    version: str
    patch: str
    default_profile: str
    feature_gates: Mapping[str, bool]
    locked: frozenset[str]
    gated_plugins: Mapping[str, str]
    changes: tuple[Change, ...] = ()
