"""Keep a pod out of the queue until its scheduling gates are removed."""

from quaymaster_scheduling_gates.scheduling_gates import SchedulingGates

__all__ = ["SchedulingGates"]
