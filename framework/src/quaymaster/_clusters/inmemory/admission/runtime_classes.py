"""RuntimeClasses: the overhead, node selector and tolerations that they give pods.

Mirrors ``plugin/pkg/admission/runtimeclass`` and ``MergeTolerations`` in
``pkg/util/tolerations`` (Kubernetes v1.36).
"""

from collections.abc import Mapping

from msgspec.structs import replace

from quaymaster._api.objects import (
    PodSpec,
    RuntimeClass,
    RuntimeClassScheduling,
    Toleration,
)
from quaymaster._clusters.inmemory.admission.refusal import Refusal

__all__ = ["apply_runtime_class"]


def apply_runtime_class(spec: PodSpec, classes: Mapping[str, RuntimeClass]) -> PodSpec:
    """Return the spec with the overhead, node selector and tolerations of its class.

    Raises:
        Refusal: The class does not exist, or the spec contradicts it.
    """
    name = spec.runtime_class_name
    runtime_class = None
    if name is not None:
        runtime_class = classes.get(name)
        if runtime_class is None:
            raise Refusal(f'pod rejected: RuntimeClass "{name}" not found')
    spec = _with_overhead(spec, runtime_class)
    if runtime_class is None or runtime_class.scheduling is None:
        return spec
    return _with_scheduling(spec, runtime_class.scheduling)


def _with_overhead(spec: PodSpec, runtime_class: RuntimeClass | None) -> PodSpec:
    if runtime_class is None or runtime_class.overhead is None:
        # Users cannot set an overhead themselves, or they could lower what the
        # scheduler reserves for a sandbox.
        if spec.overhead:
            raise Refusal(
                "pod rejected: Pod Overhead set without corresponding RuntimeClass "
                "defined Overhead"
            )
        return spec
    overhead = runtime_class.overhead.pod_fixed
    if spec.overhead and spec.overhead != overhead:
        raise Refusal(
            "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
        )
    # Stored in the pod, so that a later change of the class does not change pods that
    # run.
    return replace(spec, overhead=overhead)


def _with_scheduling(spec: PodSpec, scheduling: RuntimeClassScheduling) -> PodSpec:
    own = spec.node_selector
    for key, value in scheduling.node_selector.items():
        if own.get(key, value) != value:
            raise Refusal(
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {own[key]}"
            )
    return replace(
        spec,
        # After the loop, both agree where they overlap.
        node_selector={**own, **scheduling.node_selector},
        tolerations=_merged((*spec.tolerations, *scheduling.tolerations)),
    )


def _merged(tolerations: tuple[Toleration, ...]) -> tuple[Toleration, ...]:
    """Return the tolerations without those that another one of them covers."""
    kept: list[Toleration] = []
    for index, toleration in enumerate(tolerations):
        later = tolerations[index + 1 :]
        if any(_covers(other, toleration) for other in kept):
            continue
        # Of two equal ones the first is kept, and the second is dropped by the test
        # above.
        if any(other != toleration and _covers(other, toleration) for other in later):
            continue
        kept.append(toleration)
    return tuple(kept)


def _covers(wide: Toleration, narrow: Toleration) -> bool:
    """Return whether one toleration tolerates everything that the other does."""
    if wide == narrow:
        return True
    if narrow.key != wide.key and (wide.key or wide.operator != "Exists"):
        return False
    if wide.effect not in ("", narrow.effect):
        return False
    if wide.effect == "NoExecute" and not _outlasts(wide, narrow):
        return False
    if wide.operator in ("", "Equal"):
        # As upstream (``isSuperset``): an empty operator means Equal in the wide one
        # only.
        return narrow.operator == "Equal" and narrow.value == wide.value
    return wide.operator == "Exists"


def _outlasts(wide: Toleration, narrow: Toleration) -> bool:
    most, own = wide.toleration_seconds, narrow.toleration_seconds
    # No time is forever, so it outlasts each number.
    return most is None or (own is not None and own <= most)
