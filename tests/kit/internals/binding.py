"""What tests see of ``quaymaster._binding``."""

from quaymaster._binding.executor import Post
from quaymaster._binding.stations import BindingStations, PausedPreBind
from quaymaster._binding.waiting_pods import WaitingPods

__all__ = ["BindingStations", "PausedPreBind", "Post", "WaitingPods"]
