"""What tests see of ``quaymaster._authors.testing``."""

from quaymaster._authors.testing.shorthand import (
    parse_host_port,
    parse_taint,
    parse_toleration,
)
from quaymaster._authors.testing.slow_executor import SlowExecutor

__all__ = ["SlowExecutor", "parse_host_port", "parse_taint", "parse_toleration"]
