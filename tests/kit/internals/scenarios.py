"""What tests see of ``quaymaster._studies.scenarios``."""

from quaymaster._studies.scenarios.arrivals import (
    Bursts,
    Constant,
    Diurnal,
    Poisson,
    Repeat,
    arrivals,
)
from quaymaster._studies.scenarios.run_times import (
    Empirical,
    Exponential,
    Lognormal,
    RunTime,
    Uniform,
    run_times,
)
from quaymaster._studies.scenarios.streams import random_stream
from quaymaster._studies.scenarios.timeline import check_input

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
