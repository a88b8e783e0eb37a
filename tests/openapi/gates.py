"""The defaults of feature gates, as the sources of Kubernetes have them."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

__all__ = ["gate_defaults"]

_FILE: Final = "pkg/features/kube_features.go"
_GATE: Final = re.compile(
    r"^\t(?:\w+\.)?(\w+): \{\n(.*?)^\t\},", re.MULTILINE | re.DOTALL
)
_STAGE: Final = re.compile(r'MustParse\("(\d+)\.(\d+)"\), Default: (true|false)')


def gate_defaults(module: Path, version: str) -> Mapping[str, bool]:
    """Return the gates of the API server that a version has, with their defaults.

    Args:
        module: The folder of the module ``k8s.io/kubernetes``.
        version: The minor version, such as ``1.37``.
    """
    own = _number(*version.split("."))
    defaults: dict[str, bool] = {}
    for gate, body in _GATE.findall((module / _FILE).read_text()):
        stages = {
            _number(major, minor): default == "true"
            for major, minor, default in _STAGE.findall(body)
        }
        reached = [stage for stage in stages if stage <= own]
        if reached:
            defaults[gate] = stages[max(reached)]
    return defaults


def _number(major: str, minor: str) -> tuple[int, int]:
    return int(major), int(minor)
