"""Profiles: plugins, built from a configuration and compiled into plans of calls."""

from quaymaster._runtime.build import ProfileError, build_profile
from quaymaster._runtime.failures import (
    WrongAnswerError,
    failure_of,
    is_from_outside,
)
from quaymaster._runtime.guards import HookGuards, HookTimer, Watch, unguarded
from quaymaster._runtime.hook_errors import HookErrors
from quaymaster._runtime.profile import Call, HookFunction, Profile
from quaymaster._runtime.slow_hooks import SlowHooks

__all__ = [
    "Call",
    "HookErrors",
    "HookFunction",
    "HookGuards",
    "HookTimer",
    "Profile",
    "ProfileError",
    "SlowHooks",
    "Watch",
    "WrongAnswerError",
    "build_profile",
    "failure_of",
    "is_from_outside",
    "unguarded",
]
