"""Profiles: plugins, built from a configuration and compiled into plans of calls."""

from quaymaster._profile.build import ProfileError, build_profile
from quaymaster._profile.profile import Call, HookFunction, Profile

__all__ = ["Call", "HookFunction", "Profile", "ProfileError", "build_profile"]
