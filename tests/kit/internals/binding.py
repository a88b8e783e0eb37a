"""What tests see of ``quaymaster._core.binding``."""

from quaymaster._core.binding.executor import Post
from quaymaster._core.binding.stations import BindingStations, PausedPreBind
from quaymaster._core.binding.waiting_pods import WaitingPods

__all__ = ["BindingStations", "PausedPreBind", "Post", "WaitingPods"]
