"""Plans for a pod's volumes, in the format of the records."""

from collections.abc import Iterable, Mapping

from quaymaster import CycleState
from quaymaster_volume_binding import VolumeBinding, VolumePlan
from tests.kit.internals.engine import Framework
from tests.parity.cases import Json

__all__ = ["volume_plans"]


def volume_plans(
    framework: Framework, state: CycleState, nodes: Iterable[str]
) -> Mapping[str, Json]:
    """Return node -> the plan for it, for nodes that need one."""
    plugin = framework.profile.plugins.get("VolumeBinding")
    if not isinstance(plugin, VolumeBinding):
        return {}
    plans = {node: plugin.plan(state, node) for node in nodes}
    return {node: _written(plan) for node, plan in plans.items() if plan}


def _written(plan: VolumePlan) -> Json:
    static = ([binding.claim.key, binding.volume.name] for binding in plan.static)
    return {
        "static": sorted(static),
        "provision": sorted(claim.key for claim in plan.provision),
    }
