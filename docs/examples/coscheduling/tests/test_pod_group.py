"""Groups in manifests."""

from pathlib import Path

import pytest
from quaymaster.manifests import ManifestErrors, load
from quaymaster.objects import Quantity

from quaymaster_coscheduling import PodGroup, PodGroupSpec


def read(tmp_path: Path, spec: str) -> PodGroup:
    file = tmp_path / "group.yaml"
    file.write_text(
        "apiVersion: scheduling.x-k8s.io/v1alpha1\n"
        "kind: PodGroup\n"
        "metadata: {name: a}\n"
        f"spec: {spec}\n",
        encoding="utf-8",
    )
    (group,) = load([file], kinds=[PodGroup]).objects
    assert isinstance(group, PodGroup)
    return group


def test_fields_are_those_of_upstream(tmp_path: Path) -> None:
    text = "{minMember: 2, minResources: {cpu: 3}, scheduleTimeoutSeconds: 5}"
    assert read(tmp_path, text).spec == PodGroupSpec(
        min_member=2, min_resources={"cpu": Quantity("3")}, schedule_timeout_seconds=5
    )


@pytest.mark.parametrize("spec", ["{minMember: 0}", "{minMembers: 2}"])
def test_mistakes_are_refused(tmp_path: Path, spec: str) -> None:
    with pytest.raises(ManifestErrors, match=r"spec\.minMember"):
        read(tmp_path, spec)
