"""An audit that could not look up a package is not a success."""

from tests.releasing.audit import audited

SOUND = {"name": "a", "version": "1", "vulns": []}
BROKEN = {"name": "b", "version": "2", "vulns": [{"id": "CVE-1", "fix_versions": []}]}
UNKNOWN = {"name": "c", "skip_reason": "Dependency not found on PyPI"}
OWN = {"name": "quaymaster", "skip_reason": "distribution marked as editable"}


def test_vulnerabilities_are_listed_by_package() -> None:
    assert audited({"dependencies": [SOUND, BROKEN]}) == (["b 2: CVE-1"], [])


def test_packages_without_an_audit_are_listed() -> None:
    assert audited({"dependencies": [SOUND, UNKNOWN]}) == ([], ["c"])


def test_packages_of_the_workspace_need_no_audit() -> None:
    assert audited({"dependencies": [OWN]}) == ([], [])
