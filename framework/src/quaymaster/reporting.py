"""Reports: self-contained HTML pages that show simulations."""

from quaymaster._surfaces.reporting.report import ReportError, report
from quaymaster._surfaces.reporting.tables import ReportTable

__all__ = ["ReportError", "ReportTable", "report"]
