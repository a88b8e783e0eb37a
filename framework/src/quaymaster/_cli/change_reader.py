"""Reads changes of a cluster from texts, such as those of the command line."""

from collections.abc import Callable, Sequence
from typing import Final

import attrs
import click
from click.core import ParameterSource

from quaymaster._api.objects.kinds import KINDS
from quaymaster._base.notices import Notice
from quaymaster._cli.configuration import read_config
from quaymaster._cli.inputs import InputOptions, Inputs
from quaymaster._clusters.inmemory.pod_times import DEFAULT_POD_TIMES
from quaymaster._clusters.manifests.load import load
from quaymaster._core.config.kinds import declared_kinds
from quaymaster._studies.changes.change import ClusterChange
from quaymaster._studies.changes.cordoning import Cordon, Uncordon
from quaymaster._studies.changes.draining import Drain
from quaymaster._studies.changes.node_changes import (
    AddNodes,
    FailNodes,
    FailureMode,
    FailZone,
    RemoveNodes,
    ReturnNodes,
)
from quaymaster._studies.changes.object_changes import Apply, Delete
from quaymaster._studies.changes.rotation import RotateNodes
from quaymaster._studies.changes.scheduler_changes import Repack, UseConfig
from quaymaster._studies.changes.target import Target
from quaymaster._studies.changes.workload_changes import Scale, SetImage
from quaymaster._studies.scenarios.as_changes import changes_of, notices_of_left_out
from quaymaster._studies.scenarios.load import load_scenario
from quaymaster._studies.scenarios.timeline import check_input

__all__ = ["ChangeReader", "may_add_nodes"]

_WITHOUT_NODES: Final = (
    *(Cordon, Uncordon, Drain, RotateNodes, RemoveNodes, FailNodes, ReturnNodes),
    *(FailZone, Scale, SetImage, Delete, UseConfig, Repack),
)
"""The changes that bring no nodes with labels that the input lacks."""


def may_add_nodes(change: ClusterChange) -> bool:
    """Return whether a change may bring nodes with labels that the input lacks."""
    return not isinstance(change, _WITHOUT_NODES)


class ChangeReader:
    """Reads changes from the command line.

    Args:
        inputs: What the command has read.
        options: The options about the input.
        rotation: How nodes are rotated, and how long drains try.
        fail_mode: How nodes fail.

    Attributes:
        inputs: The inputs, with what the first scenario adds.
        seed: The seed of random choices.
        notices: What the reader left out or assumed.
        times: How long pods need to start and to end.
    """

    def __init__(
        self,
        inputs: Inputs,
        options: InputOptions,
        rotation: RotateNodes,
        fail_mode: FailureMode,
    ) -> None:
        self.inputs = inputs
        self.seed = options.seed
        self._has_scenario = False
        self._options = options
        self._rotation = rotation
        self._fail_mode = fail_mode
        self._namespace = options.namespace or ""
        self._kinds = declared_kinds(inputs.config, inputs.registry)
        self.notices: list[Notice] = []
        self.times = DEFAULT_POD_TIMES

    def read(self, name: str, text: str) -> Sequence[ClusterChange]:
        """Read one change, or those of a scenario."""
        if name == "scenario":
            return self._steps(text)
        make: dict[str, Callable[[str], ClusterChange]] = {
            "drain": self._drain,
            "rotate": lambda text: attrs.evolve(self._rotation, nodes=text),
            "cordon": lambda text: Cordon(nodes=text),
            "uncordon": lambda text: Uncordon(nodes=text),
            "remove": lambda text: RemoveNodes(nodes=text),
            "fail": lambda text: FailNodes(nodes=text, mode=self._fail_mode),
            "return": lambda text: ReturnNodes(nodes=text),
            "fail-zone": lambda text: FailZone(zone=text, mode=self._fail_mode),
            "add-nodes": lambda text: AddNodes(spec=text),
            "scale": lambda text: Scale.parse(text, self._namespace),
            "set-image": lambda text: SetImage.parse(text, self._namespace),
            "apply": self._apply,
            "delete": self._delete,
            "new-config": self._use_config,
            "repack": lambda _: Repack(),
        }
        return [make[name](text)]

    def _steps(self, file: str) -> Sequence[ClusterChange]:
        options, inputs = self._options, self.inputs
        kubernetes = options.configured.chosen
        if options.configured.file is not None:
            # A configuration may set feature gates.
            kubernetes = inputs.config.kubernetes
        scenario = load_scenario(file, registry=inputs.registry, kubernetes=kubernetes)
        self.notices += (*scenario.notices, *notices_of_left_out(scenario))
        if not self._has_scenario:
            if options.configured.file is None:
                inputs = attrs.evolve(inputs, config=scenario.config)
            if not _is_seed_given():
                self.seed = scenario.seed
            self.times = scenario.times
            if not _names_cluster(options):
                check_input(scenario)
                objects = [*inputs.objects, *scenario.objects]
                inputs = attrs.evolve(inputs, objects=objects)
            self.inputs, self._has_scenario = inputs, True
        return changes_of(scenario, seed=self.seed if _is_seed_given() else None)

    def _drain(self, text: str) -> ClusterChange:
        return Drain(nodes=text, timeout_seconds=self._rotation.timeout_seconds)

    def _delete(self, text: str) -> ClusterChange:
        target = Target.parse(text, self._namespace, f"delete {text}")
        return Delete(target=target, kinds=self._own_kinds())

    def _own_kinds(self) -> Sequence[type]:
        return [kind for kind in self._kinds if kind not in KINDS.values()]

    def _apply(self, file: str) -> ClusterChange:
        loaded = load(
            [file],
            kinds=self._kinds,
            namespace=self._options.namespace,
            validation=self._options.validation,
            custom_kinds=self._options.custom_kinds,
            run_cron_jobs=self._options.run_cron_jobs,
            kubernetes=self.inputs.config.kubernetes,
        )
        self.notices += loaded.notices
        return Apply(objects=loaded.objects, name=file)

    def _use_config(self, file: str) -> ClusterChange:
        configured = attrs.evolve(
            self._options.configured, file=file, chosen=self.inputs.config.kubernetes
        )
        config, notices = read_config(configured, self.inputs.registry)
        self.notices += notices
        return UseConfig(config=config, name=file)


def _names_cluster(options: InputOptions) -> bool:
    """Whether the command line names the initial cluster."""
    live = (options.context, options.kubeconfig)
    return bool(options.paths) or any(option is not None for option in live)


def _is_seed_given() -> bool:
    source = click.get_current_context().get_parameter_source("seed")
    return source is not ParameterSource.DEFAULT
