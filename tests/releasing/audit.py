"""Reports known vulnerabilities: ``pip-audit --format json | python -m ...audit``.

pip-audit ends with success if it could not look up any package, for example behind a
mirror that has no advisories. So this also counts those that were looked up.
"""

import json
import sys
from typing import Any

__all__ = ["audited"]


def audited(report: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the vulnerabilities of a report, and the packages without an audit.

    Args:
        report: The JSON of pip-audit.
    """
    found: list[str] = []
    skipped: list[str] = []
    for package in report["dependencies"]:
        if reason := package.get("skip_reason"):
            if "editable" not in reason:
                skipped.append(package["name"])
            continue
        label = f"{package['name']} {package['version']}"
        found += [f"{label}: {entry['id']}" for entry in package["vulns"]]
    return found, skipped


def main() -> None:
    """Print the result; end with 1 unless all packages are audited and sound."""
    found, skipped = audited(json.load(sys.stdin))
    for line in found:
        sys.stdout.write(f"{line}\n")
    if skipped:
        sys.stdout.write(f"not audited: {', '.join(skipped)}\n")
    sys.exit(1 if found or skipped else 0)


if __name__ == "__main__":
    main()
