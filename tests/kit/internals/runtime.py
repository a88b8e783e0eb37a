"""What tests see of ``quaymaster._runtime``."""

from quaymaster._runtime.answers import EXPECTED
from quaymaster._runtime.build import build_profile
from quaymaster._runtime.calls import Implementations
from quaymaster._runtime.failures import WrongAnswerError
from quaymaster._runtime.guards import HookGuards, HookTimer, unguarded
from quaymaster._runtime.manager import hooks_of
from quaymaster._runtime.profile import Call, Profile

__all__ = [
    "EXPECTED",
    "Call",
    "HookGuards",
    "HookTimer",
    "Implementations",
    "Profile",
    "WrongAnswerError",
    "build_profile",
    "hooks_of",
    "unguarded",
]
