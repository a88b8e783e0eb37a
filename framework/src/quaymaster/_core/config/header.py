"""Checks the version and the kind of a document before its other fields."""

from collections.abc import Callable, Mapping

from quaymaster._core.config.errors import ConfigErrors
from quaymaster._core.config.findings import Findings
from quaymaster._core.config.naming import show

__all__ = ["check_header"]


def check_header(
    document: object,
    findings: Findings,
    *,
    api_version: str,
    kind: str,
    hint: Callable[[object], str] = lambda _got: "",
) -> None:
    """Check the version and the kind of a document.

    Args:
        document: The document, as it was read.
        findings: Collects mistakes.
        api_version: The required ``apiVersion``.
        kind: The required ``kind``.
        hint: Returns a suffix for the message about a wrong value.

    Raises:
        ConfigErrors: The kind or version is wrong, so the rest cannot be checked.
    """
    if not isinstance(document, Mapping):
        article = "an" if kind[0] in "AEIOU" else "a"
        findings.add("", f"expected {article} {kind}, got {show(document)}")
    else:
        for key, expected in (("apiVersion", api_version), ("kind", kind)):
            got = document.get(key)
            if got != expected:
                message = f"expected {expected!r}, got {show(got)}{hint(got)}"
                findings.add(key, message)
    if findings.problems:
        raise ConfigErrors(findings.problems)
