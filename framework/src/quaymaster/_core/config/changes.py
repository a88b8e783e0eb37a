"""Compares two configurations, by the keys of their files."""

from typing import Final

import attrs

from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.config.naming import attribute_key

__all__ = ["ConfigChanges", "compare"]

_NOT_SETTINGS: Final = frozenset({"limitsRequests", "ownGates", "profiles", "warnings"})
# The process makes these once, when it starts. A reload replaces only what the engine
# holds.
_READ_AT_START: Final = frozenset(
    {"leaderElection", "clientConnection", "delayCacheUntilActive"}
)


@attrs.frozen(kw_only=True)
class ConfigChanges:
    """The differences of a new configuration; falsy if there are none.

    Attributes:
        added: The scheduler names of new profiles, in the order of the file.
        removed: The scheduler names of removed profiles.
        changed: The scheduler names of profiles with other plugins, arguments or
            settings.
        settings: The keys of changed settings outside of profiles, such as
            ``extenders``.
        need_restart: The changed settings that take effect only after a restart.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    need_restart: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.settings)

    def __str__(self) -> str:
        """All differences, in one line."""
        parts = [
            f"profile {name!r} {what}"
            for what, names in (
                ("added", self.added),
                ("removed", self.removed),
                ("changed", self.changed),
            )
            for name in names
        ]
        parts += [f"{key} changed" for key in self.settings]
        if self.need_restart:
            parts.append(f"for {', '.join(self.need_restart)}: restart to apply")
        return ", ".join(parts) or "nothing changed"


def compare(old: SchedulerConfig, new: SchedulerConfig) -> ConfigChanges:
    """Compare a new configuration with the active configuration.

    Args:
        old: The active configuration.
        new: The new configuration.
    """
    before = {profile.scheduler_name: profile for profile in old.profiles}
    after = {profile.scheduler_name: profile for profile in new.profiles}
    settings = tuple(
        key
        for field in attrs.fields(SchedulerConfig)
        if (key := attribute_key(field)) not in _NOT_SETTINGS
        and getattr(old, field.name) != getattr(new, field.name)
    )
    return ConfigChanges(
        added=tuple(name for name in after if name not in before),
        removed=tuple(name for name in before if name not in after),
        changed=tuple(
            name
            for name, profile in after.items()
            if name in before and before[name] != profile
        ),
        settings=settings,
        need_restart=tuple(key for key in settings if key in _READ_AT_START),
    )
