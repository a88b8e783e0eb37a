"""The JSON output of commands as data."""

import json
from typing import Any

from click.testing import CliRunner

from tests.kit.internals.cli import app

__all__ = ["answer"]


def answer(*arguments: str) -> dict[str, Any]:
    """Run a command with ``-o json``, and return what it prints."""
    result = CliRunner().invoke(app, [*arguments, "-o", "json"])
    assert result.exit_code in (0, 1), result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document
