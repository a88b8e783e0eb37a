"""Code that is generated around hooks shows in tracebacks."""

import traceback

from quaymaster import Handle, Pod, Status, hookimpl
from quaymaster.scheduler import HookError
from quaymaster.testing import SchedulerHarness, make_node, make_pod, profile_config


class Broken:
    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def filter(self, pod: Pod) -> Status | None:
        raise ValueError(pod.name)


def test_traceback_of_a_failed_hook_shows_the_line_that_called_it() -> None:
    harness = SchedulerHarness(
        [make_node(name="a")],
        plugins={"Broken": Broken},
        config=profile_config(enable=["Broken"]),
    )
    harness.cluster.create(make_pod(name="p"))
    harness.settle()
    failed: HookError = harness.errors[0]
    text = "".join(traceback.format_exception(failed.error))
    assert 'File "<quaymaster timed guard of a hook with (pod) of' in text
    assert "answer = function(pod)" in text
    assert "<string>" not in text
