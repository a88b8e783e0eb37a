"""The program on the documentation page schedules on a real cluster."""

import sys
from functools import partial
from pathlib import Path

from tests.docs.snippets import read_page
from tests.e2e.client import ApiClient, path_of
from tests.e2e.control_plane import ControlPlane
from tests.e2e.loads import nodes, pods
from tests.e2e.processes import eventually
from tests.kit.sources import ROOT

PAGE = ROOT / "docs" / "how-to" / "run-in-a-program.md"


def is_placed(admin: ApiClient, path: str) -> bool:
    return bool(admin.get(path)["spec"].get("nodeName"))


def test_program_of_the_page_binds_pods_and_ends_well(
    servers: None, tmp_path: Path
) -> None:
    [(name, text)] = read_page(PAGE).files.items()
    program = tmp_path / name
    program.write_text(text)
    with ControlPlane() as plane:
        admin = plane.client()
        for tree in nodes(2):
            admin.create(tree)
        with plane.run([sys.executable, program, plane.kubeconfig()]) as running:
            made = [
                admin.create(tree) for tree in pods(5, "default", scheduler="harbour")
            ]
            for tree in made:
                path = path_of(tree)
                eventually(partial(is_placed, admin, path), what=path)
            assert running.stop() == 0
            lines = running.log.read_text().splitlines()
    assert {line.partition(" ")[0] for line in lines} == {
        f"default/pod-{number:05}" for number in range(5)
    }
