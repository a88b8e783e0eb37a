"""What tests see of ``quaymaster._testing``."""

from quaymaster._testing.shorthand import parse_host_port, parse_taint, parse_toleration
from quaymaster._testing.slow_executor import SlowExecutor

__all__ = ["SlowExecutor", "parse_host_port", "parse_taint", "parse_toleration"]
