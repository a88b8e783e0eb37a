"""The format of scenario files."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Final

import attrs

from quaymaster._api.objects.quantity import Quantity
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES
from quaymaster._core.config.errors import ArgsError
from quaymaster._core.config.fields import (
    Rule,
    duration,
    integer,
    matching,
    non_empty,
    one_of,
)
from quaymaster._studies.scenarios.actions import (
    AddNodes,
    Create,
    Delete,
    Drain,
    FailNodes,
    FailZone,
    Manifests,
    NodeChoice,
    Patch,
    Repack,
    RotateNodes,
    Scale,
    SetImage,
    UseConfig,
)
from quaymaster._studies.scenarios.arrivals import Repeat
from quaymaster._studies.scenarios.checks import Assertion, Checks, WaitUntil
from quaymaster._studies.simulation.autoscaling import AutoscalerSize
from quaymaster._studies.simulation.recommended_requests import Recommendation

__all__ = [
    "ACTIONS",
    "API_VERSION",
    "KIND",
    "Document",
    "StartInput",
    "Step",
]

API_VERSION: Final = "simulation.quaymaster.io/v1alpha1"
KIND: Final = "Scenario"

_time: Final = duration(timedelta())
_rate: Final = Rule(
    "bytes per second such as 50Mi",
    lambda rate: isinstance(rate, Quantity) and rate.value >= 1,
)
_target: Final = matching(
    "[^/]+/[^/]+(?:/[^/]+)?", "KIND/NAME or NAMESPACE/KIND/NAME, such as deploy/web"
)
_a_name: Final = non_empty()


@attrs.frozen(kw_only=True)
class StartInput:
    """The objects at the start.

    Attributes:
        nodes: Nodes to generate, one line for each group: 12:cpu=4,memory=16Gi,zones=3.
        files: Manifests: files or directories, relative to the scenario.
        objects: Objects, written as in manifests.
        namespace: The namespace of objects without one, instead of default.
        custom_kinds: Where custom kinds keep their pod templates: files, relative to
            the scenario, or names of shipped mappings.
        run_cron_jobs: Whether to create one Job for each CronJob.
        hpa: The size of workloads with an autoscaler: its minimum, its maximum, or as
            it is, within these limits, which is the default.
        vpa: What new pods of workloads with a VerticalPodAutoscaler request: what their
            template says, or the target or upper bound of the recommendation.
    """

    nodes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    objects: tuple[Mapping[str, object], ...] = ()
    namespace: str | None = attrs.field(default=None, validator=_a_name)
    custom_kinds: tuple[str, ...] = ()
    run_cron_jobs: bool = False
    hpa: AutoscalerSize | None = None
    vpa: Recommendation = Recommendation.IGNORE


@attrs.frozen(kw_only=True)
class Step:
    """A step of a scenario: one action, at a time.

    Attributes:
        name: Its name in results. The random choices of a step depend on the seed and
            on its name, or on its number if it has no name.
        at: The time since the start; a step that waits may delay it.
        after: The time after the previous step, or after the end of its wait. Without
            ``at`` and ``after``, the step follows immediately.
        repeat: Repeats the step; the next step does not wait for that.
        may_fail: Whether the scenario may succeed if the cluster rejects the action.
        create: Creates objects, once or several times.
        apply: Creates objects, or changes those that exist, as kubectl apply does.
        patch: Changes fields of an object.
        scale: Changes the number of pods of a workload.
        set_image: Changes the image of a workload's containers.
        delete: Deletes an object and its dependents.
        cordon: Marks nodes as unschedulable.
        uncordon: Marks nodes as schedulable.
        drain: Cordons nodes and evicts their pods.
        rotate_nodes: Replaces nodes by new ones of their kind, under budgets.
        fail_nodes: Makes nodes fail, with their pods.
        fail_zone: Makes all nodes of a zone fail, with their pods.
        return_nodes: Brings back nodes that have failed.
        remove_nodes: Deletes nodes without a drain; their pods are deleted 40 s later.
        add_nodes: Adds nodes.
        use_config: Continues with another scheduler configuration.
        repack: Removes all pods from their nodes, and schedules them again.
        wait_until: Waits until a condition holds.
        check: A condition that must hold now.
    """

    name: str = ""
    at: timedelta | None = attrs.field(default=None, validator=_time)
    after: timedelta | None = attrs.field(default=None, validator=_time)
    repeat: Repeat | None = None
    may_fail: bool = False
    create: Create | None = None
    apply: Manifests | None = None
    patch: Patch | None = None
    scale: Scale | None = None
    set_image: SetImage | None = None
    delete: Delete | None = None
    cordon: NodeChoice | None = None
    uncordon: NodeChoice | None = None
    drain: Drain | None = None
    rotate_nodes: RotateNodes | None = None
    fail_nodes: FailNodes | None = None
    fail_zone: FailZone | None = None
    return_nodes: NodeChoice | None = None
    remove_nodes: NodeChoice | None = None
    add_nodes: AddNodes | None = None
    use_config: UseConfig | None = None
    repack: Repack | None = None
    wait_until: WaitUntil | None = None
    check: Checks | None = None

    def validate(self) -> Iterator[ArgsError]:
        """Check that there is one action, and that its times go together with it."""
        actions = [name for name in ACTIONS if getattr(self, name) is not None]
        if len(actions) != 1:
            keys = ", ".join(ACTIONS.values())
            got = ", ".join(ACTIONS[name] for name in actions) or "none"
            yield ArgsError("", f"expected exactly one action ({keys}), got {got}")
        if self.at is not None and self.after is not None:
            yield ArgsError("after", "expected not together with at")
        waits = self.wait_until is not None or self.check is not None
        if self.repeat is not None and waits:
            yield ArgsError("repeat", "expected an action that can be repeated")

    @property
    def action(self) -> str:
        """The name of the field with the action."""
        return next(name for name in ACTIONS if getattr(self, name) is not None)


ACTIONS: Final[Mapping[str, str]] = {
    "create": "create",
    "apply": "apply",
    "patch": "patch",
    "scale": "scale",
    "set_image": "setImage",
    "delete": "delete",
    "cordon": "cordon",
    "uncordon": "uncordon",
    "drain": "drain",
    "rotate_nodes": "rotateNodes",
    "fail_nodes": "failNodes",
    "fail_zone": "failZone",
    "return_nodes": "returnNodes",
    "remove_nodes": "removeNodes",
    "add_nodes": "addNodes",
    "use_config": "useConfig",
    "repack": "repack",
    "wait_until": "waitUntil",
    "check": "check",
}
"""The fields of a step that are actions -> their keys in a file."""


@attrs.frozen(kw_only=True)
class Document:
    """A scenario: a cluster, events in virtual time, and assertions.

    Attributes:
        api_version: The format's group and version.
        kind: The format's name.
        name: Its name; by default the name of its file.
        description: A description.
        config: The scheduler's configuration: a file, relative to the scenario, or the
            name of a shipped profile. By default the default profile.
        kubernetes_version: The Kubernetes version whose decisions are simulated, such
            as ``1.37``.
        feature_gates: The feature gates that differ from their defaults.
        seed: The seed of random choices: between equally good nodes, of generated
            names, arrivals and run times.
        startup: How long pods need until they are ready; by default five seconds for
            pods of workloads, and nothing for other pods.
        termination: How long a deleted pod needs to end; by default its grace period.
        pull: How much of an image a node pulls in a second, such as 50Mi; by default
            pulls take no time.
        input: The objects at the start.
        until: When the scenario ends. By default after all steps and all times of
            assertions, when the cluster has settled.
        steps: The steps, in order.
        assertions: The assertions.
    """

    api_version: str = attrs.field(validator=one_of(API_VERSION))
    kind: str = attrs.field(validator=one_of(KIND))
    name: str = ""
    description: str = ""
    config: str | None = attrs.field(default=None, validator=_a_name)
    kubernetes_version: str = DEFAULT_KUBERNETES.version
    feature_gates: Mapping[str, bool] = attrs.field(factory=dict)
    seed: int = attrs.field(default=0, validator=integer(0))
    startup: timedelta | None = attrs.field(default=None, validator=_time)
    termination: timedelta | None = attrs.field(default=None, validator=_time)
    pull: Quantity | None = attrs.field(default=None, validator=_rate)
    input: StartInput = StartInput()
    until: timedelta | None = attrs.field(default=None, validator=_time)
    steps: tuple[Step, ...] = ()
    assertions: tuple[Assertion, ...] = ()
