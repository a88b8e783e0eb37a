"""Reports have a table of the PodGroups of a run."""

from quaymaster.config import Kubernetes, default_config
from quaymaster.simulation import Simulation
from tests.kit.group_cluster import cpu_nodes, gang_objects
from tests.kit.internals.reporting import group_tables, run_columns

GATES = {"GenericWorkload": True, "TopologyAwareWorkloadScheduling": True}


def test_each_group_is_one_row() -> None:
    objects = [
        *cpu_nodes("a", "b"),
        *gang_objects(2),
        *gang_objects(3, name="late"),
    ]
    config = default_config(kubernetes=Kubernetes("1.37", GATES))
    with Simulation(objects, config=config, observe=True) as run:
        run.settle()
        observed = run.observed()
    [table] = group_tables([observed])
    first, second = table.rows
    assert first[:5] == ("default/gang", "scheduled", 2, 2, 2)
    assert set(str(first[6]).split(", ")) == {"a (1)", "b (1)"}
    assert second[:5] == ("default/late", "unschedulable", 3, 0, 3)
    assert table.failed == (1,)
    pods = run_columns(observed)["pods"]
    assert isinstance(pods, dict)
    assert pods["group"]["values"] == ["default/gang", "default/late"]


def test_runs_without_groups_have_no_table() -> None:
    with Simulation(cpu_nodes("a"), observe=True) as run:
        run.settle()
        observed = run.observed()
        assert list(group_tables([observed])) == []
        pods = run_columns(observed)["pods"]
        assert isinstance(pods, dict)
        assert "group" not in pods
