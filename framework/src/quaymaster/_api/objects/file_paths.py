"""Checks the paths of files in volumes.

Mirrors ``validateLocalDescendingPath`` and ``ValidateLocalNonReservedPath``
(Kubernetes v1.37, ``pkg/apis/core/validation/validation.go``).
"""

from quaymaster._api.objects.report import Report

__all__ = ["check_descending", "check_file", "check_steps"]


def check_steps(text: str, path: str, report: Report) -> None:
    """Check that no step of a path goes up."""
    report.expect(".." not in text.split("/"), path, "a path without '..'", text)


def check_descending(text: str, path: str, report: Report) -> None:
    """Check that a path is relative and does not go up."""
    report.expect(not text.startswith("/"), path, "a relative path", text)
    check_steps(text, path, report)


def check_file(text: str, path: str, report: Report) -> None:
    """Check that a path is relative, does not go up, and its name is not reserved."""
    check_descending(text, path, report)
    is_reserved = text.startswith("..") and ".." not in text.split("/")
    report.expect(not is_reserved, path, "a path that does not begin with '..'", text)
