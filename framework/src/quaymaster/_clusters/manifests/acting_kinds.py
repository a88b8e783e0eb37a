"""Custom kinds whose controllers create, size, move or remove pods.

None of them is simulated, so each such object gets a warning.
"""

from collections.abc import Mapping
from typing import Final

from quaymaster._api.objects.kinds import group_of

__all__ = ["effect_of"]

_CREATES: Final = "its controller creates pods"
_SIZES: Final = "its controller changes the number of pods of a workload"
_MOVES: Final = "its controller evicts or moves pods"
_NODES: Final = "its controller adds and removes nodes, and evicts their pods"
_ADMITS: Final = "its controller holds pods back, or releases them"
_CHANGES: Final = "its webhook changes new pods"

_OPERATORS: Final = {
    "acid.zalan.do": dict.fromkeys(("postgresql",), _CREATES),
    "agent.k8s.elastic.co": dict.fromkeys(("Agent",), _CREATES),
    "agones.dev": dict.fromkeys(
        (
            "Fleet",
            "GameServer",
            "GameServerSet",
        ),
        _CREATES,
    ),
    "apm.k8s.elastic.co": dict.fromkeys(("ApmServer",), _CREATES),
    "beat.k8s.elastic.co": dict.fromkeys(("Beat",), _CREATES),
    "cassandra.datastax.com": dict.fromkeys(("CassandraDatacenter",), _CREATES),
    "cdi.kubevirt.io": dict.fromkeys(("DataVolume",), _CREATES),
    "ceph.rook.io": dict.fromkeys(
        (
            "CephCluster",
            "CephFilesystem",
            "CephNFS",
            "CephObjectStore",
        ),
        _CREATES,
    ),
    "clickhouse.altinity.com": dict.fromkeys(("ClickHouseInstallation",), _CREATES),
    "core.strimzi.io": dict.fromkeys(("StrimziPodSet",), _CREATES),
    "databases.spotahome.com": dict.fromkeys(("RedisFailover",), _CREATES),
    "druid.apache.org": dict.fromkeys(("Druid",), _CREATES),
    "elasticsearch.k8s.elastic.co": dict.fromkeys(("Elasticsearch",), _CREATES),
    "grafana.integreatly.org": dict.fromkeys(("Grafana",), _CREATES),
    "grove.io": dict.fromkeys(
        (
            "PodClique",
            "PodCliqueScalingGroup",
            "PodCliqueSet",
        ),
        _CREATES,
    ),
    "k8s.keycloak.org": dict.fromkeys(("Keycloak",), _CREATES),
    "k8ssandra.io": dict.fromkeys(("K8ssandraCluster",), _CREATES),
    "kafka.strimzi.io": dict.fromkeys(
        (
            "Kafka",
            "KafkaBridge",
            "KafkaConnect",
            "KafkaMirrorMaker2",
            "KafkaNodePool",
        ),
        _CREATES,
    ),
    "kibana.k8s.elastic.co": dict.fromkeys(("Kibana",), _CREATES),
    "kubernetes.dask.org": dict.fromkeys(
        (
            "DaskCluster",
            "DaskJob",
            "DaskWorkerGroup",
        ),
        _CREATES,
    ),
    "logstash.k8s.elastic.co": dict.fromkeys(("Logstash",), _CREATES),
    "loki.grafana.com": dict.fromkeys(("LokiStack",), _CREATES),
    "machinelearning.seldon.io": dict.fromkeys(("SeldonDeployment",), _CREATES),
    "minio.min.io": dict.fromkeys(("Tenant",), _CREATES),
    "mongodb.com": dict.fromkeys(("MongoDB",), _CREATES),
    "mongodbcommunity.mongodb.com": dict.fromkeys(("MongoDBCommunity",), _CREATES),
    "monitoring.coreos.com": dict.fromkeys(
        (
            "Alertmanager",
            "Prometheus",
            "PrometheusAgent",
            "ThanosRuler",
        ),
        _CREATES,
    ),
    "mysql.oracle.com": dict.fromkeys(("InnoDBCluster",), _CREATES),
    "opensearch.opster.io": dict.fromkeys(("OpenSearchCluster",), _CREATES),
    "opentelemetry.io": dict.fromkeys(("OpenTelemetryCollector",), _CREATES),
    "operator.victoriametrics.com": dict.fromkeys(
        (
            "VMAgent",
            "VMAlert",
            "VMAlertmanager",
            "VMAuth",
            "VMCluster",
            "VMSingle",
        ),
        _CREATES,
    ),
    "pgv2.percona.com": dict.fromkeys(("PerconaPGCluster",), _CREATES),
    "pingcap.com": dict.fromkeys(("TidbCluster",), _CREATES),
    "pool.kubevirt.io": dict.fromkeys(("VirtualMachinePool",), _CREATES),
    "postgres-operator.crunchydata.com": dict.fromkeys(("PostgresCluster",), _CREATES),
    "postgresql.cnpg.io": dict.fromkeys(
        (
            "Cluster",
            "Pooler",
        ),
        _CREATES,
    ),
    "psmdb.percona.com": dict.fromkeys(("PerconaServerMongoDB",), _CREATES),
    "pxc.percona.com": dict.fromkeys(("PerconaXtraDBCluster",), _CREATES),
    "rabbitmq.com": dict.fromkeys(("RabbitmqCluster",), _CREATES),
    "redis.redis.opstreelabs.in": dict.fromkeys(
        (
            "Redis",
            "RedisCluster",
            "RedisReplication",
            "RedisSentinel",
        ),
        _CREATES,
    ),
    "scylla.scylladb.com": dict.fromkeys(("ScyllaCluster",), _CREATES),
    "solr.apache.org": dict.fromkeys(("SolrCloud",), _CREATES),
}
"""Operators of databases, queues, monitoring and other applications."""

_EFFECTS: Final[Mapping[str, Mapping[str, str]]] = {
    "actions.github.com": {
        "AutoscalingRunnerSet": _CREATES,
        "EphemeralRunner": _CREATES,
        "EphemeralRunnerSet": _CREATES,
    },
    "apps.kruise.io": {
        "AdvancedCronJob": _CREATES,
        "BroadcastJob": _CREATES,
        "CloneSet": _CREATES,
        "DaemonSet": _CREATES,
        "SidecarSet": _CHANGES,
        "StatefulSet": _CREATES,
        "UnitedDeployment": _CREATES,
        "WorkloadSpread": _CHANGES,
    },
    "argoproj.io": {
        "CronWorkflow": _CREATES,
        "EventSource": _CREATES,
        "Rollout": _CREATES,
        "Sensor": _CREATES,
        "Workflow": _CREATES,
    },
    "autoscaling.gke.io": {"MultidimPodAutoscaler": _SIZES},
    "autoscaling.agones.dev": {"FleetAutoscaler": _SIZES},
    "autoscaling.k8s.elastic.co": {"ElasticsearchAutoscaler": _SIZES},
    "autoscaling.karmada.io": {"FederatedHPA": _SIZES, "CronFederatedHPA": _SIZES},
    "autoscaling.x-k8s.io": {
        "CapacityBuffer": _NODES,
        "ProvisioningRequest": _NODES,
    },
    "batch.volcano.sh": {"Job": _CREATES},
    "cluster.k8s.io": {"MachineDeployment": _NODES, "MachineSet": _NODES},
    "cluster.x-k8s.io": {
        "MachineDeployment": _NODES,
        "MachinePool": _NODES,
        "MachineSet": _NODES,
    },
    "datadoghq.com": {"DatadogPodAutoscaler": _SIZES, "WatermarkPodAutoscaler": _SIZES},
    "descheduler": {"DeschedulerPolicy": _MOVES},
    "flagger.app": {"Canary": _CREATES},
    "flink.apache.org": {
        "FlinkDeployment": _CREATES,
        "FlinkSessionJob": _CREATES,
    },
    "flow.volcano.sh": {"JobFlow": _CREATES},
    "jobset.x-k8s.io": {"JobSet": _CREATES},
    "karpenter.k8s.aws": {"AWSNodeTemplate": _NODES, "EC2NodeClass": _NODES},
    "karpenter.sh": {
        "NodeClaim": _NODES,
        "NodeOverlay": _NODES,
        "NodePool": _NODES,
        "Provisioner": _NODES,
    },
    "kubeflow.org": {
        "JAXJob": _CREATES,
        "MPIJob": _CREATES,
        "MXJob": _CREATES,
        "Notebook": _CREATES,
        "PaddleJob": _CREATES,
        "PyTorchJob": _CREATES,
        "TFJob": _CREATES,
        "XGBoostJob": _CREATES,
    },
    "kubevirt.io": {
        "VirtualMachine": _CREATES,
        "VirtualMachineInstance": _CREATES,
        "VirtualMachineInstanceReplicaSet": _CREATES,
    },
    "kueue.x-k8s.io": {
        "ClusterQueue": _ADMITS,
        "LocalQueue": _ADMITS,
        "Workload": _ADMITS,
    },
    "leaderworkerset.x-k8s.io": {"LeaderWorkerSet": _CREATES},
    "policy.karmada.io": {
        "ClusterPropagationPolicy": _CREATES,
        "PropagationPolicy": _CREATES,
    },
    "policy.kruise.io": {"PodUnavailableBudget": _MOVES},
    "ray.io": {
        "RayCluster": _CREATES,
        "RayCronJob": _CREATES,
        "RayJob": _CREATES,
        "RayService": _CREATES,
    },
    "scheduling.koordinator.sh": {"PodMigrationJob": _MOVES, "Reservation": _ADMITS},
    "scheduling.x-k8s.io": {"PodGroup": _ADMITS},
    "scheduling.volcano.sh": {"PodGroup": _ADMITS, "Queue": _ADMITS},
    "serving.knative.dev": {
        "Configuration": _CREATES,
        "Revision": _CREATES,
        "Service": _CREATES,
    },
    "serving.kserve.io": {"InferenceService": _CREATES},
    "sparkoperator.k8s.io": {
        "ScheduledSparkApplication": _CREATES,
        "SparkApplication": _CREATES,
        "SparkConnect": _CREATES,
    },
    "tekton.dev": {"PipelineRun": _CREATES, "TaskRun": _CREATES},
    "trainer.kubeflow.org": {"TrainJob": _CREATES},
    "workload.codeflare.dev": {"AppWrapper": _CREATES},
    **_OPERATORS,
}
"""By group and kind, what the controller of an object does."""


def effect_of(api_version: str, kind: str) -> str | None:
    """Return what the controller of a custom kind does to pods; None if unlisted."""
    return _EFFECTS.get(group_of(api_version), {}).get(kind)
