"""`plan`: the fewest or cheapest nodes with which everything fits."""

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from time import monotonic

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._core.config.defaults import with_defaults
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.capacity.prices import Prices
from quaymaster._studies.planning.attempt import Effort
from quaymaster._studies.planning.groups import (
    NodeGroup,
    NodeGroupError,
    priced,
    with_names_of_their_own,
)
from quaymaster._studies.planning.losses import Loss
from quaymaster._studies.planning.offered_groups import group_of_offer, offers_of
from quaymaster._studies.planning.pace import Pace
from quaymaster._studies.planning.planner import Planner
from quaymaster._studies.planning.plans import Plan
from quaymaster._studies.planning.question import Question
from quaymaster._studies.planning.scaled import ScaledPlan, scale
from quaymaster._studies.simulation.autoscaler import AutoscalerFactory, NodeOffer

__all__ = ["plan"]


def plan(
    objects: Iterable[ApiObject],
    *,
    groups: Iterable[NodeGroup] = (),
    autoscaler: AutoscalerFactory | None = None,
    config: SchedulerConfig | None = None,
    registry: PluginRegistry | None = None,
    seed: int = 0,
    prices: Prices | None = None,
    max_utilization: Mapping[str, Fraction | float] | None = None,
    tolerate_loss: Loss | None = None,
    min_spot: Fraction | float | None = None,
    spare: int = 0,
    max_trials: int | None = None,
    in_rounds: bool = True,
    time_limit: float | None = None,
    daemon_sets_first: bool = True,
    on_progress: Callable[[int, int], None] | None = None,
    on_better: Callable[[Plan], None] | None = None,
    on_step: Callable[[int, int], None] | None = None,
    max_pods: int = MAX_PODS,
    clock: Callable[[], float] = monotonic,
) -> Plan:
    """Find the cheapest nodes, or without prices the fewest, so that everything fits.

    A plan works if, in a simulation of the input with its nodes, no pod stays pending,
    no pod is preempted for good, and the limits hold. The best plan is the cheapest of
    these; at equal cost, one with the fewest nodes. Every plan is simulated. Conditions
    that every plan must meet only save simulations and give the bound.

    Args:
        objects: The input, as for `simulate`; its nodes exist already and cost nothing.
        groups: The groups whose nodes may be added.
        autoscaler: Makes an autoscaler whose nodes may be added, instead of groups. It
            runs on the input, so that the plan can be compared with what it does; the
            rounds in which it orders nodes are tried, too. It ignores the limits, the
            losses, the share of spot nodes and the spare nodes of the plan.
        config: The scheduler's configuration; by default the default profile.
        registry: Where plugins are found by name; by default the installed plugins.
        seed: As for `simulate`.
        prices: Prices by instance type: of groups without a price, and of nodes of the
            input.
        max_utilization: Resource -> the largest part of the total of all nodes,
            including those of the input, that pods may request in the end; 0.8 is 80%.
        tolerate_loss: What may be lost, so that all its pods fit on the remaining nodes
            without moving other pods.
        min_spot: The part of the CPU that the plan adds which spot nodes must have at
            least; 0.5 is half of it. Labels of providers mark spot nodes.
        spare: How many nodes more each group that the plan uses gets, so that as many
            may fail or be replaced. Lower bounds are those without spare nodes.
        max_trials: How many plans are tried at most; by default 20 to 500, by the
            number of pods.
        in_rounds: Whether the nodes may be bought in rounds, each for the pods that are
            still pending while placed pods stay. If not, all nodes are there from the
            beginning.
        time_limit: After how many seconds the search ends, with the best plan so far;
            a plan that is being tried then is given up. With a limit, the answer
            depends on the speed of the machine.
        daemon_sets_first: Whether pods of DaemonSets are tried before all others, so
            that they get their room on every node, as autoscalers reserve it. If not,
            pods are tried as the profile sorts them.
        on_progress: Called now and then with how many plans were tried, and how many
            will be at most.
        on_better: Called with each plan that is better than those before; its bounds
            are not computed yet.
        on_step: Called now and then while a plan is being tried, with how many pods got
            a node in its simulation, and how many pods there are.
        max_pods: As for `simulate`.
        clock: Returns the time in seconds, for the time limit.

    Raises:
        AdmissionError: Some objects are invalid, or create too many pods.
        AutoscalerError: The autoscaler does not list nodes that it may add.
        NodeGroupError: The groups conflict with each other, with an autoscaler or with
            a limit, a loss, a share of spot nodes or a number of spare nodes.
        ProfileError: A profile's plugins cannot be built.
    """
    config, registry = with_defaults(config, registry)
    late = math.inf if time_limit is None else clock() + time_limit
    objects, offers = list(objects), list[NodeOffer]()
    if autoscaler is not None:
        offers = list(offers_of(autoscaler, objects))
        groups = _groups_of_offers(groups, offers)
    question = Question(
        objects=objects,
        groups=priced(with_names_of_their_own(groups), prices or Prices()),
        config=config,
        registry=registry,
        seed=seed,
        max_pods=max_pods,
        max_utilization={
            name: Fraction(str(most)) for name, most in (max_utilization or {}).items()
        },
        loss=tolerate_loss,
        min_spot=None if min_spot is None else Fraction(str(min_spot)),
        spare=spare,
        prices=prices or Prices(),
        daemon_sets_first=daemon_sets_first,
    )
    effort = Effort(
        max_trials=max_trials,
        in_rounds=in_rounds,
        pace=Pace(
            is_late=lambda: clock() >= late,
            on_step=on_step or (lambda _done, _all: None),
        ),
        on_progress=on_progress or (lambda _tried, _most: None),
        on_better=on_better or (lambda _plan: None),
    )
    if autoscaler is None:
        return Planner(question, effort).answer()
    scaled = scale(question, autoscaler, offers, effort.pace)
    if scaled is not None:
        effort = attrs.evolve(effort, launches=scaled.rounds)
    return _beside(Planner(question, effort).answer(), scaled)


def _groups_of_offers(
    groups: Iterable[NodeGroup], offers: Iterable[NodeOffer]
) -> list[NodeGroup]:
    for group in groups:
        problem = "expected no group beside an autoscaler, which has its own"
        raise NodeGroupError(group.where, problem)
    return [group_of_offer(offer) for offer in offers]


def _beside(plan: Plan, scaled: ScaledPlan | None) -> Plan:
    """Return a plan beside what an autoscaler does."""
    partial = plan.partial and _beside(plan.partial, scaled)
    return attrs.evolve(plan, partial=partial, scaled=scaled)
