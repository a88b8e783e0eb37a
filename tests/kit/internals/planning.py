"""What tests see of ``quaymaster._studies.planning``."""

from quaymaster._studies.planning.needs import Need
from quaymaster._studies.planning.order import Order

__all__ = ["Need", "Order"]
