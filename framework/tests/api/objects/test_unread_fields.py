"""Which new pods are rejected for fields that objects do not keep.

Cases follow ``TestValidatePodSpec``, ``TestValidateEnv``, ``TestValidateVolumeMounts``
and their like (Kubernetes v1.37, ``pkg/apis/core/validation/validation_test.go``).
"""

from typing import Any

import msgspec
import pytest

from quaymaster import Pod
from quaymaster.errors import ObjectError
from quaymaster.objects import SpecPool, StatefulSet, decode, encode, from_wire
from tests.kit.admission import rejected_paths

Tree = dict[str, Any]

CONTAINER = {"name": "c", "image": "i"}
C0 = "spec.containers[0]"


def pod(**spec: object) -> Tree:
    return {"metadata": {"name": "a"}, "spec": {"containers": [CONTAINER], **spec}}


def container(**fields: object) -> Tree:
    volumes = [
        {"name": "data", "emptyDir": {}},
        {"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}},
    ]
    return pod(containers=[{**CONTAINER, **fields}], volumes=volumes)


def env(**source: object) -> Tree:
    return container(env=[{"name": "A", "valueFrom": source}])


def mount(**fields: object) -> Tree:
    return container(volumeMounts=[{"name": "data", "mountPath": "/data", **fields}])


def device(**fields: object) -> Tree:
    full = {"name": "disk", "devicePath": "/dev/a", **fields}
    return container(volumeDevices=[full])


def live(**probe: object) -> Tree:
    return container(livenessProbe=probe)


def context(**fields: object) -> Tree:
    return pod(securityContext=fields)


def own_context(**fields: object) -> Tree:
    return container(securityContext=fields)


def init(**fields: object) -> Tree:
    return pod(initContainers=[{**CONTAINER, "name": "i", **fields}])


TCP = {"tcpSocket": {"port": 80}}

CASES: dict[str, tuple[Tree, list[str]]] = {
    "a variable with '='": (
        container(env=[{"name": "a=b"}]),
        [f"{C0}.env[0].name"],
    ),
    "a variable from nowhere": (env(), [f"{C0}.env[0].valueFrom"]),
    "a variable from two places": (
        env(
            fieldRef={"fieldPath": "metadata.name"},
            secretKeyRef={"name": "s", "key": "k"},
        ),
        [f"{C0}.env[0].valueFrom"],
    ),
    "an unknown field": (
        env(fieldRef={"fieldPath": "metadata.labels"}),
        [f"{C0}.env[0].valueFrom.fieldRef.fieldPath"],
    ),
    "one label": (env(fieldRef={"fieldPath": "metadata.labels['app']"}), []),
    "a malformed label": (
        env(fieldRef={"fieldPath": "metadata.labels['a b']"}),
        [f"{C0}.env[0].valueFrom.fieldRef"],
    ),
    "an unknown resource": (
        env(resourceFieldRef={"resource": "limits.gpu"}),
        [f"{C0}.env[0].valueFrom.resourceFieldRef.resource"],
    ),
    "an odd divisor": (
        env(resourceFieldRef={"resource": "limits.cpu", "divisor": "2m"}),
        [f"{C0}.env[0].valueFrom.resourceFieldRef.divisor"],
    ),
    "a key with '..'": (
        env(configMapKeyRef={"name": "m", "key": "..k"}),
        [f"{C0}.env[0].valueFrom.configMapKeyRef.key"],
    ),
    "a file that is in no empty directory": (
        env(fileKeyRef={"key": "K", "path": "../f", "volumeName": "disk"}),
        [
            f"{C0}.env[0].valueFrom.fileKeyRef.path",
            f"{C0}.env[0].valueFrom.fileKeyRef.volumeName",
        ],
    ),
    "variables from a map without a name": (
        container(envFrom=[{"configMapRef": {}}, {}]),
        [f"{C0}.envFrom[0].configMapRef.name", f"{C0}.envFrom"],
    ),
    "a mount of no volume": (mount(name="b"), [f"{C0}.volumeMounts[0].name"]),
    "two mounts at one place": (
        container(volumeMounts=[{"name": "data", "mountPath": "/a"}] * 2),
        [f"{C0}.volumeMounts[1].mountPath"],
    ),
    "a sub-path that goes up": (
        mount(subPath="a/../.."),
        [f"{C0}.volumeMounts.subPath"],
    ),
    "propagation without privileges": (
        mount(mountPropagation="Bidirectional"),
        [f"{C0}.volumeMounts.mountPropagation"],
    ),
    "a read-only tree that is writable": (
        mount(recursiveReadOnly="Enabled"),
        [f"{C0}.volumeMounts.recursiveReadOnly"],
    ),
    "a device of a volume without a claim": (
        device(name="data"),
        [f"{C0}.volumeDevices[0].name"],
    ),
    "a volume as mount and device": (
        container(
            volumeMounts=[{"name": "disk", "mountPath": "/a"}],
            volumeDevices=[{"name": "disk", "devicePath": "/b"}],
        ),
        [f"{C0}.volumeMounts[0].name", f"{C0}.volumeDevices[0].name"],
    ),
    "a probe without an action": (live(), [f"{C0}.livenessProbe"]),
    "a probe with two actions": (
        live(**TCP, exec={"command": ["a"]}),
        [f"{C0}.livenessProbe.tcpSocket"],
    ),
    "a probe of a malformed port": (
        live(httpGet={"port": "a_b", "scheme": "FTP"}),
        [f"{C0}.livenessProbe.httpGet.port", f"{C0}.livenessProbe.httpGet.scheme"],
    ),
    "a probe of gRPC": (live(grpc={"port": 0}), [f"{C0}.livenessProbe.grpc.port"]),
    "a liveness probe that must succeed twice": (
        live(**TCP, successThreshold=2),
        [f"{C0}.livenessProbe.successThreshold"],
    ),
    "a readiness probe with a grace period": (
        container(readinessProbe={**TCP, "terminationGracePeriodSeconds": 1}),
        [f"{C0}.readinessProbe.terminationGracePeriodSeconds"],
    ),
    "a hook that sleeps too long": (
        container(lifecycle={"preStop": {"sleep": {"seconds": 31}}}),
        [f"{C0}.lifecycle.preStop.sleep"],
    ),
    "a hook without a command": (
        container(lifecycle={"postStart": {"exec": {}}}),
        [f"{C0}.lifecycle.postStart.exec.command"],
    ),
    "a probe of an init container that ends": (
        init(livenessProbe=TCP, lifecycle={"postStart": TCP}),
        [f"spec.initContainers[0].{f}" for f in ("lifecycle", "livenessProbe")],
    ),
    "a probe of a sidecar": (init(restartPolicy="Always", livenessProbe=TCP), []),
    "unknown policies of a container": (
        container(imagePullPolicy="Now", terminationMessagePolicy="Tape"),
        [f"{C0}.terminationMessagePolicy", f"{C0}.imagePullPolicy"],
    ),
    "ids out of range": (
        context(fsGroup=-1, runAsUser=2**31, supplementalGroups=[1, -1]),
        [
            f"spec.securityContext.{name}"
            for name in ("fsGroup", "runAsUser", "supplementalGroups[1]")
        ],
    ),
    "a setting of the host's network": (
        pod(hostNetwork=True, securityContext={"sysctls": [{"name": "net.a"}]}),
        ["spec.securityContext.sysctls[0].name"],
    ),
    "malformed profiles": (
        context(
            seccompProfile={"type": "Localhost", "localhostProfile": "/a"},
            appArmorProfile={"type": "Unconfined", "localhostProfile": "a"},
        ),
        [
            "spec.securityContext.seccompProfile.localhostProfile",
            "spec.securityContext.appArmorProfile.localhostProfile",
        ],
    ),
    "a privileged container": (own_context(privileged=True), []),
    "a privileged container without privileges": (
        own_context(privileged=True, allowPrivilegeEscalation=False),
        [f"{C0}.securityContext"],
    ),
    "/proc of the host's users": (
        own_context(procMount="Unmasked"),
        [f"{C0}.securityContext.procMount"],
    ),
    "fields of Linux for Windows": (
        pod(os={"name": "windows"}, hostPID=True, securityContext={"runAsUser": 1}),
        ["spec.securityContext.runAsUser", "spec.hostPID"],
    ),
    "host processes beside others": (
        pod(
            containers=[
                CONTAINER,
                {
                    "name": "h",
                    "image": "i",
                    "securityContext": {"windowsOptions": {"hostProcess": True}},
                },
            ]
        ),
        ["spec", "spec.hostNetwork"],
    ),
    "an unknown user of Windows": (
        context(windowsOptions={"runAsUserName": "a\\b\\c"}),
        ["spec.securityContext.windowsOptions.runAsUserName"],
    ),
    "a shared namespace beside the host's": (
        pod(hostPID=True, shareProcessNamespace=True),
        ["spec.shareProcessNamespace"],
    ),
    "no name server": (pod(dnsPolicy="None"), ["spec.dnsConfig"]),
    "malformed DNS": (
        pod(
            dnsConfig={
                "nameservers": ["1.2.3.04"],
                "searches": ["_a.b.", ".", "A"],
                "options": [{}],
            }
        ),
        [
            "spec.dnsConfig.nameservers[0]",
            "spec.dnsConfig.searches[2]",
            "spec.dnsConfig.options[0]",
        ],
    ),
    "malformed names": (
        pod(hostname="a.b", subdomain="A", serviceAccountName="A"),
        ["spec.hostname", "spec.subdomain", "spec.serviceAccountName"],
    ),
    "a host name that the network has": (
        pod(hostNetwork=True, hostnameOverride="a"),
        ["spec.hostnameOverride"],
    ),
    "a malformed alias": (
        pod(hostAliases=[{"ip": "::ffff:1.2.3.4", "hostnames": ["A"]}]),
        ["spec.hostAliases[0].ip", "spec.hostAliases[0].hostnames[0]"],
    ),
    "a malformed gate": (
        pod(readinessGates=[{"conditionType": "a b"}]),
        ["spec.readinessGates[0].conditionType"],
    ),
    "an ephemeral container": (
        pod(ephemeralContainers=[CONTAINER]),
        ["spec.ephemeralContainers"],
    ),
}


@pytest.mark.parametrize(("tree", "paths"), CASES.values(), ids=CASES)
def test_new_pod_is_rejected_for_the_fields_that_an_api_server_names(
    tree: Tree, paths: list[str]
) -> None:
    assert rejected_paths("Pod", tree) == paths


def test_annotation_and_field_of_a_profile_must_agree() -> None:
    tree = context(seccompProfile={"type": "Unconfined"})
    key = "seccomp.security.alpha.kubernetes.io/pod"
    tree["metadata"]["annotations"] = {key: "runtime/default"}
    paths = ["spec.securityContext.seccompProfile.type"]
    assert rejected_paths("Pod", tree) == paths


@pytest.mark.parametrize(
    "metadata", [{"uid": "u"}, {"creationTimestamp": "2026-01-01T00:00:00Z"}]
)
def test_object_of_a_server_was_checked_there(metadata: Tree) -> None:
    tree = mount(name="elsewhere")
    tree["metadata"] |= metadata
    assert rejected_paths("Pod", tree) == []


def test_pod_that_runs_may_have_ephemeral_containers() -> None:
    tree = pod(nodeName="n", ephemeralContainers=[CONTAINER])
    assert rejected_paths("Pod", tree) == []


def stateful_set(name: str) -> Tree:
    mounted = [{"name": "data", "mountPath": "/data"}]
    spec = {"containers": [{**CONTAINER, "volumeMounts": mounted}], "subdomain": "A"}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": spec}
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }
    selector = {"matchLabels": {"a": "b"}}
    claims = [{"metadata": {"name": name}, "spec": claim}]
    return {
        "metadata": {"name": "a"},
        "spec": {
            "selector": selector,
            "template": template,
            "volumeClaimTemplates": claims,
        },
    }


def test_claims_of_a_stateful_set_are_volumes_of_its_pods() -> None:
    assert rejected_paths("StatefulSet", stateful_set("data")) == []
    path = "spec.template.spec.containers[0].volumeMounts[0].name"
    assert rejected_paths("StatefulSet", stateful_set("logs")) == [path]


def test_every_pod_of_a_wrong_spec_is_reported() -> None:
    text = msgspec.json.encode(mount(name="b"))
    pool = SpecPool()
    for _ in range(2):
        with pytest.raises(ObjectError, match=r"volumeMounts\[0\]\.name"):
            decode(text, Pod, pool=pool)


def test_workload_is_checked_in_any_form() -> None:
    tree = stateful_set("logs")
    for read in (from_wire, lambda t, k: decode(msgspec.json.encode(t), k)):
        with pytest.raises(ObjectError, match="one of the pod's volumes"):
            read(tree, StatefulSet)


def test_object_that_was_written_can_be_read_again() -> None:
    hook = {"preStop": {"exec": {"command": ["a"]}}}
    probed = from_wire(container(readinessProbe=TCP, lifecycle=hook), Pod)
    assert decode(encode(probed), Pod) == probed
