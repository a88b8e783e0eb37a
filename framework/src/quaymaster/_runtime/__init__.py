"""Profiles: plugins, built from a configuration and compiled into plans of calls."""

from quaymaster._runtime.answers import checked_answer
from quaymaster._runtime.build import ProfileError, build_profile
from quaymaster._runtime.guards import Guard, HookGuards, MissingStates
from quaymaster._runtime.hook_errors import HookErrors
from quaymaster._runtime.profile import Call, HookFunction, Profile
from quaymaster._runtime.slow_hooks import SlowHooks

__all__ = [
    "Call",
    "Guard",
    "HookErrors",
    "HookFunction",
    "HookGuards",
    "MissingStates",
    "Profile",
    "ProfileError",
    "SlowHooks",
    "build_profile",
    "checked_answer",
]
