"""Configurations as documents, in a few words."""

__all__ = ["HEADER", "YAML_HEADER", "enabling"]

HEADER: dict[str, object] = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
}
"""What every configuration begins with."""

YAML_HEADER = "".join(f"{key}: {value}\n" for key, value in HEADER.items())
"""The same in a file."""


def enabling(*plugins: str, name: str = "default-scheduler") -> dict[str, object]:
    """A configuration of one profile: the default plugins, and some more.

    Args:
        *plugins: Their names.
        name: The scheduler name of the profile.

    Returns:
        The document.
    """
    enabled = [{"name": plugin} for plugin in plugins]
    profile = {
        "schedulerName": name,
        "plugins": {"multiPoint": {"enabled": enabled}},
    }
    return {**HEADER, "profiles": [profile]}
