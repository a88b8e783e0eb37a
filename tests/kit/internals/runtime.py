"""What tests see of ``quaymaster._core.runtime``."""

from quaymaster._core.runtime.answers import EXPECTED
from quaymaster._core.runtime.build import build_profile
from quaymaster._core.runtime.calls import Implementations
from quaymaster._core.runtime.failures import WrongAnswerError
from quaymaster._core.runtime.guards import HookGuards, HookTimer, unguarded
from quaymaster._core.runtime.manager import HookManager
from quaymaster._core.runtime.measures import Histogram, Measured, exponential
from quaymaster._core.runtime.metrics import SchedulerMetrics
from quaymaster._core.runtime.profile import Call, Profile

__all__ = [
    "EXPECTED",
    "Call",
    "Histogram",
    "HookGuards",
    "HookManager",
    "HookTimer",
    "Implementations",
    "Measured",
    "Profile",
    "SchedulerMetrics",
    "WrongAnswerError",
    "build_profile",
    "exponential",
    "unguarded",
]
