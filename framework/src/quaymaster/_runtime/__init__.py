"""Profiles: plugins, built from a configuration and compiled into plans of calls."""

from quaymaster._runtime.build import ProfileError, build_profile
from quaymaster._runtime.profile import Call, HookFunction, Profile

__all__ = ["Call", "HookFunction", "Profile", "ProfileError", "build_profile"]
