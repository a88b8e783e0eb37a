"""Order the queue by priority, then by time of arrival."""

from quaymaster_priority_sort.priority_sort import PrioritySort

__all__ = ["PrioritySort"]
