"""Which selectors of devices compile, by version and by who compiles them.

Mirrors ``newCompiler`` of ``cel/compile.go`` (k8s.io/dynamic-resource-allocation v0.36
and v0.37). The API server compiles new selectors by its feature gates. A scheduler
compiles selectors that are stored, which may use what any gate turns on.
"""

import attrs

from quaymaster._api.cel.types import ANY, DYN, Type
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes

__all__ = ["STORED", "Dialect", "of_new_selectors", "of_stored_selectors"]


@attrs.frozen(cache_hash=True)
class Dialect:
    """What selectors may name, and what devices they see.

    Attributes:
        attribute: The type of attributes of devices.
        includes: The overload of ``includes``; empty if there is no such function.
        has_lists: Whether attributes may be lists.
    """

    attribute: Type
    includes: str
    has_lists: bool


_STORED_1_36 = Dialect(attribute=ANY, includes="dra_includes_dyn_dyn", has_lists=False)
_STORED_1_37 = Dialect(attribute=DYN, includes="list_includes_dyn_dyn", has_lists=True)
_NEW = Dialect(attribute=ANY, includes="", has_lists=False)


def of_stored_selectors(kubernetes: Kubernetes) -> Dialect:
    """Return the dialect of a scheduler.

    Args:
        kubernetes: Its version.
    """
    return _STORED_1_37 if kubernetes.has("selector-types") else _STORED_1_36


def of_new_selectors(kubernetes: Kubernetes) -> Dialect:
    """Return the dialect of an API server to which a selector is sent.

    Args:
        kubernetes: Its version.
    """
    if kubernetes.enabled("DRAListTypeAttributes"):
        return of_stored_selectors(kubernetes)
    return _NEW


STORED = of_stored_selectors(DEFAULT_KUBERNETES)
"""The dialect of a scheduler of the usual version."""
