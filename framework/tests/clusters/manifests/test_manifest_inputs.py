"""Manifests come from paths, texts and open files alike."""

import io
from pathlib import Path

import pytest

from quaymaster.manifests import ManifestErrors, load

NODES = """\
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
"""
JSON = '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n3"}}'


def names(*sources: object) -> list[str]:
    return [obj.name for obj in load(sources).objects]  # type: ignore[arg-type]


def test_string_of_several_lines_is_a_text() -> None:
    assert names(NODES) == ["n1", "n2"]


def test_string_that_begins_with_a_brace_is_a_text() -> None:
    assert names(f" {JSON}") == ["n3"]


def test_bytes_are_a_text_even_in_utf_16() -> None:
    assert names(JSON.encode("utf-16")) == ["n3"]


def test_open_files_are_read_and_stay_open(tmp_path: Path) -> None:
    file = tmp_path / "nodes.yaml"
    file.write_text(NODES)
    with file.open() as text, file.open("rb") as content:
        assert names(text) == names(content) == ["n1", "n2"]
        assert not text.closed


def test_inputs_are_read_in_order(tmp_path: Path) -> None:
    file = tmp_path / "node.json"
    file.write_text(JSON)
    assert names(io.StringIO(NODES), file) == ["n1", "n2", "n3"]
    assert names(str(file), NODES) == ["n3", "n1", "n2"]


def test_a_single_input_need_not_be_in_a_list(tmp_path: Path) -> None:
    file = tmp_path / "node.json"
    file.write_text(JSON)
    for source in (file, str(file), JSON, JSON.encode(), io.StringIO(JSON)):
        assert [obj.name for obj in load(source).objects] == ["n3"]


def test_other_strings_are_paths() -> None:
    with pytest.raises(ManifestErrors, match="nowhere: no such file"):
        load(["nowhere"])


@pytest.mark.parametrize("source", [f"{NODES}{NODES}", io.StringIO(NODES * 2)])
def test_problems_name_a_text_input(source: str | io.StringIO) -> None:
    with pytest.raises(ManifestErrors, match=r"^input") as caught:
        load([source])
    assert all(problem.where.startswith("input") for problem in caught.value.problems)


def test_problems_name_an_open_file(tmp_path: Path) -> None:
    file = tmp_path / "empty.yaml"
    file.touch()
    with (
        file.open() as stream,
        pytest.raises(ManifestErrors, match=r"empty.yaml: no objects in it"),
    ):
        load([stream])


def test_text_that_is_not_unicode_is_reported() -> None:
    with pytest.raises(ManifestErrors, match="input: expected Unicode text"):
        load(["a: \ud800\n"])
