"""Deployments in the middle of a rollout, as a dump of a cluster has them."""

from msgspec.structs import replace

from quaymaster import ApiObject, Pod
from quaymaster.objects import OwnerReference
from quaymaster.testing import make_deployment, make_pod, make_replica_set

__all__ = ["half_rolled_out"]

_REVISION = {"deployment.kubernetes.io/revision": "1"}


def half_rolled_out(name: str, old: Pod, new: Pod) -> list[ApiObject]:
    """Return a Deployment of one pod, with the running pod of the old revision.

    Args:
        name: The Deployment's name, which is the label ``app`` of its pods.
        old: What the pod of the old revision is like, with its node.
        new: What the pods of the new revision are like.
    """
    labels = {"app": name, "pod-template-hash": "old"}
    deployment = make_deployment(name=name, pod=new)
    template = make_deployment(name=name, pod=old).spec.template
    template = replace(
        template,
        metadata=replace(template.metadata, labels=labels),
        spec=replace(template.spec, node_name=""),
    )
    owner = OwnerReference(
        api_version="apps/v1",
        kind="Deployment",
        name=name,
        uid=deployment.metadata.uid,
        controller=True,
    )
    made = make_replica_set(name=f"{name}-old", selector=labels)
    revision = replace(
        made,
        metadata=replace(
            made.metadata,
            labels=labels,
            annotations=_REVISION,
            owner_references=(owner,),
        ),
        spec=replace(made.spec, template=template),
    )
    like = make_pod(name=f"{name}-old-1", owner=revision, phase="Running")
    metadata = replace(like.metadata, labels=labels)
    running = replace(old, metadata=metadata, status=like.status)
    return [deployment, revision, running]
