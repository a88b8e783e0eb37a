"""Written bindings that can never be complete have upstream's errors.

The cases are those of TestCheckBindings (``volumebinding/binder_test.go``).
"""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject
from quaymaster.objects import AWSElasticBlockStoreVolumeSource, PersistentVolume
from quaymaster.testing import (
    PluginHarness,
    make_csi_node,
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
)
from quaymaster.volumes import MIGRATED_PLUGINS, SELECTED_NODE
from quaymaster_volume_binding import VolumeBinding
from quaymaster_volume_binding.binding import BindingError, WrittenBindings
from quaymaster_volume_binding.lookup import Lookup
from quaymaster_volume_binding.plans import StaticBinding

POD = make_pod(name="web", node="n")
NODE = make_node(name="n")
CLAIM = make_persistent_volume_claim(name="data", volume="disk")
VOLUME = make_persistent_volume(name="disk", claim=CLAIM)
SELECTED = make_persistent_volume_claim(name="new", annotations={SELECTED_NODE: "n"})
BINDING = WrittenBindings([StaticBinding(CLAIM, VOLUME)], [])
PROVISIONED = WrittenBindings([], [SELECTED])


def are_complete(written: WrittenBindings, objects: Sequence[ApiObject]) -> bool:
    harness = PluginHarness(VolumeBinding, objects=objects)
    lookup = Lookup(harness.handle.informers)
    return written.are_complete(harness.handle, lookup, POD)


def in_tree(volume: PersistentVolume) -> PersistentVolume:
    source = AWSElasticBlockStoreVolumeSource(volume_id="aws://no-volume")
    spec = replace(volume.spec, csi=None, aws_elastic_block_store=source)
    return replace(volume, spec=spec)


def migrated() -> ApiObject:
    csi_node = make_csi_node(name="n")
    annotations = {MIGRATED_PLUGINS: "kubernetes.io/aws-ebs"}
    metadata = replace(csi_node.metadata, annotations=annotations)
    return replace(csi_node, metadata=metadata)


def test_bindings_are_complete_when_each_claim_is_bound() -> None:
    assert are_complete(BINDING, [NODE, POD, VOLUME, CLAIM])
    assert not are_complete(PROVISIONED, [NODE, POD, SELECTED])


@pytest.mark.parametrize(
    ("written", "objects", "text"),
    [
        pytest.param(
            BINDING,
            [POD],
            'failed to get node "n": node "n" not found',
            id="no node",
        ),
        pytest.param(
            BINDING,
            [NODE],
            'pod does not exist any more: pod "web" not found',
            id="no pod",
        ),
        pytest.param(
            BINDING,
            [NODE, POD, CLAIM],
            'failed to check binding: persistentvolumes "disk" not found',
            id="no volume",
        ),
        pytest.param(
            BINDING,
            [NODE, POD, VOLUME],
            'failed to check binding: persistentvolumeclaims "default/data" not found',
            id="no claim",
        ),
        pytest.param(
            BINDING,
            [NODE, POD, in_tree(VOLUME), CLAIM, migrated()],
            "failed to translate pv to csi: ",
            id="no translation",
        ),
        pytest.param(
            PROVISIONED,
            [NODE, POD],
            "failed to check provisioning pvc: "
            'persistentvolumeclaims "default/new" not found',
            id="no claim to provision",
        ),
    ],
)
def test_bindings_fail_with_upstreams_text(
    written: WrittenBindings, objects: Sequence[ApiObject], text: str
) -> None:
    with pytest.raises(BindingError) as caught:
        are_complete(written, objects)
    assert str(caught.value).startswith(text)


def test_a_provisioned_volume_that_cannot_be_translated_is_an_error() -> None:
    claim = make_persistent_volume_claim(
        name="new", volume="disk", annotations={SELECTED_NODE: "n"}
    )
    volume = in_tree(make_persistent_volume(name="disk", claim=claim))
    with pytest.raises(BindingError, match="no-volume"):
        are_complete(PROVISIONED, [NODE, POD, claim, volume, migrated()])
