"""Simulates a cluster: schedules all that waits until nothing changes any more.

Time is virtual, so hours of backoff take milliseconds, and the same input gives the
same result.
"""
