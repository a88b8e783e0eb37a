"""What tests see of ``quaymaster._surfaces.reporting``."""

from quaymaster._surfaces.reporting.web import make_app, make_server
from quaymaster._surfaces.reporting.workbench import Workbench

__all__ = ["Workbench", "make_app", "make_server"]
