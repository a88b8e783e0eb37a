"""What tests see of ``quaymaster._cli``."""

from quaymaster._cli import main, output, perf, simulate, terminal
from quaymaster._cli.app import app
from quaymaster._cli.configuration import read_config
from quaymaster._cli.notices import print_notices
from quaymaster._cli.tables import Table, folded

__all__ = [
    "Table",
    "app",
    "folded",
    "main",
    "output",
    "perf",
    "print_notices",
    "read_config",
    "simulate",
    "terminal",
]
