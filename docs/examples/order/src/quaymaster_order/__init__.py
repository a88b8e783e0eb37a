"""Orders of waiting pods: strict, with backfilling, and by ageing priorities."""

from quaymaster_order.ageing_sort import AgeingSort
from quaymaster_order.args import (
    AgeingSortArgs,
    EasyBackfillingArgs,
    HeadOfLineArgs,
    OrderArgs,
)
from quaymaster_order.conservative_backfilling import ConservativeBackfilling
from quaymaster_order.easy_backfilling import EasyBackfilling
from quaymaster_order.gangs import FeatureGateError
from quaymaster_order.head_of_line import HeadOfLine
from quaymaster_order.jobs import REQUESTED_SECONDS, SUBMITTED_SECONDS, BatchJob
from quaymaster_order.policies import POLICIES, Policy
from quaymaster_order.usage import Usage

__all__ = [
    "POLICIES",
    "REQUESTED_SECONDS",
    "SUBMITTED_SECONDS",
    "AgeingSort",
    "AgeingSortArgs",
    "BatchJob",
    "ConservativeBackfilling",
    "EasyBackfilling",
    "EasyBackfillingArgs",
    "FeatureGateError",
    "HeadOfLine",
    "HeadOfLineArgs",
    "OrderArgs",
    "Policy",
    "Usage",
]
