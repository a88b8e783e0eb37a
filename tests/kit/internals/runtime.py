"""What tests see of ``quaymaster._runtime``."""

from quaymaster._runtime.answers import EXPECTED
from quaymaster._runtime.build import build_profile
from quaymaster._runtime.calls import Implementations
from quaymaster._runtime.failures import WrongAnswerError
from quaymaster._runtime.guards import HookGuards, HookTimer, unguarded
from quaymaster._runtime.manager import hooks_of
from quaymaster._runtime.measures import Histogram, exponential
from quaymaster._runtime.metrics import SchedulerMetrics
from quaymaster._runtime.profile import Call, Profile

__all__ = [
    "EXPECTED",
    "Call",
    "Histogram",
    "HookGuards",
    "HookTimer",
    "Implementations",
    "Profile",
    "SchedulerMetrics",
    "WrongAnswerError",
    "build_profile",
    "exponential",
    "hooks_of",
    "unguarded",
]
