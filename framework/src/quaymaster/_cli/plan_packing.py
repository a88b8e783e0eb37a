"""Plans with the profile that packs pods, beside one of the default profile.

The default profile spreads pods over the nodes, so it may need more of them. People who
buy nodes want to know what packing would save, before they search for a better plan.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Final

import attrs

from quaymaster._base.errors import counted
from quaymaster._cli.amounts import plain_amount
from quaymaster._cli.configuration import read_config
from quaymaster._cli.inputs import InputOptions, Inputs
from quaymaster._studies.planning.plans import Plan

__all__ = ["packing_document", "packing_text", "plan_with_packing"]

_PACKING: Final = "bin-packing"
_LEAST_GAP: Final = Decimal("0.02")


def plan_with_packing(
    planned: Plan,
    inputs: Inputs,
    options: InputOptions,
    make_plan: Callable[[Inputs], Plan],
) -> Plan | None:
    """Plan with the profile bin-packing where that may cost less.

    That is if the command line names no configuration, and the plan costs over 2 % more
    than its lower bound, which holds for all profiles.

    Args:
        planned: The plan with the default profile.
        inputs: Its inputs.
        options: The options about them.
        make_plan: Makes a plan.

    Returns:
        The other plan if it costs less, or None.
    """
    if options.configured.file is not None or not _may_be_cheaper(planned):
        return None
    configured = attrs.evolve(options.configured, file=_PACKING)
    config, _ = read_config(configured, inputs.registry)
    other = make_plan(attrs.evolve(inputs, config=config))
    return other if other.is_found and _value(other) < _value(planned) else None


def _may_be_cheaper(planned: Plan) -> bool:
    bound = min(planned.lower_bound, planned.lower_bound_in_rounds)
    excess = _value(planned) - planned.spare_cost - bound
    return planned.is_found and excess > bound * _LEAST_GAP


def packing_text(packed: Plan) -> str:
    """Return one line about a plan with packing."""
    cost = "" if packed.cost is None else f" at a cost of {plain_amount(packed.cost)}"
    nodes = counted(len(packed.nodes), "more node")
    return f"with bin-packing: {nodes}{cost} (--config {_PACKING})"


def packing_document(packed: Plan | None) -> dict[str, object] | None:
    """Return a plan with packing as plain data, without its details."""
    if packed is None:
        return None
    cost = None if packed.cost is None else float(packed.cost)
    return {"config": _PACKING, "nodes": len(packed.nodes), "cost": cost}


def _value(plan: Plan) -> Decimal:
    return Decimal(len(plan.nodes)) if plan.cost is None else plan.cost
