"""How long runs of an experiment last, and which part of them counts."""

import math

import attrs

__all__ = ["Period"]


@attrs.frozen(kw_only=True)
class Period:
    """The part of a run that is simulated, and the part of it that counts.

    Attributes:
        horizon: When the run ends, in seconds; infinite to let the cluster settle.
        warm_up: From when on the run counts.
    """

    horizon: float = math.inf
    warm_up: float = 0.0
