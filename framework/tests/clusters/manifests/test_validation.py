"""Unknown fields and duplicate keys are handled as by kubectl."""

import json
from pathlib import Path
from typing import Any

import pytest

from quaymaster import Pod
from quaymaster.manifests import ManifestErrors, NoticeReason, Validation, load
from quaymaster.objects import SpecPool

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "a"},
    "spec": {"containers": [{"name": "a", "image": "x"}]},
}


def with_spec(pod: dict[str, Any] = POD, **fields: Any) -> dict[str, Any]:
    return {**pod, "spec": {**pod["spec"], **fields}}


def stored(pod: dict[str, Any], name: str = "a") -> dict[str, Any]:
    metadata = {"name": name, "uid": f"u-{name}", "resourceVersion": "1"}
    return {**pod, "metadata": metadata}


def write(folder: Path, text: object, name: str = "a.json") -> Path:
    path = folder / name
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    return path


def problems(path: Path, validation: Validation | None = None) -> list[str]:
    with pytest.raises(ManifestErrors) as caught:
        load([path], validation=validation)
    return [
        str(problem).replace(f"{path.parent}/", "") for problem in caught.value.problems
    ]


def warnings(path: Path, validation: Validation | None = None) -> list[str]:
    loaded = load([path], validation=validation)
    assert {notice.reason for notice in loaded.notices} <= {NoticeReason.ODD_FIELDS}
    return [str(notice).replace(f"{path.parent}/", "") for notice in loaded.notices]


@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_unknown_field_is_an_error_with_a_suggestion(
    tmp_path: Path, suffix: str
) -> None:
    pod = with_spec(nodeselector={"disk": "ssd"}, toleration=[])
    # JSON is YAML, too; the space selects the YAML reader.
    text = json.dumps(pod) if suffix == "json" else f"# YAML\n{json.dumps(pod)}"
    name = f"a.{suffix}"
    assert problems(write(tmp_path, text, name)) == [
        (
            f"{name} (Pod default/a): spec.nodeselector: unknown field; "
            "did you mean 'nodeSelector'?"
        ),
        (
            f"{name} (Pod default/a): spec.toleration: unknown field; "
            "did you mean 'tolerations'?"
        ),
    ]


def test_every_pod_with_a_wrong_spec_is_reported(tmp_path: Path) -> None:
    pods = [{**with_spec(tolerations="x"), "metadata": {"name": n}} for n in "ab"]
    pods += [{**with_spec(hostnetwork=True), "metadata": {"name": n}} for n in "cd"]
    found = problems(
        write(tmp_path, {"kind": "List", "apiVersion": "v1", "items": pods})
    )
    assert [line.partition(")")[0][-9:] for line in found] == [
        f"default/{name}" for name in "abcd"
    ]


def test_no_text_of_the_input_breaks_the_line(tmp_path: Path) -> None:
    odd = {"containers": [], "x\ny": 1}
    pod = {**POD, "metadata": {"name": "a\n\u001b[31m\u202eb"}, "spec": odd}
    assert problems(write(tmp_path, pod)) == [
        r"a.json (Pod default/a\n\x1b[31m\u202eb): spec.x\ny: unknown field"
    ]


def test_unknown_field_beside_the_spec_is_an_error(tmp_path: Path) -> None:
    pod = {**POD, "Spec": {}, "metadata": {"name": "a", "label": {}}}
    assert problems(write(tmp_path, pod)) == [
        "a.json (Pod default/a): metadata.label: unknown field; did you mean 'labels'?",
        "a.json (Pod default/a): Spec: unknown field; did you mean 'spec'?",
    ]


def test_duplicate_key_in_yaml_is_an_error_with_its_line(
    tmp_path: Path,
) -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, name: b}\n"
        "spec:\n  containers:\n  - name: a\n    image: x\n    image: z\n"
    )
    assert problems(write(tmp_path, text, "a.yaml")) == [
        "a.yaml (Pod default/b): metadata.name: duplicate field, again in line 3",
        (
            "a.yaml (Pod default/b): spec.containers[0].image: "
            "duplicate field, again in line 8"
        ),
    ]


def test_duplicate_key_in_json_is_an_error(tmp_path: Path) -> None:
    text = json.dumps(POD).replace('"name": "a"', '"name": "a", "name": "b"', 1)
    text = text.replace('"spec":', '"spec": {}, "spec":')
    assert problems(write(tmp_path, text)) == [
        "a.json (Pod default/b): spec: duplicate field",
        "a.json (Pod default/b): metadata.name: duplicate field",
    ]


def test_key_that_overrides_a_merged_one_is_not_a_duplicate(tmp_path: Path) -> None:
    text = (
        "- &base {name: a, image: x}\n- {<<: *base, name: b}\n- {name: c, <<: *base}\n"
    )
    head = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n"
    path = write(tmp_path, head + "".join(f"  {line}\n" for line in text.splitlines()))
    path = path.rename(tmp_path / "a.yaml")
    (pod,) = load([path]).of(Pod)
    # What is merged counts where it stands, as in go-yaml.
    assert [container.name for container in pod.spec.containers] == ["a", "b", "a"]


def test_every_place_of_a_list_is_reported(tmp_path: Path) -> None:
    items = [POD, {**with_spec(hostnetwork=True), "metadata": {"name": "b"}}]
    text = f"# YAML\n{json.dumps({'apiVersion': 'v1', 'kind': 'List', 'items': items})}"
    assert problems(write(tmp_path, text, "a.yaml")) == [
        (
            "a.yaml: items[1] (Pod default/b): spec.hostnetwork: unknown field; "
            "did you mean 'hostNetwork'?"
        )
    ]


def test_kinds_that_scheduling_does_not_read_are_checked_too(
    tmp_path: Path,
) -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}
    (problem,) = problems(write(tmp_path, {**service, "spec": {"selectr": {}}}))
    assert problem.endswith("selectr: unknown field; did you mean 'selector'?")


def test_custom_kinds_may_have_any_field(tmp_path: Path) -> None:
    widget = {"apiVersion": "acme.io/v1", "kind": "Widget", "anything": {"at": "all"}}
    assert warnings(write(tmp_path, widget)) == []


def test_maps_that_users_fill_may_have_any_key(tmp_path: Path) -> None:
    labels = {"labels": {"any": "x"}, "annotations": {"thing": "y"}}
    pod = with_spec(
        nodeSelector={"any": "x"},
        containers=[{"name": "a", "image": "x", "resources": {"limits": {"a/b": 1}}}],
    )
    assert warnings(write(tmp_path, {**pod, "metadata": {"name": "a", **labels}})) == []


def test_what_a_server_has_stored_may_be_newer(tmp_path: Path) -> None:
    pods = [stored(with_spec(newField=1), f"p{n}") for n in range(3)]
    pods.append(stored(POD, "plain"))
    pods[3]["status"] = {"newer": 1}
    dump = {"apiVersion": "v1", "kind": "List", "items": pods}
    assert warnings(write(tmp_path, dump)) == [
        "a.json: items[0] (Pod default/p0): spec.newField: unknown field"
    ]


@pytest.mark.parametrize("validation", list(Validation))
def test_validation_mode_can_be_chosen(tmp_path: Path, validation: Validation) -> None:
    dump = {"apiVersion": "v1", "kind": "List", "items": [stored(with_spec(new=1))]}
    path = write(tmp_path, dump)
    expected = ["a.json: items[0] (Pod default/a): spec.new: unknown field"]
    if validation is Validation.STRICT:
        assert problems(path, validation) == expected
    else:
        assert warnings(path, validation) == (
            expected if validation is Validation.WARN else []
        )


def test_each_load_checks_specs_of_the_callers_pool_again(tmp_path: Path) -> None:
    path, pool = write(tmp_path, with_spec(new=1)), SpecPool()
    load([path], validation=Validation.IGNORE, pool=pool)
    with pytest.raises(ManifestErrors, match=r"spec\.new: unknown field"):
        load([path], pool=pool)


def test_each_pod_of_a_template_is_checked_outside_its_spec(
    tmp_path: Path,
) -> None:
    pods = [{**POD, "metadata": {"name": f"p{n}"}} for n in range(3)]
    pods[2]["metadata"]["lable"] = {}
    dump = {"apiVersion": "v1", "kind": "List", "items": pods}
    assert problems(write(tmp_path, dump)) == [
        (
            "a.json: items[2] (Pod default/p2): metadata.lable: unknown field; "
            "did you mean 'labels'?"
        )
    ]


def test_only_the_first_unknown_fields_of_an_object_are_listed(tmp_path: Path) -> None:
    found = problems(
        write(tmp_path, with_spec(POD, **{f"x{n}": [] for n in range(100)}))
    )
    assert len(found) == 21
    assert found[-1].endswith("(Pod default/a): and more fields of this kind")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("strict", Validation.STRICT),
        ("true", Validation.STRICT),
        ("warn", Validation.WARN),
        ("ignore", Validation.IGNORE),
        ("false", Validation.IGNORE),
    ],
)
def test_values_of_kubectl_are_accepted(word: str, expected: Validation) -> None:
    assert Validation.of(word) is expected


def test_other_values_are_rejected() -> None:
    with pytest.raises(ValueError, match="maybe"):
        Validation.of("maybe")


def test_value_of_a_wrong_type_is_an_error_in_every_mode(
    tmp_path: Path,
) -> None:
    env = [{"name": "PORT", "value": 80}]
    pod = with_spec(containers=[{"name": "a", "image": "x", "env": env}])
    path = write(tmp_path, pod)
    for validation in (None, *Validation):
        with pytest.raises(ManifestErrors) as caught:
            load([path], validation=validation)
        assert [str(problem) for problem in caught.value.problems] == [
            (
                f"{path} (Pod default/a): spec.containers[0].env[0].value: "
                "expected a string, got 80: put it in quotes"
            )
        ]


def test_value_of_a_wrong_type_is_reported_once(tmp_path: Path) -> None:
    spec = {"parallelism": "2", "template": {"spec": {"containers": "c"}}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}}
    cron_job = {**job, "kind": "CronJob", "spec": {"jobTemplate": {"spec": spec}}}
    place = "spec.jobTemplate.spec"
    assert problems(write(tmp_path, {**job, "spec": spec}, "b.json")) == [
        "b.json (Job default/a): spec.parallelism: expected an integer, got '2'",
        (
            "b.json (Job default/a): spec.template.spec.containers: "
            "expected a list, got 'c'"
        ),
    ]
    path = write(tmp_path, cron_job, "c.json")
    with pytest.raises(ManifestErrors) as caught:
        load([path], run_cron_jobs=True)
    assert [
        str(problem).replace(f"{tmp_path}/", "") for problem in caught.value.problems
    ] == [
        (
            f"c.json (CronJob default/a): {place}.parallelism: "
            "expected an integer, got '2'"
        ),
        (
            f"c.json (CronJob default/a): {place}.template.spec.containers: "
            "expected a list, got 'c'"
        ),
    ]
