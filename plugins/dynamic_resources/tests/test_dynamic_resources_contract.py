"""DynamicResources fulfils the plugin contract."""

from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import ApiObject, Pod
from quaymaster.objects import (
    DeviceRequest,
    DeviceSubRequest,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodResourceClaim,
    ResourceClaim,
)
from quaymaster.testing import (
    PluginContract,
    SmallCluster,
    clusters,
    make_device_class,
    make_device_request,
    make_pod,
    make_resource_claim,
    make_resource_slice,
)
from quaymaster_dynamic_resources import DynamicResources


def claiming_pod(*claims: str) -> Pod:
    pod = make_pod()
    named = tuple(
        PodResourceClaim(name=claim, resource_claim_name=claim) for claim in claims
    )
    return replace(pod, spec=replace(pod.spec, resource_claims=named))


def at_best_two() -> DeviceRequest:
    """Request two devices, or one if no node has two."""
    return DeviceRequest(
        name="devices",
        first_available=tuple(
            DeviceSubRequest(
                name=f"of-{count}",
                device_class_name="gpu",
                allocation_mode="ExactCount",
                count=count,
            )
            for count in (2, 1)
        ),
    )


def elsewhere() -> ResourceClaim:
    """Make a claim that is allocated on a node which the cluster does not have."""
    claim = make_resource_claim(
        name="elsewhere", devices=["gpu.example.com/gone/gpu-0"]
    )
    on_gone = NodeSelector(
        node_selector_terms=(
            NodeSelectorTerm(
                match_fields=(
                    NodeSelectorRequirement(
                        key="metadata.name", operator="In", values=("gone",)
                    ),
                )
            ),
        )
    )
    allocation = claim.status.allocation
    assert allocation is not None
    allocation = replace(allocation, node_selector=on_gone)
    return replace(claim, status=replace(claim.status, allocation=allocation))


PODS = st.sampled_from(
    [
        make_pod(),
        claiming_pod("elsewhere"),
        claiming_pod("gpu"),
        claiming_pod("two-gpus"),
        claiming_pod("at-best-two"),
        claiming_pod("missing"),
        claiming_pod("gpu", "two-gpus"),
    ]
)


class TestContract(PluginContract):
    """Two nodes have devices, one of them enough for two.

    A claim that no pod uses is allocated on another node: PostFilter frees it.
    """

    plugin = DynamicResources
    objects: tuple[ApiObject, ...] = (
        make_device_class(),
        make_resource_slice(node="n0"),
        make_resource_slice(node="n1", devices=2),
        make_resource_claim(name="gpu"),
        make_resource_claim(name="two-gpus", requests=[make_device_request(count=2)]),
        make_resource_claim(name="at-best-two", requests=[at_best_two()]),
        elsewhere(),
    )

    def clusters(self) -> st.SearchStrategy[SmallCluster]:
        return clusters(pods=PODS)
