"""What ``quaymaster deploy render`` prints, on a real API server."""

from typing import Any, TypeAlias

import pytest
import yaml
from click.testing import CliRunner

from tests.e2e.client import ApiClient, path_of
from tests.kit.internals.cli import app

Tree: TypeAlias = dict[str, Any]

SECOND = ("--scheduler-name", "second", "--name", "second")


def rendered(*arguments: str) -> list[Tree]:
    result = CliRunner().invoke(app, ["deploy", "render", *arguments])
    assert result.exit_code == 0, result.output
    return list(yaml.safe_load_all(result.stdout))


@pytest.mark.parametrize(
    "arguments",
    [(), SECOND, ("--config", "bin-packing", "--replicas", "1"), ("-n", "default")],
    ids=["the only one", "a second one", "bin-packing", "another namespace"],
)
def test_server_takes_everything_and_warns_of_nothing(
    admin: ApiClient, arguments: tuple[str, ...]
) -> None:
    query = {"dryRun": "All", "fieldValidation": "Strict"}
    for tree in rendered(*arguments):
        path = path_of(tree, named=False)
        stored = admin.request("POST", path, tree, query=query)
        assert stored["metadata"]["name"] == tree["metadata"]["name"]
