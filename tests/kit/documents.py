"""Parts of configurations; `quaymaster.testing` makes whole ones."""

__all__ = ["HEADER", "YAML_HEADER"]

HEADER: dict[str, object] = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
}
"""The first fields of every configuration."""

YAML_HEADER = "".join(f"{key}: {value}\n" for key, value in HEADER.items())
"""The same fields as the text of a file."""
