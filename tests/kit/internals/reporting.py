"""What tests see of ``quaymaster._surfaces.reporting``."""

from quaymaster._surfaces.reporting.columns import run_columns
from quaymaster._surfaces.reporting.group_tables import group_tables
from quaymaster._surfaces.reporting.metric_tables import metric_tables
from quaymaster._surfaces.reporting.web import make_app, make_server
from quaymaster._surfaces.reporting.workbench import Workbench

__all__ = [
    "Workbench",
    "group_tables",
    "make_app",
    "make_server",
    "metric_tables",
    "run_columns",
]
