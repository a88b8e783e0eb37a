"""Manifests are read as Kubernetes' tools read them, or not at all."""

import gc
import io
import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from quaymaster import ApiObject, Node, Pod
from quaymaster.errors import QuaymasterError
from quaymaster.manifests import Loaded, ManifestErrors, Source, load
from quaymaster.objects import Deployment, ObjectMeta, SpecPool, to_wire
from tests.kit.internals.input import MAPPED_FROM

Writer: TypeAlias = Callable[..., Path]

NODE = "{apiVersion: v1, kind: Node, metadata: {name: %s}}\n"


@pytest.fixture
def write(tmp_path: Path) -> Writer:
    """Write files below a directory and return the path of the last."""

    def write_files(**texts: str) -> Path:
        path = tmp_path
        for name, text in texts.items():
            stem, _, suffix = name.rpartition("_")
            path = tmp_path / f"{stem.replace('__', '/')}.{suffix}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return path

    return write_files


def keys(loaded: Loaded) -> list[str]:
    return [f"{obj.kind} {obj.key}" for obj in loaded.objects]


def problems(*paths: Path | str) -> list[str]:
    """Return the problems of the files, without their directory."""
    with pytest.raises(ManifestErrors) as caught:
        load(paths)
    folders = {str(Path(path).parent) + "/" for path in paths}
    texts = [str(problem) for problem in caught.value.problems]
    for folder in folders:
        texts = [text.replace(folder, "") for text in texts]
    return texts


def as_tree(name: str, kind: type[ApiObject] = Node) -> dict[str, Any]:
    return to_wire(kind(metadata=ObjectMeta(name=name)))


def test_documents_of_a_file_are_read_in_order(write: Writer) -> None:
    path = write(all_yaml=f"{NODE % 'b'}---\n{NODE % 'a'}---\n# nothing\n")
    loaded = load([path])
    assert keys(loaded) == ["Node b", "Node a"]
    assert loaded.sources == (Source(str(path), 1), Source(str(path), 2))
    assert loaded.skipped == Counter()


def test_files_are_read_in_the_order_they_are_named(write: Writer) -> None:
    first, second = write(z_yaml=NODE % "z"), write(a_yaml=NODE % "a")
    assert keys(load([first, str(second)])) == ["Node z", "Node a"]


def test_directories_are_searched_in_the_order_of_paths(
    write: Writer, tmp_path: Path
) -> None:
    write(
        b_yml=NODE % "b",
        a__c_yaml=NODE % "c",
        a_json=json.dumps(as_tree("a")),
        readme_md="no manifest",
    )
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "x.yaml").write_text("- : [")
    (tmp_path / ".x.yaml").write_text("- : [")
    assert keys(load([tmp_path])) == ["Node c", "Node a", "Node b"]


def test_a_file_that_is_named_twice_is_read_once(write: Writer, tmp_path: Path) -> None:
    path = write(a_yaml=NODE % "a")
    assert keys(load([tmp_path, path, path])) == ["Node a"]


def test_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO((NODE % "a").encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    loaded = load(["-"])
    assert keys(loaded) == ["Node a"]
    assert str(loaded.sources[0]) == "-"


def test_json_is_read(write: Writer) -> None:
    path = write(a_json=json.dumps(as_tree("a")))
    loaded = load([path])
    assert keys(loaded) == ["Node a"]
    assert loaded.sources == (Source(str(path)),)


def test_json_is_read_whatever_the_ending(write: Writer) -> None:
    assert keys(load([write(a_yaml=json.dumps(as_tree("a")))])) == ["Node a"]


def test_json_values_after_each_other_are_read(write: Writer) -> None:
    text = "\n\n".join(json.dumps(as_tree(name)) for name in "abc") + "\n" * 100
    loaded = load([write(a_json=text)])
    assert keys(loaded) == ["Node a", "Node b", "Node c"]
    assert [source.document for source in loaded.sources] == [1, 2, 3]


def test_json_between_yaml_separators_is_read(write: Writer) -> None:
    text = f"{json.dumps(as_tree('a'))}\n---\n{json.dumps(as_tree('b'))}\n"
    assert keys(load([write(a_yaml=text)])) == ["Node a", "Node b"]


@pytest.mark.parametrize("kind", ["List", "NodeList"])
@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_lists_are_opened(write: Writer, kind: str, suffix: str) -> None:
    tree = {"apiVersion": "v1", "kind": kind, "items": [as_tree("a"), as_tree("b")]}
    path = write(**{f"all_{suffix}": json.dumps(tree, indent=1)})
    loaded = load([path])
    assert keys(loaded) == ["Node a", "Node b"]
    assert str(loaded.sources[1]) == f"{path}: items[1]"


def test_items_of_a_list_of_one_kind_need_no_kind(write: Writer) -> None:
    tree = {
        "apiVersion": "apps/v1",
        "kind": "DeploymentList",
        "items": [{"metadata": {"name": "web"}}],
    }
    for suffix in ("yaml", "json"):
        loaded = load([write(**{f"a_{suffix}": json.dumps(tree)})])
        assert isinstance(loaded.objects[0], Deployment)


def test_lists_in_lists_are_opened(write: Writer) -> None:
    inner = {"apiVersion": "v1", "kind": "List", "items": [as_tree("a")]}
    outer = {"apiVersion": "v1", "kind": "List", "items": [inner, as_tree("b")]}
    for suffix in ("yaml", "json"):
        path = write(**{f"a_{suffix}": json.dumps(outer)})
        assert keys(load([path])) == ["Node a", "Node b"]


@pytest.mark.parametrize("items", ["[]", "null"])
def test_empty_lists_hold_nothing(write: Writer, items: str) -> None:
    empty = write(a_json=f'{{"apiVersion": "v1", "kind": "List", "items": {items}}}')
    assert keys(load([empty, write(b_yaml=NODE % "b")])) == ["Node b"]


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "---\n", "kind: List\napiVersion: v1"]
)
def test_input_without_objects_is_an_error(write: Writer, text: str) -> None:
    path = write(a_yaml=text)
    assert problems(path) == ["a.yaml: no objects in it"]


def test_no_file_at_all_is_not_an_error() -> None:
    assert load(()).objects == ()


def test_objects_get_the_requested_namespace(write: Writer) -> None:
    pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}}"
    loaded = load([write(a_yaml=f"{NODE % 'a'}---\n{pod}")], namespace="shop")
    assert keys(loaded) == ["Node a", "Pod shop/p"]


def test_objects_of_another_namespace_keep_it(write: Writer) -> None:
    path = write(
        a_yaml="{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: x}}"
    )
    assert keys(load([path], namespace="shop")) == ["Pod x/p"]


def test_objects_of_a_cluster_keep_their_namespaces(write: Writer) -> None:
    metadata = "{name: p, namespace: x, uid: 0-1}"
    path = write(a_yaml=f"{{apiVersion: v1, kind: Pod, metadata: {metadata}}}")
    assert keys(load([path], namespace="shop")) == ["Pod x/p"]


def test_unknown_kinds_are_counted(write: Writer) -> None:
    text = """
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
---
apiVersion: v1
kind: ConfigMap
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap}
"""
    loaded = load([write(a_yaml=text)])
    assert loaded.objects == ()
    assert loaded.skipped == {
        "PrometheusRule (monitoring.coreos.com/v1)": 1,
        "ConfigMap (v1)": 2,
    }


def test_objects_of_one_kind_can_be_selected(write: Writer) -> None:
    text = f"{NODE % 'a'}---\n{{apiVersion: v1, kind: Pod, metadata: {{name: p}}}}"
    loaded = load([write(a_yaml=text)])
    assert [node.name for node in loaded.of(Node)] == ["a"]
    assert [pod.name for pod in loaded.of(Pod)] == ["p"]


def test_namespace_is_default_unless_given(write: Writer) -> None:
    tree = as_tree("a", Pod)
    tree["metadata"]["namespace"] = "shop"
    text = json.dumps(as_tree("a", Pod)) + json.dumps(tree)
    assert keys(load([write(a_json=text)])) == ["Pod default/a", "Pod shop/a"]


def test_pods_share_their_specs_with_the_pool_of_the_caller(write: Writer) -> None:
    pool = SpecPool()
    loaded = load([write(a_json=json.dumps(as_tree("a", Pod)))], pool=pool)
    assert len(pool) == 1
    assert loaded.of(Pod)[0].spec is pool.share_spec(loaded.of(Pod)[0].spec)


def test_garbage_collector_runs_again_after_a_load(
    write: Writer, tmp_path: Path
) -> None:
    assert gc.isenabled()
    load([write(a_yaml=NODE % "a")])
    assert gc.isenabled()
    with pytest.raises(ManifestErrors):
        load([tmp_path / "missing"])
    assert gc.isenabled()
    gc.disable()
    try:
        load([write(a_yaml=NODE % "a")])
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_large_files_are_read_without_a_copy(
    write: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MAPPED_FROM, 1)
    assert keys(load([write(a_json=json.dumps(as_tree("a")))])) == ["Node a"]
    assert keys(load([write(b_yaml=NODE % "b")])) == ["Node b"]


# YAML as Kubernetes' tools read it


def labels_of(write: Writer, text: str) -> dict[str, str]:
    document = f"apiVersion: v1\nkind: Node\nmetadata:\n  name: a\n  labels: {text}\n"
    loaded = load([write(a_yaml=document)])
    return loaded.objects[0].labels


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-31",
        "2026-01-31T12:00:00Z",
        "12:30:45",
        "v1.0",
        "1.2.3",
        "3e52541",
        "0xg",
        "yEs",
        "_1",
    ],
)
def test_text_that_only_looks_like_something_else_stays_text(
    write: Writer, text: str
) -> None:
    assert labels_of(write, f"{{x: {text}}}") == {"x": text}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("yes", "true"),
        ("Y", "true"),
        ("on", "true"),
        ("OFF", "false"),
        ("1", "1"),
        ("010", "8"),
        ("1_0", "10"),
        ("+0x_f", "15"),
        ("1_0.5_0", "10.5"),
        ("0o10", "8"),
        ("0x10", "16"),
        ("0b11", "3"),
        ("1.0", "1.0"),
        ("1e3", "1000.0"),
        ("08", "8.0"),
    ],
)
def test_unquoted_numbers_and_booleans_are_not_texts(
    write: Writer, text: str, shown: str
) -> None:
    path = write(a_yaml=f"{{apiVersion: v1, kind: Node, metadata: {{name: {text}}}}}")
    (problem,) = problems(path)
    assert problem.endswith(
        f"metadata.name: expected a string, got {shown}: put it in quotes"
    )


def test_quoted_and_tagged_texts_are_texts(write: Writer) -> None:
    labels = labels_of(
        write, "{a: '1', b: \"yes\", c: !!str 1, d: !!timestamp 2026-01-31}"
    )
    assert labels == {"a": "1", "b": "yes", "c": "1", "d": "2026-01-31"}


def test_tags_that_match_the_scalar_are_accepted(write: Writer) -> None:
    text = """
apiVersion: v1
kind: Pod
metadata: {name: !!str a, uid: !!null ~}
spec: {priority: !!int 5, hostNetwork: !!bool yes, overhead: {cpu: !!float 1}}
"""
    (pod,) = load([write(a_yaml=text)]).of(Pod)
    assert (pod.spec.priority, pod.spec.host_network) == (5, True)
    assert str(pod.spec.overhead["cpu"]) == "1"


def test_keys_are_texts_always(write: Writer) -> None:
    assert labels_of(write, "{1: a, yes: b, 1.5: c}") == {
        "1": "a",
        "true": "b",
        "1.5": "c",
    }


def test_anchors_and_merge_keys_work(write: Writer) -> None:
    text = """
apiVersion: v1
kind: List
items:
- &node
  apiVersion: v1
  kind: Node
  metadata: {name: a}
  spec: {unschedulable: true}
- <<: *node
  metadata: {name: b}
- <<: [{kind: Node}, *node]
  metadata: {name: c}
"""
    loaded = load([write(a_yaml=text)])
    assert keys(loaded) == ["Node a", "Node b", "Node c"]
    assert all(node.spec.unschedulable for node in loaded.of(Node))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [", "line 2, column 1: while parsing a flow node, "),
        ("a: 1\nb: c: d\n", "line 2, column 5: mapping values are not allowed"),
        ("a: &x [*x]", "line 1, column 8: found a value that contains itself"),
        ("a: !new 1", "line 1, column 4: cannot read '1' with the tag !new"),
        ("a: !new [1]", "line 1, column 4: cannot read the tag !new"),
        ("a: !!int x", "line 1, column 4: cannot read 'x' with the tag"),
        ("? [1]\n: 2", "line 1, column 3: expected a string as key"),
        ("~: 1", "line 1, column 1: expected a string as key"),
        ("<<: 1", "line 1, column 5: expected a mapping to merge"),
        ("a: .inf", "line 1, column 4: found .inf, which JSON has no number for"),
        ("a: \x00", "byte 3: control characters are not allowed"),
    ],
)
def test_malformed_yaml_is_reported_with_line_and_column(
    write: Writer, text: str, problem: str
) -> None:
    (found,) = problems(write(bad_yaml=text))
    assert found.startswith(f"bad.yaml: {problem}")


# Problems


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1,\n "b" 2}', "line 2, column 6: expected ':'"),
        ('{"a": 1}\n[1,]', "line 2, column 4: trailing comma in array"),
        ('{"a": ', "Input data was truncated"),
    ],
)
def test_malformed_json_is_reported_with_line_and_column(
    write: Writer, text: str, problem: str
) -> None:
    assert problems(write(bad_json=text)) == [f"bad.json: {problem}"]


def test_text_that_is_not_utf_8_is_an_error(tmp_path: Path) -> None:
    for name in ("bad.json", "bad.yaml"):
        path = tmp_path / name
        path.write_bytes(
            b'{"apiVersion":"v1","kind":"Node","metadata":{"name":"\xff"}}'
        )
        (problem,) = problems(path)
        assert "UTF-8" in problem


def test_directory_without_manifests_is_an_error(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path)
    assert problem.endswith(": no .yaml, .yml or .json files in this directory")


def test_path_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    assert problems(tmp_path / "x.yaml") == ["x.yaml: no such file or directory"]


def test_error_for_a_url_suggests_a_command_that_fetches_it() -> None:
    with pytest.raises(ManifestErrors) as caught:
        load(["https://example.com/a.yaml"])
    assert str(caught.value) == (
        "https://example.com/a.yaml: a URL; expected a file: "
        "curl -sSfL https://example.com/a.yaml | quaymaster simulate -"
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[1]", "expected an object with apiVersion and kind, got a list"),
        ("hello", "expected an object with apiVersion and kind, got 'hello'"),
        (
            "kind: Pod",
            "apiVersion: expected the apiVersion of a Kubernetes object, got nothing",
        ),
        (
            "apiVersion: v1",
            "kind: expected the kind of a Kubernetes object, got nothing",
        ),
        (
            "{apiVersion: v1, kind: [1]}",
            "kind: expected the kind of a Kubernetes object, got a list",
        ),
        ("{apiVersion: v1, kind: List, items: x}", "items: expected a list, got 'x'"),
        (
            "{apiVersion: v1, kind: PodList, items: {}}",
            "items: expected a list, got a mapping",
        ),
    ],
)
def test_yaml_that_is_not_a_kubernetes_object_is_an_error(
    write: Writer, text: str, problem: str
) -> None:
    assert problems(write(a_yaml=text)) == [f"a.yaml: {problem}"]


def test_json_that_is_not_a_kubernetes_object_is_an_error(write: Writer) -> None:
    expected = "expected the {} of a Kubernetes object, got "
    assert problems(write(a_json='[1] {"kind": 5} {"apiVersion": "v1"}')) == [
        "a.json: document 1: expected an object with apiVersion and kind, got a list",
        f"a.json: document 2: apiVersion: {expected.format('apiVersion')}nothing",
        f"a.json: document 3: kind: {expected.format('kind')}nothing",
    ]


def test_object_without_a_name_is_an_error(write: Writer) -> None:
    text = "{apiVersion: v1, kind: Node, metadata: {labels: {a: b}}}"
    assert problems(write(a_yaml=text)) == [
        "a.yaml (Node): metadata.name: expected a name"
    ]


def test_object_with_a_generated_name_has_none_yet(write: Writer) -> None:
    text = "{apiVersion: v1, kind: Pod, metadata: {generateName: job-}}\n---\n" * 2
    assert [pod.name for pod in load([write(a_yaml=text)]).objects] == ["", ""]


def test_problem_names_file_document_object_and_field(write: Writer) -> None:
    resources = {"requests": {"cpu": "12xyz"}}
    pod = as_tree("web", Pod)
    pod["spec"] = {"containers": [{"name": "main", "resources": resources}]}
    text = f"{NODE % 'a'}---\n---\n{json.dumps(pod)}"
    (problem,) = problems(write(a_yaml=text))
    assert problem == (
        "a.yaml: document 3 (Pod default/web): "
        "spec.containers[0].resources.requests.cpu: expected a quantity (a number with "
        "an optional suffix, such as 500m, 2, 1.5Gi or 1e3), got '12xyz'"
    )


def test_problem_in_a_list_names_the_item(write: Writer) -> None:
    node = {**as_tree("n1"), "spec": {"taints": {}}}
    tree = {"kind": "List", "apiVersion": "v1", "items": [as_tree("n0"), node]}
    for suffix in ("json", "yaml"):
        (problem,) = problems(write(**{f"a_{suffix}": json.dumps(tree)}))
        assert problem == (
            f"a.{suffix}: items[1] (Node n1): spec.taints: "
            "expected a list, got an object"
        )


def test_two_objects_of_the_same_name_are_an_error_with_both_places(
    write: Writer,
) -> None:
    first, second = write(a_yaml=NODE % "n1"), write(b_yaml=f"---\n{NODE % 'n1'}---\n")
    assert problems(first, second) == [
        "b.yaml: document 1: duplicate Node 'n1', first in a.yaml"
    ]


def test_several_files_may_contain_the_same_namespace(write: Writer) -> None:
    text = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {a: %s}}\n"
    first, second = write(a_yaml=text % "x"), write(b_yaml=text % "x")
    assert keys(load([first, second])) == ["Namespace shop"]
    other = write(c_yaml=text % "z")
    assert problems(first, other) == [
        "c.yaml: duplicate Namespace 'shop', first in a.yaml"
    ]


def test_objects_of_different_kinds_or_namespaces_may_share_a_name(
    write: Writer,
) -> None:
    other = as_tree("a", Pod)
    other["metadata"]["namespace"] = "shop"
    trees = (as_tree("a"), as_tree("a", Pod), other)
    assert len(load([write(a_json="".join(map(json.dumps, trees)))]).objects) == 3


def test_all_problems_of_all_files_are_reported_at_once(
    write: Writer, tmp_path: Path
) -> None:
    bad = write(bad_yaml="a: [")
    worse = write(worse_yaml="[]\n---\nkind: Node\n")
    found = problems(bad, worse, tmp_path / "missing")
    assert [text.partition(":")[0] for text in found] == [
        "bad.yaml",
        "worse.yaml",
        "worse.yaml",
        "missing",
    ]


def test_errors_are_errors_of_the_framework(tmp_path: Path) -> None:
    with pytest.raises(QuaymasterError, match="no such file") as caught:
        load([tmp_path / "a", tmp_path / "b"])
    assert str(caught.value).count("\n") == 1


def test_sources_name_only_the_needed_parts() -> None:
    assert str(Source("a.yaml")) == "a.yaml"
    assert str(Source("a.yaml", 2)) == "a.yaml: document 2"
    assert str(Source("a.yaml", 2, 0)) == "a.yaml: document 2, items[0]"


def test_progress_is_reported_every_256_objects(write: Writer) -> None:
    path = write(a_yaml="---\n".join(NODE % f"n{number}" for number in range(600)))
    counts: list[int] = []
    load([path], on_progress=counts.append)
    assert counts == [256, 512]
