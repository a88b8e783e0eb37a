"""The cluster autoscaler as a controller in virtual time.

Mirrors ``loop/trigger.go``: the next loop comes after the scan interval, at once after
a loop that changed the size of a group, and as soon as a pod becomes unschedulable.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._base.notices import Notice
from quaymaster._core.contract.clock import Timer
from quaymaster._core.contract.cluster import EventNote
from quaymaster._studies.autoscaling.cloud import Cloud, Instance
from quaymaster._studies.autoscaling.cluster_autoscaler.buffer_objects import (
    CapacityBuffer,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.events import AutoscalerEvent
from quaymaster._studies.autoscaling.cluster_autoscaler.loop import ClusterAutoscaler
from quaymaster._studies.autoscaling.cluster_autoscaler.node_log import (
    facts_of,
    pods_of,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.pending import (
    has_become_unschedulable,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.pod_template_objects import (
    PodTemplate,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.price_expander import (
    PodPrices,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.request_objects import (
    ProvisioningRequest,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.staying import (
    reasons_to_stay,
)
from quaymaster._studies.autoscaling.errors import AutoscalerError
from quaymaster._studies.autoscaling.group_prices import priced_by
from quaymaster._studies.autoscaling.group_settings import (
    GroupSettings,
    members_of,
    scaled_groups,
)
from quaymaster._studies.autoscaling.karpenter.catalogue import TypeSpec
from quaymaster._studies.autoscaling.outcomes import Outcomes
from quaymaster._studies.autoscaling.outside_nodes import OutsideNodes
from quaymaster._studies.autoscaling.reason_history import ReasonHistory
from quaymaster._studies.autoscaling.scaled_groups import ScaledGroup
from quaymaster._studies.simulation.autoscaler import (
    AutoscaledNode,
    AutoscalerContext,
    NodeOffer,
)
from quaymaster._studies.simulation.scaling import NodeScaling, PodScaling

__all__ = ["ClusterAutoscalerController", "ClusterAutoscalerSetup"]

_REPORTER: Final = "cluster-autoscaler"
_ACTION: Final = "Scaling"
_DIGITS: Final = 6
_LONGEST_WAIT: Final = 1800.0
_LOOP_SECONDS: Final = 0.1
"""How long a loop takes, so that the next one begins later; chosen, not measured."""


@attrs.frozen(kw_only=True, eq=False)
class ClusterAutoscalerSetup:
    """A cluster autoscaler with its groups; it makes one for each simulation.

    Attributes:
        groups: The groups.
        options: The options.
        priorities: Priority -> regular expressions of group names, for the expander
            ``priority``; None without that ConfigMap.
        pod_prices: The prices of what pods request, for the expander ``price``.
        catalogue: The prices of instance types, for groups without a price.
        files: The files that were read beside its own.
        source: The name of its file, for messages.
    """

    groups: Sequence[GroupSettings]
    options: ClusterAutoscalerOptions = attrs.field(factory=ClusterAutoscalerOptions)
    priorities: Mapping[int, Sequence[str]] | None = None
    pod_prices: PodPrices = attrs.field(factory=PodPrices)
    catalogue: Sequence[TypeSpec] = ()
    files: Sequence[Path] = ()
    source: str = "autoscaler"

    @property
    def kinds(self) -> Sequence[type[ApiObject]]:
        """The kinds of objects that it reads beside those of Kubernetes."""
        return (CapacityBuffer, PodTemplate, ProvisioningRequest)

    def __call__(self, context: AutoscalerContext) -> "ClusterAutoscalerController":
        """Make the autoscaler of a simulation."""
        return ClusterAutoscalerController(self, context)

    def scaled_groups(
        self, members: Mapping[str, Sequence[Node]]
    ) -> Sequence[ScaledGroup]:
        """Return the groups, with the prices of the catalogue where they have none.

        Args:
            members: The nodes of the input in each group.

        Raises:
            AutoscalerError: A group has neither resources nor a node, or it has no
                price and the expander ``price`` needs one.
        """
        groups = [
            priced_by(self.catalogue, group)
            for group in scaled_groups(self.groups, members, self.source)
        ]
        without = [each.name for each in groups if each.price_per_hour is None]
        if without and "price" in self.options.expander:
            where = f"{self.source}: groups ({without[0]})"
            problem = "price: expected one for the expander 'price', or a catalogue "
            raise AutoscalerError(where, f"{problem}with the instance type; got none")
        return groups

    def offers(self, objects: Sequence[ApiObject]) -> Sequence[NodeOffer]:
        """Return the nodes that the groups may still get.

        As upstream, a group need not have its smallest size, unless the flag
        ``--enforce-node-group-min-size`` is set.

        Args:
            objects: The objects of the cluster.

        Raises:
            AutoscalerError: A group has neither resources nor a node.
        """
        nodes = [obj for obj in objects if isinstance(obj, Node)]
        members = members_of(self.groups, nodes)
        is_enforced = self.options.enforce_node_group_min_size
        return [
            NodeOffer(
                name=group.name,
                group=group.name,
                template=group.template,
                least=max(0, group.min_size - size) if is_enforced else 0,
                most=max(0, group.max_size - size),
                price=group.price_per_hour,
            )
            for group in self.scaled_groups(members)
            for size in [len(members[group.name])]
        ]


class ClusterAutoscalerController:
    """Runs the loops of a cluster autoscaler on the clock of a cluster.

    Args:
        setup: The autoscaler and its groups.
        context: The cluster and the scheduler's configuration.

    Attributes:
        cloud: The groups, and all nodes that they ever had.
        autoscaler: The autoscaler.
    """

    def __init__(
        self, setup: ClusterAutoscalerSetup, context: AutoscalerContext
    ) -> None:
        self._cluster = context.cluster
        self._clock = context.cluster.clock
        self._start = self._clock.now()
        self._options = setup.options
        nodes = context.cluster.list(Node).items
        self._members = members_of(setup.groups, nodes)
        groups = setup.scaled_groups(self._members)
        self.cloud = Cloud(context.cluster, groups)
        self.autoscaler = ClusterAutoscaler(
            context.cluster,
            self.cloud,
            context.config,
            context.registry,
            setup.options,
            priorities=setup.priorities,
            pod_prices=setup.pod_prices,
            seed=context.seed,
            explains=context.explains,
        )
        self._outcomes = Outcomes(context.cluster, self._group_of)
        self._nodes = ReasonHistory() if context.explains else None
        self._groups = setup.groups
        self._outside: OutsideNodes | None = None
        self._timer: Timer | None = None
        self._written = 0
        self._version = -1
        self._quiet_until = self._start
        self._changed_at = self._clock.now()
        self._state: object = None
        self._machines: Mapping[str, bool] = {}
        self._machines_at = -1
        self._pods = context.cluster.watch(
            Pod, context.cluster.resource_version, self._pod_changed
        )

    def start(self) -> None:
        """Add the nodes of the input to their groups, and begin to look."""
        for group, nodes in self._members.items():
            for node in nodes:
                self.cloud.adopt(group, node.name)
        self._outside = OutsideNodes(self._cluster, self.cloud, self._groups)
        self._changed_at = self._clock.now()
        self._run_in(self._options.scan_interval)

    @property
    def is_settled(self) -> bool:
        """Whether nothing has changed for longer than any of its delays.

        Nodes that come and go again and again, without a new outcome, are not waited
        for.
        """
        delay = self._longest_delay
        _, without_progress = self._outcomes.look(delay)
        if without_progress > max(_LONGEST_WAIT, 2 * delay):
            return True
        # Any change may displace virtual pods, and only the next loop sees that.
        has_looked = self._cluster.resource_version == self._version
        if self.autoscaler.buffers.has_pods and not has_looked:
            return False
        quiet = self._clock.now() - self._changed_at
        return quiet > delay and self.autoscaler.is_idle

    @property
    def events(self) -> Sequence[AutoscalerEvent]:
        """All events so far."""
        return self.autoscaler.events

    def nodes(self) -> Sequence[AutoscaledNode]:
        """Return all nodes that it ever had, in the order in which they came."""
        return [self._life_of(each) for each in self.cloud.all_instances]

    def reasons_to_stay(self) -> Mapping[str, str]:
        """Return why each node of the cluster stays, in words, by name."""
        return dict(
            reasons_to_stay(
                self._cluster.list(Node).items,
                self.autoscaler.down,
                self.autoscaler.down.unremovable.known,
                self.cloud,
                self._options,
            )
        )

    def reasons_not_to_grow(self) -> Mapping[str, Mapping[str, str]]:
        """Return why no group grows for pending pods: pod's key -> group -> reason."""
        return self.autoscaler.unhelped

    def scaling_of_pod(self, key: str) -> PodScaling | None:
        """Return what was last decided for a pod; None if it was never pending."""
        log = self.autoscaler.log
        self.autoscaler.trial.end_standing()
        return None if log is None else log.scaling_of(key)

    def scaling_of_node(self, name: str) -> NodeScaling | None:
        """Return why a node was removed or stays; None if it never existed."""
        lives = {life.node: life for life in self.nodes()}
        life, why = lives.get(name), self.reasons_to_stay().get(name)
        if life is None and why is None:
            return None
        removed, now = life.removed if life else None, self._clock.now()
        self.autoscaler.trial.catch_up()
        if life is not None and why is None:
            why = life.removed_for or "it has not come into the cluster"
        return NodeScaling(
            node=name,
            group=life.group if life else "",
            removed=removed,
            why=why or "",
            facts=tuple(
                facts_of(name, self.autoscaler, self.cloud, self._options, now)
                if removed is None
                else ()
            ),
            pods=pods_of(name, self.autoscaler, self._cluster, now),
            history=self._nodes.of(name) if self._nodes is not None else (),
        )

    def _life_of(self, instance: Instance) -> AutoscaledNode:
        def since(time: float | None) -> float | None:
            return None if time is None else round(time - self._start, _DIGITS)

        return AutoscaledNode(
            node=instance.name,
            group=instance.group,
            ordered=None if instance.is_original else since(instance.launched),
            registered=since(instance.registered),
            ready=since(instance.ready),
            removed=since(instance.ended),
            price=self.cloud.groups[instance.group].price_per_hour,
            until=self._clock.now() - self._start,
            added_for=instance.added_for,
            removed_for=instance.removed_for,
        )

    def notices(self) -> Sequence[Notice]:
        """Return what objects of the input have no effect, and why."""
        autoscaler = self.autoscaler
        return [*autoscaler.buffers.notices(), *autoscaler.requests.notices()]

    def close(self) -> None:
        """Close the plugins."""
        self._pods.stop()
        if self._outside is not None:
            self._outside.close()
        self.autoscaler.close()

    def _group_of(self, node: Node) -> str:
        group = self.cloud.group_of(node.name)
        return node.name if group is None else group.name

    @property
    def _longest_delay(self) -> float:
        options = self._options
        return 2 * options.scan_interval + max(
            options.scale_down_delay_after_add,
            options.scale_down_delay_after_delete,
            options.scale_down_delay_after_failure,
            options.scale_down_unneeded_time,
            options.scale_down_unready_time,
            options.unremovable_node_recheck_timeout,
        )

    def _pod_changed(self) -> None:
        """Look at once if a pod has become unschedulable."""
        # Not by a timer: most changes are those of messages, after each attempt.
        now = self._clock.now()
        # Many pods are tried at the same moment. If a loop begins so soon, the changes
        # are left to it, and until then no others are reported here.
        if self._timer is not None and self._timer.due <= now + _LOOP_SECONDS:
            return
        events = self._pods.take()
        if any(has_become_unschedulable(event.object, now) for event in events):
            self._run_in(_LOOP_SECONDS)

    def _run_in(self, seconds: float) -> None:
        """Set the time of the next loop, unless it is sooner already."""
        due = self._clock.now() + seconds
        if self._timer is not None:
            if self._timer.due <= due:
                return
            self._timer.cancel()
        self._timer = self._clock.call_at(due, self._run, background=True)

    def _run(self) -> None:
        self._timer = None
        self._pods.take()
        now, version = self._clock.now(), self._cluster.resource_version
        # Nothing has changed, and time alone changes nothing yet: the loop would end as
        # the last one. With 5,000 nodes a loop takes a second, and a day has 8,640.
        if version == self._version and now < self._quiet_until:
            self._run_in(self._options.scan_interval)
            return
        sizes = dict(self.cloud.sizes)
        self.autoscaler.run_once()
        self._write_events()
        self._version = self._cluster.resource_version
        self._quiet_until = self.autoscaler.next_change()
        self._note_reasons()
        self._note_changes()
        is_productive = (
            sizes != self.cloud.sizes or self.autoscaler.requests.processed_at >= now
        )
        self._run_in(_LOOP_SECONDS if is_productive else self._options.scan_interval)

    def _write_events(self) -> None:
        """Write the events of pods and nodes to the cluster."""
        events = self.autoscaler.events
        for event in events[self._written :]:
            if event.obj is not None:
                self._cluster.record(
                    EventNote(
                        regarding=event.obj,
                        type=event.type,
                        reason=event.reason,
                        action=_ACTION,
                        note=event.message,
                        reporter=_REPORTER,
                    )
                )
        self._written = len(events)

    def _note_reasons(self) -> None:
        """Keep why nodes stay, if that is explained."""
        if self._nodes is not None:
            since = round(self._clock.now() - self._start, _DIGITS)
            self._nodes.note(self.reasons_to_stay(), since)

    def _note_changes(self) -> None:
        """Note when the nodes or what the autoscaler plans for them has changed."""
        state = (
            dict(self.cloud.sizes),
            self._registrations(),
            self.autoscaler.plans(),
            self.autoscaler.pods_without_node(),
        )
        if state != self._state:
            self._state, self._changed_at = state, self._clock.now()

    def _registrations(self) -> Mapping[str, bool]:
        """Return whether each machine has a node; if none changed, the same object."""
        if self.cloud.version != self._machines_at:
            self._machines_at = self.cloud.version
            self._machines = dict(self.cloud.registrations)
        return self._machines
