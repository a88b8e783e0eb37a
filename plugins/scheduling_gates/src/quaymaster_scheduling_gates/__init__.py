"""Hold a pod back until its scheduling gates are gone."""

from quaymaster_scheduling_gates.scheduling_gates import SchedulingGates

__all__ = ["SchedulingGates"]
