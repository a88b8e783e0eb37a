"""Reports: self-contained HTML pages that show simulations."""

from quaymaster._surfaces.reporting.report import ReportError, ReportTable, report

__all__ = ["ReportError", "ReportTable", "report"]
