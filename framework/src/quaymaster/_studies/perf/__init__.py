"""Measures the scheduler's speed with upstream's scheduler_perf workloads."""
