"""The kinds of histories."""

from collections.abc import Callable, Mapping, Sequence

import attrs

from tests.chaos.devices.device_history import draw_device_steps
from tests.chaos.devices.device_machine import DeviceMachine
from tests.chaos.machine import Machine
from tests.chaos.steps import Step, draw_steps

__all__ = ["HISTORIES", "History"]


@attrs.frozen
class History:
    """A kind of history.

    Attributes:
        make: Makes the machine of a seed, and of a version of Kubernetes.
        draw: Draws the steps of a seed.
    """

    make: Callable[[int, str], Machine]
    draw: Callable[[int], Sequence[Step]]


HISTORIES: Mapping[str, History] = {
    "pods": History(Machine, draw_steps),
    "devices": History(DeviceMachine, draw_device_steps),
}
"""Name -> kind: pods and nodes, or these with devices."""
