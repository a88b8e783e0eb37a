"""The arguments of the plugins."""

from collections.abc import Iterator
from datetime import timedelta

import attrs
from quaymaster.config import ArgsError, duration, non_empty, one_of

from quaymaster_order.policies import PolicyError, policy_of

__all__ = ["AgeingSortArgs", "EasyBackfillingArgs", "HeadOfLineArgs", "OrderArgs"]


@attrs.frozen(kw_only=True)
class OrderArgs:
    """The arguments of every order.

    Attributes:
        order_by: The order: FirstCome, ShortestFirst, F1, WFP3, UNICEP,
            LeastAttainedService, FairShare, or a `Policy` as ``package.module:NAME``.
        account_label: For orders by usage: the label whose value is the account of a
            pod. Pods without it count for their namespace or their owner.
        resource: For orders by usage: the resource that counts.
        half_life: For orders by usage: after this time, usage counts half; 0 for no
            decay.
    """

    order_by: str = "FirstCome"
    account_label: str = ""
    resource: str = attrs.field(default="cpu", validator=non_empty())
    half_life: timedelta = attrs.field(
        default=timedelta(), validator=duration(timedelta())
    )

    def validate(self) -> Iterator[ArgsError]:
        """Check that the order exists."""
        try:
            policy_of(self.order_by)
        except PolicyError as error:
            yield ArgsError("orderBy", str(error))


@attrs.frozen(kw_only=True)
class HeadOfLineArgs(OrderArgs):
    """The arguments of HeadOfLine.

    Attributes:
        keep_head: Whether the pod at the head stays there until it has its node, even
            if a pod arrives that comes before it.
    """

    keep_head: bool = True


@attrs.frozen(kw_only=True)
class EasyBackfillingArgs(HeadOfLineArgs):
    """The arguments of EasyBackfilling.

    Attributes:
        backfill_in: In which order pods may pass: ``Order``, or ``Arrival``.
        spare_room: Whether a pod that ends later than the reservation begins may pass,
            if there is enough room for both.
        margin: How much earlier than the reservation another pod has to end, at least.
    """

    backfill_in: str = attrs.field(
        default="Order", validator=one_of("Order", "Arrival")
    )
    spare_room: bool = True
    margin: timedelta = attrs.field(
        default=timedelta(), validator=duration(timedelta())
    )


@attrs.frozen(kw_only=True)
class AgeingSortArgs(OrderArgs):
    """The arguments of AgeingSort.

    Attributes:
        interval: How often the keys of waiting pods are computed again.
    """

    interval: timedelta = attrs.field(
        default=timedelta(seconds=10), validator=duration(timedelta(milliseconds=1))
    )
