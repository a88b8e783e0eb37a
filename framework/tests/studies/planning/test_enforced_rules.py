"""Bounds follow from the rules that the enabled plugins enforce."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from quaymaster import ApiObject
from quaymaster.config import load_config
from quaymaster.planning import Plan, parse_node_group, plan
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import (
    make_affinity_term,
    make_daemon_set,
    make_pod,
    make_spread_constraint,
)

REGISTRY = PluginRegistry.discover()
HOST = "kubernetes.io/hostname"
LABELS = {"app": "web"}
CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      disabled: {disabled}
  pluginConfig: {args}
"""
IGNORED = """[{name: NodeResourcesFit, args: {
  apiVersion: kubescheduler.config.k8s.io/v1, kind: NodeResourcesFitArgs,
  ignoredResourceGroups: [example.com]}}]"""

Planned: TypeAlias = Callable[..., Plan]


@pytest.fixture
def planned(tmp_path: Path) -> Planned:
    """Return a function that plans nodes of 4 CPUs with a single trial."""

    def run(*objects: ApiObject, disabled: str = "", args: str = "[]") -> Plan:
        file = tmp_path / "config.yaml"
        names = f"[{{name: {disabled}}}]" if disabled else "[]"
        file.write_text(CONFIG.format(disabled=names, args=args))
        return plan(
            objects,
            groups=[parse_node_group("cpu=4,memory=8Gi,example.com/fpga=1,max=5")],
            config=load_config(file, registry=REGISTRY),
            registry=REGISTRY,
            max_trials=1,
        )

    return run


APART = [make_affinity_term(topology_key=HOST, selector=LABELS)]
SPREAD = [make_spread_constraint(topology_key=HOST, selector=LABELS, min_domains=2)]
PAIRS: dict[str, tuple[ApiObject, ...]] = {
    # The plugin -> two pods that share no node if it is there.
    "NodeResourcesFit": tuple(
        make_pod(name=name, requests={"cpu": "3"}) for name in "ab"
    ),
    "NodePorts": tuple(make_pod(name=name, host_ports=[8080]) for name in "ab"),
    "InterPodAffinity": tuple(
        make_pod(name=name, labels=LABELS, pod_anti_affinity=APART) for name in "ab"
    ),
    "PodTopologySpread": tuple(
        make_pod(name=name, labels=LABELS, spread=SPREAD) for name in "ab"
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("plugin", PAIRS)
def test_a_rule_gives_a_bound_if_its_plugin_is_enabled(
    plugin: str, planned: Planned
) -> None:
    with_it = planned(*PAIRS[plugin])
    assert (float(with_it.lower_bound), with_it.tried) == (2, 1)
    assert planned(*PAIRS[plugin], disabled=plugin).lower_bound < 2


@pytest.mark.long
def test_resources_that_the_scheduler_ignores_make_no_bound(planned: Planned) -> None:
    amounts = {"example.com/fpga": "1"}
    pods = [make_pod(name=n, requests=amounts, limits=amounts) for n in "ab"]
    assert planned(*pods).lower_bound == 2
    assert len(planned(*pods, args=IGNORED).nodes) == 1


@pytest.mark.long
def test_a_port_that_daemons_use_everywhere_is_reported_at_once(
    planned: Planned,
) -> None:
    agent = make_daemon_set(name="agent", pod=make_pod(host_ports=[9100]))
    found = planned(agent, make_pod(name="a", host_ports=[9100]))
    assert (found.is_found, found.is_final, found.tried) == (False, True, 0)
    assert found.unplaced[0].plugins == ("NodePorts",)


@pytest.mark.long
def test_daemons_of_one_node_leave_room_on_the_next(planned: Planned) -> None:
    own = {HOST: "node-000"}
    pod = make_pod(requests={"cpu": "1"}, node_selector=own)
    agent = make_daemon_set(name="agent", pod=pod)
    found = planned(agent, make_pod(name="a", requests={"cpu": "4"}))
    assert len(found.nodes) == 2
