"""Simulates a cluster: schedules all pending pods until the cluster has settled.

Time is virtual, so hours of backoff take milliseconds, and the same input gives the
same result.
"""
