"""Commands about PodGroups that are below CompositePodGroups."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from quaymaster.simulation import GroupNotFoundError
from tests.kit.gang_files import composite_yaml, gang_yaml, rack_yaml, yaml_file
from tests.kit.internals.cli import app

GANG = gang_yaml("train", 2, pods=2, parent="root")
TREE = (rack_yaml(1), composite_yaml("root"), GANG)
CIRCLE = (
    rack_yaml(1),
    composite_yaml("root", parent="top"),
    composite_yaml("top", parent="root"),
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(documents: tuple[str, ...], *arguments: str) -> Result:
    Path("tree.yaml").write_text(yaml_file(*documents))
    command = (*arguments, "tree.yaml", "--config", "groups")
    result = CliRunner().invoke(app, command)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_copies_of_one_group_of_a_tree_are_refused() -> None:
    with pytest.raises(GroupNotFoundError, match="it is below CompositePodGroup root"):
        run(TREE, "capacity", "--fit", "podgroup/train")


@pytest.mark.parametrize("command", [("explain",), ("capacity", "--fit")])
def test_a_composite_group_is_refused_with_what_to_name(
    command: tuple[str, ...],
) -> None:
    with pytest.raises(GroupNotFoundError, match="podgroup/NAME"):
        run(TREE, *command, "compositepodgroup/root")


def test_a_group_whose_parent_is_missing_says_so() -> None:
    text = run((rack_yaml(1), GANG), "explain", "podgroup/train").stdout
    assert "waits for CompositePodGroup default/root, which does not exist" in text
    assert "not tried yet" not in text


def test_a_group_below_a_circle_says_so() -> None:
    text = run((*CIRCLE, GANG), "simulate").stdout
    assert "above PodGroup default/train are parents of each other" in text
    assert "which does not exist" not in text


@pytest.mark.long
def test_a_group_that_fits_names_the_group_that_keeps_it_pending() -> None:
    documents = (
        rack_yaml(1, 2),
        composite_yaml("top", 2),
        gang_yaml("fits", 2, pods=2, parent="top"),
        gang_yaml("large", 9, pods=9, parent="top"),
    )
    text = run(documents, "explain", "podgroup/fits").stdout
    assert "at least 2 groups must fit together (minGroupCount)" in text
    assert "groups below it without a placement: default/large" in text.splitlines()
    document = json.loads(
        run(documents, "explain", "podgroup/fits", "-o", "json").stdout
    )
    assert document["parents"] == [{"group": "default/top", "minGroupCount": 2}]
    assert document["misfits"] == ["default/large"]
