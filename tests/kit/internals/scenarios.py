"""What tests see of ``quaymaster._scenarios``."""

from quaymaster._scenarios.arrivals import (
    Bursts,
    Constant,
    Diurnal,
    Poisson,
    Repeat,
    arrivals,
)
from quaymaster._scenarios.run_times import (
    Empirical,
    Exponential,
    Lognormal,
    RunTime,
    Uniform,
    run_times,
)
from quaymaster._scenarios.streams import random_stream
from quaymaster._scenarios.timeline import check_input

__all__ = [
    "Bursts",
    "Constant",
    "Diurnal",
    "Empirical",
    "Exponential",
    "Lognormal",
    "Poisson",
    "Repeat",
    "RunTime",
    "Uniform",
    "arrivals",
    "check_input",
    "random_stream",
    "run_times",
]
