"""Upstream's scheduler_perf format, run by the whole product."""
