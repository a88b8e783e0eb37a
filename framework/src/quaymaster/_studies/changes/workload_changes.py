"""Changes of a workload's size or image."""

from typing import Self

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    Container,
    DaemonSet,
    Deployment,
    PodTemplateSpec,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from quaymaster._studies.changes.change import ChangeError, Effect
from quaymaster._studies.changes.target import Target
from quaymaster._studies.simulation.run import Simulation

__all__ = ["SIZED", "Scale", "SetImage"]

SIZED = Deployment | StatefulSet | ReplicaSet | ReplicationController
"""The kinds whose objects have a number of replicas."""

_TEMPLATED = SIZED | DaemonSet
# So that every number fits in 32 bits.
_MOST_DIGITS = 9


@attrs.frozen(kw_only=True)
class Scale:
    """Changes the number of pods of a workload.

    Attributes:
        target: A Deployment, StatefulSet, ReplicaSet or ReplicationController.
        replicas: The number.
    """

    target: Target
    replicas: int

    @classmethod
    def parse(cls, text: str, namespace: str = "") -> Self:
        """Read a text such as ``deploy/web=30``.

        Args:
            text: The text.
            namespace: The namespace if the text has none; empty: any.

        Raises:
            ChangeError: It has another form.
        """
        name, _, number = text.partition("=")
        if not number.isdecimal() or len(number) > _MOST_DIGITS:
            expected = "expected KIND/NAME=NUMBER, such as deploy/web=30"
            raise ChangeError(f"scale {text}", expected)
        target = Target.parse(name, namespace, f"scale {text}")
        return cls(target=target, replicas=int(number))

    def __str__(self) -> str:
        return f"scale {self.target}={self.replicas}"

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        cluster, now = simulation.cluster, simulation.now
        old = self.target.find(cluster, self)
        if not isinstance(old, SIZED):
            kinds = "a Deployment, StatefulSet, ReplicaSet or ReplicationController"
            raise ChangeError(str(self), f"expected {kinds}, got a {old.kind}")
        spec = replace(old.spec, replicas=self.replicas)
        cluster.update(replace(old, spec=spec))
        return _changed(self, now, old)


@attrs.frozen(kw_only=True)
class SetImage:
    """Changes the image of a workload's containers, which rolls out new pods.

    Attributes:
        target: A Deployment, StatefulSet, DaemonSet, ReplicaSet or
            ReplicationController.
        image: The image.
        container: The container's name; empty: the only one; ``*``: all.
    """

    target: Target
    image: str
    container: str = ""

    @classmethod
    def parse(cls, text: str, namespace: str = "") -> Self:
        """Read a text such as ``deploy/web=nginx:2`` or ``deploy/web:proxy=envoy:3``.

        Args:
            text: The text.
            namespace: The namespace if the text has none; empty: any.

        Raises:
            ChangeError: It has another form.
        """
        whole, _, image = text.partition("=")
        name, _, container = whole.partition(":")
        if not image:
            expected = "expected KIND/NAME=IMAGE or KIND/NAME:CONTAINER=IMAGE"
            raise ChangeError(f"set-image {text}", expected)
        target = Target.parse(name, namespace, f"set-image {text}")
        return cls(target=target, image=image, container=container)

    def __str__(self) -> str:
        container = f":{self.container}" if self.container else ""
        return f"set-image {self.target}{container}={self.image}"

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        cluster, now = simulation.cluster, simulation.now
        old = self.target.find(cluster, self)
        if not isinstance(old, _TEMPLATED) or old.spec.template is None:
            raise ChangeError(str(self), f"a {old.kind} has no template with images")
        template = self._with_image(old.spec.template)
        spec = replace(old.spec, template=template)
        cluster.update(replace(old, spec=spec))
        effect = _changed(self, now, old)
        if not _rolls_out(old):
            effect.notes.append(
                f"the pods of this {old.kind} that exist keep their image: "
                "it is used for those that are made from now on"
            )
        return effect

    def _with_image(self, template: PodTemplateSpec) -> PodTemplateSpec:
        containers = template.spec.containers
        names = [container.name for container in containers]
        if not self.container and len(names) > 1:
            problem = f"it has {len(names)} containers ({', '.join(names)}); name one"
            raise ChangeError(str(self), f"{problem}, or * for all")
        if self.container not in ("", "*", *names):
            problem = f"there is no container '{self.container}'"
            raise ChangeError(str(self), f"{problem} (it has {', '.join(names)})")
        changed = tuple(map(self._changed, containers))
        return replace(template, spec=replace(template.spec, containers=changed))

    def _changed(self, container: Container) -> Container:
        if self.container in ("", "*", container.name):
            return replace(container, image=self.image)
        return container


def _rolls_out(obj: _TEMPLATED) -> bool:
    """Whether the pods of a workload are replaced if its template changes."""
    if isinstance(obj, StatefulSet | DaemonSet):
        return obj.spec.update_strategy.type != "OnDelete"
    return isinstance(obj, Deployment)


def _changed(change: object, now: float, obj: ApiObject) -> Effect:
    name = f"{obj.kind}/{obj.key}"
    return Effect(change=str(change), at=now, ended=now, objects=[name])
