"""What a document says that it is, before anything else is looked at."""

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
        findings: Where mistakes are noted.
        api_version: What ``apiVersion`` must be.
        kind: What ``kind`` must be.
        hint: Says more of a wrong value, behind the message.

    Raises:
        ConfigErrors: It is of another kind, so that nothing more can be checked.
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
