"""Schedule the pods of a gang together, or none of them."""

from quaymaster_gang_scheduling.gang_scheduling import GangScheduling

__all__ = ["GangScheduling"]
