"""Kustomizations and Helm charts are recognised; the message suggests a command."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from quaymaster.manifests import ManifestErrors, load

POD = "{apiVersion: v1, kind: Pod, metadata: {name: p}}\n"
CHART = "apiVersion: v2\nname: shop\nversion: 1.0.0\n"
TEMPLATE = "apiVersion: v1\nkind: Pod\nmetadata: {name: '{{ .Values.name }}'}\n"


def problems(folder: Path, files: Mapping[str, str], *paths: str) -> list[str]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    with pytest.raises(ManifestErrors) as caught:
        load([folder / path for path in paths or (".",)])
    return [
        str(problem).replace(str(folder), "DIR") for problem in caught.value.problems
    ]


@pytest.mark.parametrize(
    "name", ["kustomization.yaml", "kustomization.yml", "Kustomization"]
)
def test_kustomization_must_be_built_first(tmp_path: Path, name: str) -> None:
    files = {f"shop/{name}": "resources: [pod.yaml]\n", "shop/pod.yaml": POD}
    assert problems(tmp_path, files, "shop") == [
        (
            "DIR/shop: a kustomization; expected manifests: "
            "kubectl kustomize DIR/shop | quaymaster simulate -"
        )
    ]


def test_folders_below_are_recognised_each(tmp_path: Path) -> None:
    files = {
        "pod.yaml": POD,
        "base/kustomization.yaml": "resources: []\n",
        "chart/Chart.yaml": CHART,
        "chart/templates/pod.yaml": TEMPLATE,
    }
    assert problems(tmp_path, files) == [
        (
            "DIR/base: a kustomization; expected manifests: "
            "kubectl kustomize DIR/base | quaymaster simulate -"
        ),
        (
            "DIR/chart: a Helm chart; expected manifests: "
            "helm template DIR/chart | quaymaster simulate -"
        ),
    ]


def test_kustomization_file_itself_is_recognised(tmp_path: Path) -> None:
    files = {"kustomization.yaml": "resources: [pod.yaml]\n"}
    (problem,) = problems(tmp_path, files, "kustomization.yaml")
    assert "kubectl kustomize DIR | quaymaster simulate -" in problem


def test_template_of_a_chart_is_recognised_though_it_is_yaml(tmp_path: Path) -> None:
    files = {"Chart.yaml": CHART, "templates/pod.yaml": TEMPLATE}
    (problem,) = problems(tmp_path, files, "templates/pod.yaml")
    assert problem.endswith("helm template DIR | quaymaster simulate -")


def test_template_without_its_chart_is_recognised_by_its_actions(
    tmp_path: Path,
) -> None:
    files = {"pod.yaml": "{{- if .Values.on }}\nkind: Pod\n{{- end }}\n"}
    (problem,) = problems(tmp_path, files, "pod.yaml")
    assert problem.endswith("helm template CHART | quaymaster simulate -")


def test_braces_of_other_languages_are_not_a_template(tmp_path: Path) -> None:
    text = POD.replace("name: p", "name: p, annotations: {say: '{{ $labels.pod }}'}")
    (tmp_path / "pod.yaml").write_text(text)
    assert len(load([tmp_path]).objects) == 1
