"""Writes the pytest file of a decision."""

import json
import re
import textwrap
from collections.abc import Sequence
from typing import Any, Final

import attrs
import yaml

from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._studies.simulation.explained import ExplainedPod

__all__ = ["TestSource"]

_WIDTH: Final = 84
_HEAD: Final = '''"""{title}

{story}
"""
'''
_TEST: Final = """

def test_{name}() -> None:
    registry = PluginRegistry.discover()
    config = {config}
{load}    explained = explain_pod(
        {pod},
        cluster.objects,
        config=config,
        registry=registry,
        seed={seed},
        attempt=1,
    )
    assert explained.outcome == {outcome}
"""
_LOAD: Final = """\
    cluster = load([], stored=[("CLUSTER", CLUSTER)], kubernetes=KUBERNETES)
"""
_LOAD_WITH_KINDS: Final = """\
    cluster = load(
        [],
        kinds=declared_kinds(config, registry),
        stored=[("CLUSTER", CLUSTER)],
        kubernetes=KUBERNETES,
    )
"""


@attrs.frozen(kw_only=True)
class TestSource:
    """The parts of the pytest file.

    Attributes:
        trees: The objects, as in manifests.
        explained: The decision about the pod.
        nominated_node: The node to which it is nominated, or empty.
        config: A shipped profile's name, or empty.
        config_text: A configuration's YAML, or empty.
        kubernetes: The version of Kubernetes.
        seed: The seed.
        story: How the file was made, for its reader.
        has_own_kinds: Whether some objects are of kinds of plugins and packages.
    """

    __test__ = False  # not a test itself, for pytest

    trees: Sequence[dict[str, Any]]
    explained: ExplainedPod
    nominated_node: str = ""
    config: str = ""
    config_text: str = ""
    kubernetes: Kubernetes = DEFAULT_KUBERNETES
    seed: int = 0
    story: str = ""
    has_own_kinds: bool = False

    def text(self) -> str:
        """Return the file's content."""
        return "".join(
            (
                _HEAD.format(title=self._title(), story=_wrapped(self.story)),
                self._imports(),
                self._kubernetes(),
                self._texts(),
                self._test(),
            )
        )

    def _title(self) -> str:
        pod, outcome = self.explained.pod, self.explained.outcome
        where = f" on {self.explained.node}" if self.explained.node else ""
        return f"The pod {pod} is {outcome}{where}."

    def _imports(self) -> str:
        names = ["parse_config" if self.config_text else "default_config"]
        if self.config:
            names = ["load_config"]
        if self.has_own_kinds:
            names = sorted([*names, "declared_kinds"])
        first = "\nimport yaml\n" if self.config_text else ""
        return (
            f"{first}\nfrom quaymaster.config import Kubernetes, {', '.join(names)}\n"
            "from quaymaster.manifests import load\n"
            "from quaymaster.scheduler import PluginRegistry\n"
            "from quaymaster.simulation import explain_pod\n"
        )

    def _texts(self) -> str:
        documents = "---\n".join(map(_yaml, self.trees))
        texts = f'\nCLUSTER = b"""\\\n{_in_literal(documents)}"""\n'
        if self.config_text:
            texts += f'\nCONFIG = """\\\n{_in_literal(self.config_text)}"""\n'
        return texts

    def _test(self) -> str:
        explained = self.explained
        lines = _TEST.format(
            name=_test_name(explained),
            pod=_quoted(explained.pod),
            config=self._config_call(),
            load=_LOAD_WITH_KINDS if self.has_own_kinds else _LOAD,
            seed=self.seed,
            outcome=_quoted(explained.outcome),
        )
        if explained.node:
            lines += f"    assert explained.node == {_quoted(explained.node)}\n"
        if explained.message:
            lines += f"    assert explained.message == {_literal(explained.message)}\n"
        if self.nominated_node:
            lines += "    [attempt, *_] = explained.attempts\n"
            lines += (
                f"    assert attempt.nominated_node == {_quoted(self.nominated_node)}\n"
            )
        return lines

    def _config_call(self) -> str:
        if self.config:
            name = _quoted(self.config)
            return f"load_config({name}, registry, kubernetes=KUBERNETES)"
        if self.config_text:
            return (
                "parse_config(\n"
                "        yaml.safe_load(CONFIG),\n"
                "        registry,\n"
                '        source="CONFIG",\n'
                "        kubernetes=KUBERNETES,\n"
                "    )"
            )
        return "default_config(registry, kubernetes=KUBERNETES)"

    def _kubernetes(self) -> str:
        """Return the version as a constant: by name, so that defaults may change."""
        version, gates = self.kubernetes.version, self.kubernetes.feature_gates
        if not gates:
            return f"\nKUBERNETES = Kubernetes({_quoted(version)})\n"
        items = "".join(
            f"        {_quoted(gate)}: {gates[gate]},\n" for gate in sorted(gates)
        )
        return (
            f"\nKUBERNETES = Kubernetes(\n    {_quoted(version)},\n"
            f"    {{\n{items}    }},\n)\n"
        )


def _yaml(tree: dict[str, Any]) -> str:
    # Without Unicode, since a literal of bytes may only have ASCII characters.
    text: str = yaml.safe_dump(
        tree, sort_keys=False, default_flow_style=False, allow_unicode=False
    )
    return text


def _in_literal(text: str) -> str:
    # Backslashes first, or those before quotes would be doubled as well.
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def _wrapped(text: str) -> str:
    return "\n".join(textwrap.wrap(text, _WIDTH))


def _literal(text: str) -> str:
    """Return a text as a Python literal, over several lines if it is long."""
    parts = textwrap.wrap(
        text, 72, drop_whitespace=False, break_long_words=False, break_on_hyphens=False
    )
    # Wrapping turns tabs and line ends into spaces, which would be another text.
    if len(parts) < 2 or "".join(parts) != text:
        return _quoted(text)
    lines = "".join(f"        {_quoted(part)}\n" for part in parts)
    return f"(\n{lines}    )"


def _quoted(text: str) -> str:
    """Return a text in double quotes, as Python formatters write it."""
    return json.dumps(text)


def _test_name(explained: ExplainedPod) -> str:
    name = re.sub(r"\W+", "_", explained.pod.rpartition("/")[2])
    return f"pod_{name}_is_{explained.outcome}"
