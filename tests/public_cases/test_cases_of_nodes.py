"""Questions about nodes that should get no pods, answered by the commands."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.kit.internals.cli import app

CORDONED = Path(__file__).parent / "30-cordoned-node-in-spread"


@pytest.mark.parametrize(
    ("name", "placed"), [("honor", 5), ("ignore", 4), ("honor-uncordoned", 4)]
)
def test_a_cordoned_node_has_the_taint_that_a_spread_honors(
    name: str, placed: int
) -> None:
    path = str(CORDONED / f"{name}.yaml")
    result = CliRunner().invoke(app, ["simulate", path, "-o", "json"])
    assert len(json.loads(result.stdout)["placements"]) == placed
