"""The configuration page shows the configuration without secrets."""

import json

from quaymaster.config import load_config
from quaymaster.scheduler import PluginRegistry
from tests.kit.internals.operation import REDACTED, configz, redacted


def test_page_has_the_configuration_in_force() -> None:
    configs = [
        load_config(name, PluginRegistry.discover()) for name in ("batch", "default")
    ]
    page = configz(configs.pop)
    for profile in ("default", "batch"):
        reply = page({})
        tree = json.loads(reply.body)["componentconfig"]
        assert (reply.status, reply.content_type) == (200, "application/json")
        assert tree["kind"] == "KubeSchedulerConfiguration"
        assert [section["schedulerName"] for section in tree["profiles"]], profile


def test_secrets_are_redacted() -> None:
    tree = {
        "apiToken": "a",
        "password": "b",
        "clientSecret": {"value": "c"},
        "tlsConfig": {"keyData": "d", "keyFile": "/etc/key.pem"},
        "urlPrefix": "https://me:e@harbour.example/x",
        "items": [{"credentials": ["f"]}],
    }
    assert redacted(tree) == {
        "apiToken": REDACTED,
        "password": REDACTED,
        "clientSecret": REDACTED,
        "tlsConfig": {"keyData": REDACTED, "keyFile": "/etc/key.pem"},
        "urlPrefix": f"https://{REDACTED}@harbour.example/x",
        "items": [{"credentials": REDACTED}],
    }


def test_fields_that_only_sound_like_secrets_are_shown() -> None:
    tree = {
        "matchExpressions": [{"key": "zone", "operator": "Exists"}],
        "topologyKey": "kubernetes.io/hostname",
        "secretName": "pull",
        "apiToken": "",
    }
    assert redacted(tree) == tree
