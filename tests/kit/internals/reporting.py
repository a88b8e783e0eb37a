"""What tests see of ``quaymaster._reporting``."""

from quaymaster._reporting.web import make_app
from quaymaster._reporting.workbench import Workbench

__all__ = ["Workbench", "make_app"]
