"""Reports: one HTML page that shows simulations, and loads nothing."""

from quaymaster._surfaces.reporting.report import ReportError, ReportTable, report

__all__ = ["ReportError", "ReportTable", "report"]
