"""The facts of NodeDeclaredFeatures."""

import msgspec

from quaymaster.testing import PluginHarness, make_node, make_pod
from quaymaster_node_declared_features import NodeDeclaredFeatures


def test_the_missing_feature_and_the_field_that_needs_it_are_named() -> None:
    pod = make_pod()
    spec = msgspec.structs.replace(pod.spec, host_network=True, host_users=False)
    harness = PluginHarness(NodeDeclaredFeatures, nodes=[make_node(name="a")])
    facts = harness.explain_filter(msgspec.structs.replace(pod, spec=spec))
    fact = (
        "the node does not declare the feature UserNamespacesHostNetworkSupport, "
        "which hostUsers: false with hostNetwork: true needs"
    )
    assert facts == {"a": (fact,)}
