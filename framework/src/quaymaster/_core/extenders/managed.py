"""Resources that the filters leave to an extender.

Mirrors ``buildExtenders`` (Kubernetes v1.36, ``pkg/scheduler/scheduler.go``). Upstream
replaces the ``ignoredResources`` of one plugin by its name. Here, this is done for
every plugin whose arguments have such a field.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from quaymaster._core.config.model import ProfileConfig
from quaymaster._core.config.settings import Extender

__all__ = ["ignoring_managed_resources"]

_FIELD: Final = "ignored_resources"


def ignoring_managed_resources(
    profile: ProfileConfig, extenders: Sequence[Extender]
) -> ProfileConfig:
    """Return the profile with plugins that ignore the extenders' resources."""
    ignored = tuple(
        resource.name
        for extender in extenders
        for resource in extender.managed_resources
        if resource.ignored_by_scheduler
    )
    if not ignored:
        return profile
    return attrs.evolve(profile, plugin_args=_ignoring(profile.plugin_args, ignored))


def _ignoring(
    plugin_args: Mapping[str, Any], ignored: tuple[str, ...]
) -> Mapping[str, object]:
    return {
        # Replaced and not extended: in ``buildExtenders``, the resources of extenders
        # take the place of those in the arguments.
        name: attrs.evolve(args, **{_FIELD: ignored})
        if attrs.has(type(args)) and _FIELD in attrs.fields_dict(type(args))
        else args
        for name, args in plugin_args.items()
    }
