"""The facts of NodeVolumeLimits: the driver, and the volumes in use of the limit."""

from quaymaster import ApiObject
from quaymaster.testing import (
    PluginHarness,
    make_csi_node,
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
    make_storage_class,
)
from quaymaster_node_volume_limits import NodeVolumeLimits

DRIVER = "csi.example.com"


def volume_of(name: str) -> tuple[ApiObject, ApiObject]:
    claim = make_persistent_volume_claim(name=name, volume=f"pv-{name}")
    return claim, make_persistent_volume(name=f"pv-{name}", claim=claim)


def test_driver_and_used_of_limit_are_named() -> None:
    objects = [
        *volume_of("a"),
        *volume_of("b"),
        make_persistent_volume_claim(name="new"),
        make_storage_class(),
        make_csi_node(name="n", limits={DRIVER: 2}),
    ]
    user = make_pod(name="user", node="n", claims=["a", "b"])
    harness = PluginHarness(
        NodeVolumeLimits, nodes=[make_node(name="n")], pods=[user], objects=objects
    )
    assert harness.explain_filter(make_pod(claims=["a", "new"])) == {
        "n": (
            f"wants 1 volume of driver {DRIVER} (default/new)",
            f"attached volumes of {DRIVER}: 2 of 2",
        )
    }
