"""Makes the changes of steps."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import attrs
import numpy as np

from quaymaster._api.objects import ApiObject, Node
from quaymaster._clusters.inmemory.admission.problems import place_of
from quaymaster._core.contract.cluster import ApiError, ForbiddenError
from quaymaster._studies.changes.change import ChangeError, ClusterChange, Effect
from quaymaster._studies.changes.cordoning import Cordon, Uncordon
from quaymaster._studies.changes.draining import Drain
from quaymaster._studies.changes.node_changes import (
    AddNodes,
    FailNodes,
    FailZone,
    RemoveNodes,
    ReturnNodes,
    failed_nodes,
)
from quaymaster._studies.changes.node_choice import chosen_nodes
from quaymaster._studies.changes.object_changes import Apply, Delete, Patch
from quaymaster._studies.changes.rotation import RotateNodes
from quaymaster._studies.changes.scheduler_changes import Repack, UseConfig
from quaymaster._studies.changes.target import Target
from quaymaster._studies.changes.workload_changes import Scale, SetImage
from quaymaster._studies.scenarios import actions
from quaymaster._studies.scenarios.model import ACTIONS, Step
from quaymaster._studies.scenarios.run_times import run_times
from quaymaster._studies.scenarios.scenario import Scenario, StepPart, StepResult
from quaymaster._studies.scenarios.streams import random_stream
from quaymaster._studies.scenarios.templates import made
from quaymaster._studies.simulation.run import Simulation

__all__ = ["Actor"]

_MOST_MESSAGES: Final = 10


class Actor:
    """Makes the changes of one step, and records them.

    Args:
        step: The step.
        index: Its number, from 0.
        part: What it needs from other files.
        scenario: The scenario of the step.
        seed: Decides what is random.
        simulation: The simulation to change.

    Attributes:
        step: The step.
        name: Its name in results.
        effects: The effects of its changes; those of drains grow.
        lost: The nodes that its last failure has taken.
    """

    def __init__(
        self,
        step: Step,
        index: int,
        part: StepPart,
        scenario: Scenario,
        seed: int,
        simulation: Simulation,
    ) -> None:
        self.step = step
        self.name = step.name or f"steps[{index}]"
        self.effects: list[Effect] = []
        self.lost: list[str] = []
        self._part = part
        self._kinds = scenario.kinds
        self._simulation = simulation
        self._refused: Counter[str] = Counter()
        self._times: list[float] = []
        self._count = 0
        self._created = 0
        self._number = 0
        # A stream for each purpose: another number of draws of one kind does not move
        # the draws of the others.
        self._nodes = random_stream(seed, self.name, "nodes")
        self._run_times = self._drawn_run_times(seed)
        self.stream = random_stream(seed, self.name, "arrivals")

    def act(self) -> None:
        """Make the step's changes now, and record rejected ones."""
        self.note_time()
        if self.step.create is not None:
            self._create(self.step.create.count)
            return
        try:
            for change in self._changes():
                self.effects.append(change.apply(self._simulation))
        # One failing change ends the step's others, as a failing command ends a script.
        except (ApiError, ChangeError) as error:
            self._refused[str(error)] += 1

    def note_time(self) -> None:
        """Note that the step happens now."""
        self._count += 1
        self.note_end()

    def note_end(self) -> None:
        """Note that the step has lasted until now."""
        now = self._simulation.now
        self._times = [self._times[0] if self._times else now, now]

    def bring_back(self, nodes: Sequence[str]) -> None:
        """Return nodes that have failed in the step."""
        for node in nodes:
            try:
                self.effects.append(ReturnNodes(nodes=node).apply(self._simulation))
            except (ApiError, ChangeError) as error:
                self._refused[str(error)] += 1

    def result(self) -> StepResult:
        """Return the result of the step."""
        effects = self.effects
        notes = [note for effect in effects for note in effect.notes]
        began, last = self._times or (None, None)
        is_going_on = any(effect.ended is None for effect in effects)
        done = [effect.ended for effect in effects if effect.ended is not None]
        ended = None if last is None else max([last, *done])
        return StepResult(
            name=self.name,
            action=ACTIONS[self.step.action],
            began=began,
            ended=ended,
            took=None
            if is_going_on or began is None or ended is None
            else ended - began,
            times=self._count,
            objects=self._created + sum(len(effect.objects) for effect in effects),
            evicted=sum(len(effect.evicted) for effect in effects),
            lost=sum(len(effect.lost) + len(effect.timed_out) for effect in effects),
            refused=tuple(self._refused.most_common(_MOST_MESSAGES)),
            may_fail=self.step.may_fail,
            notes=tuple(dict.fromkeys(notes)),
        )

    def _drawn_run_times(self, seed: int) -> Iterator[float] | None:
        create = self.step.create
        if create is None or create.run_time is None:
            return None
        stream = random_stream(seed, self.name, "run times")
        return run_times(create.run_time, self._part.run_times, stream)

    def _create(self, count: int) -> None:
        # A single object keeps its name from the template.
        is_numbered = count > 1 or self.step.repeat is not None
        cluster = self._simulation.cluster
        for _ in range(count):
            number = self._number if is_numbered else None
            self._number += 1
            for obj in made(self._part.templates, number, self._run_times):
                try:
                    cluster.create(obj)
                    self._created += 1
                except ApiError as error:
                    self._refused[_refusal(error, obj)] += 1

    def _changes(self) -> Iterator[ClusterChange]:
        step = self.step
        self.lost = []
        if step.apply is not None:
            yield Apply(objects=self._part.objects, name=self.name)
        elif (patch := step.patch) is not None:
            target = Target.parse(patch.target)
            yield Patch(target=target, patch=patch.patch, kinds=self._kinds)
        elif (scale := step.scale) is not None:
            yield Scale(target=Target.parse(scale.target), replicas=scale.replicas)
        elif (image := step.set_image) is not None:
            target = Target.parse(image.target)
            yield SetImage(target=target, image=image.image, container=image.container)
        elif step.delete is not None:
            yield Delete(target=Target.parse(step.delete.target), kinds=self._kinds)
        elif (config := self._part.config) is not None and step.use_config is not None:
            yield UseConfig(config=config, name=step.use_config.file)
        elif step.repack is not None:
            yield Repack()
        else:
            yield from self._node_changes()

    def _node_changes(self) -> Iterator[ClusterChange]:
        step = self.step
        if step.add_nodes is not None:
            for spec in step.add_nodes.nodes:
                yield AddNodes(spec=spec)
        elif step.fail_zone is not None:
            yield FailZone(zone=step.fail_zone.zone, mode=step.fail_zone.mode)
            # The generator continues after the change was made, so its effect is the
            # last one.
            failed = self.effects[-1].objects
            self.lost = [name.removeprefix("Node/") for name in failed]
        elif step.drain is not None:
            yield from self._drains(step.drain)
        elif (rotation := step.rotate_nodes) is not None:
            yield RotateNodes(
                nodes=rotation.nodes,
                surge=rotation.surge,
                boot_seconds=rotation.boot.total_seconds(),
                timeout_seconds=rotation.timeout.total_seconds(),
            )
        else:
            yield from self._changes_by_name()

    def _drains(self, drain: actions.Drain) -> Iterator[ClusterChange]:
        grace = drain.grace_period
        change = Drain(
            nodes=drain.nodes,
            timeout_seconds=drain.timeout.total_seconds(),
            grace_period_seconds=None if grace is None else grace.total_seconds(),
        )
        if drain.count is None:
            yield change
            return
        for name in self._drawn(drain.nodes, drain.count):
            yield attrs.evolve(change, nodes=name)

    def _changes_by_name(self) -> Iterator[ClusterChange]:
        """Return the changes that need only the names of nodes."""
        step, action = self.step, self.step.action
        choice: actions.NodeChoice | actions.FailNodes = getattr(step, action)
        is_failure = step.fail_nodes is not None
        if choice.count is None and not is_failure:
            yield _BY_NAME[action](choice.nodes)
            return
        of_lost = step.return_nodes is not None
        for name in self._drawn(choice.nodes, choice.count, of_lost=of_lost):
            if step.fail_nodes is not None:
                yield FailNodes(nodes=name, mode=step.fail_nodes.mode)
                self.lost.append(name)
            else:
                yield _BY_NAME[action](name)

    def _drawn(
        self, text: str, count: int | None, *, of_lost: bool = False
    ) -> Sequence[str]:
        """Return the names of all selected nodes, or of some drawn at random."""
        simulation = self._simulation
        there: Sequence[Node] = simulation.cluster.list(Node).items
        if of_lost:
            there = failed_nodes(simulation)
        action = ACTIONS[self.step.action]
        names = [node.name for node in chosen_nodes(text, there, f"{action} {text}")]
        if count is None or count >= len(names):
            return names
        # In the order of the nodes: which ones are drawn is random, and not when.
        picked = self._nodes.choice(len(names), size=count, replace=False)
        return [names[index] for index in np.sort(picked).tolist()]


def _refusal(error: ApiError, obj: ApiObject) -> str:
    """Return why an object was rejected, in words that are equal for its copies."""
    if isinstance(error, ForbiddenError):
        return f"{obj.kind}: {error.reason}"
    return f"{obj.kind}: {str(error).removeprefix(f'{place_of(obj)}: ')}"


_BY_NAME: Final[Mapping[str, Callable[[str], ClusterChange]]] = {
    "cordon": lambda nodes: Cordon(nodes=nodes),
    "uncordon": lambda nodes: Uncordon(nodes=nodes),
    "return_nodes": lambda nodes: ReturnNodes(nodes=nodes),
    "remove_nodes": lambda nodes: RemoveNodes(nodes=nodes),
}
"""The fields of a step whose changes need only nodes."""
