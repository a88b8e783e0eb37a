"""The variants of a comparison, and how they run."""

from collections.abc import Sequence
from typing import Protocol

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._core.config.defaults import with_defaults
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.cycle.explanation import Explanation
from quaymaster._core.registry.installed import installed_plugins
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.capacity.prices import Prices
from quaymaster._studies.comparing.decisions import DecisionLog
from quaymaster._studies.comparing.figures import ZONE, measure
from quaymaster._studies.comparing.outcome import Decision, Outcome
from quaymaster._studies.simulation.autoscaled_figures import autoscaled_figures
from quaymaster._studies.simulation.autoscaler import AutoscalerFactory
from quaymaster._studies.simulation.calls import observe
from quaymaster._studies.simulation.clusters import filled_cluster
from quaymaster._studies.simulation.disruptions import Disruptions
from quaymaster._studies.simulation.explaining import explain_pod
from quaymaster._studies.simulation.observed import ObservedRun
from quaymaster._studies.simulation.run import Simulation

__all__ = ["ComparedVariant", "Measures", "Variant"]


@attrs.frozen(kw_only=True)
class Measures:
    """The measures of each variant.

    Attributes:
        prices: Prices of nodes without an annotation.
        topology_keys: The node labels over whose values the balance is measured.
    """

    prices: Prices = attrs.field(factory=Prices)
    topology_keys: tuple[str, ...] = (ZONE,)


class ComparedVariant(Protocol):
    """A variant of a comparison: an input that is scheduled in some way."""

    @property
    def name(self) -> str:
        """The name of the variant in the comparison."""

    def outcome(self, seed: int, measures: Measures) -> Outcome:
        """Simulate, and return the outcome."""

    def explain(self, decision: Decision, seed: int) -> Explanation | None:
        """Return the verdict of every plugin about every node for a decision."""


@attrs.frozen(kw_only=True)
class Variant:
    """An input and a configuration, simulated in this process.

    Attributes:
        name: Its name in the comparison.
        objects: Nodes, pods, workloads and all else, as for `simulate`.
        registry: Where plugins are found by name; by default the installed plugins.
        config: The scheduler's configuration; by default the default profile.
        max_pods: How many pods the workloads may ask for in all.
        autoscaler: Makes what adds and removes nodes; by default nothing does.
    """

    name: str
    objects: Sequence[ApiObject] = attrs.field(repr=False)
    registry: PluginRegistry = attrs.field(factory=installed_plugins, repr=False)
    config: SchedulerConfig = attrs.field(repr=False)
    max_pods: int = MAX_PODS
    autoscaler: AutoscalerFactory | None = attrs.field(default=None, repr=False)

    @config.default
    def _default_profile(self) -> SchedulerConfig:
        return with_defaults(None, self.registry)[0]

    def outcome(self, seed: int, measures: Measures) -> Outcome:
        """Simulate, and return the outcome.

        Raises:
            AdmissionError: Some objects are invalid, or create too many pods.
            ProfileError: A profile's plugins cannot be built.
        """
        cluster = filled_cluster(
            self.objects, seed, self.max_pods, kubernetes=self.config.kubernetes
        )
        log = DecisionLog(cluster)
        disruptions = Disruptions(cluster) if self.autoscaler is not None else None
        with Simulation(
            cluster,
            config=self.config,
            registry=self.registry,
            seed=seed,
            log=log,
            autoscaler=self.autoscaler,
        ) as simulation:
            simulation.settle()
            figures = measure(simulation, measures.prices, measures.topology_keys)
            worker = simulation.autoscaler
            nodes = None if worker is None else tuple(worker.nodes())
            if disruptions is not None and nodes is not None:
                figures["disruptions"] = len(disruptions.so_far())
                figures |= autoscaled_figures(nodes)
            return Outcome(
                seed=seed,
                figures=figures,
                decisions=tuple(log.decisions),
                places=log.places(),
                seconds=simulation.now,
                autoscaled=nodes,
                has_settled=simulation.has_settled,
            )

    def explain(self, decision: Decision, seed: int) -> Explanation | None:
        """Return the verdict of every plugin about every node for a decision.

        Args:
            decision: A decision of this variant under that seed.
            seed: The seed.

        Returns:
            The verdicts; None if the pod was not tried itself, as its group had failed.
        """
        if not decision.attempt:
            return None
        namespace, _, name = decision.pod.rpartition("/")
        return explain_pod(
            f"pod/{name}",
            self.objects,
            config=self.config,
            registry=self.registry,
            seed=seed,
            attempt=decision.attempt,
            namespace=namespace,
            max_pods=self.max_pods,
            autoscaler=self.autoscaler,
        ).explanation

    def observe(self, seed: int) -> ObservedRun:
        """Simulate, and return the observed run.

        Args:
            seed: Decides ties and generated names.

        Raises:
            AdmissionError: Some objects are invalid, or create too many pods.
            ProfileError: A profile's plugins cannot be built.
        """
        return observe(
            self.objects,
            config=self.config,
            registry=self.registry,
            name=self.name,
            seed=seed,
            max_pods=self.max_pods,
            autoscaler=self.autoscaler,
        )
