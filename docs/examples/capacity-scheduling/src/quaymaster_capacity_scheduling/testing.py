"""A maker of quotas, for tests."""

from collections.abc import Mapping

from quaymaster.objects import Quantity
from quaymaster.testing import make_metadata

from quaymaster_capacity_scheduling.elastic_quota import ElasticQuota, ElasticQuotaSpec

__all__ = ["make_quota"]


def make_quota(
    namespace: str,
    *,
    min: Mapping[str, str | int] | None = None,  # noqa: A002 - as the field
    max: Mapping[str, str | int] | None = None,  # noqa: A002
    name: str = "quota",
) -> ElasticQuota:
    """Make the quota of a namespace.

    Args:
        namespace: The namespace.
        min: Resource name -> what is promised, as in a manifest.
        max: Resource name -> what is allowed; nothing for no bound.
        name: The quota's name.
    """
    least = {key: Quantity(amount) for key, amount in (min or {}).items()}
    most = {key: Quantity(amount) for key, amount in (max or {}).items()}
    return ElasticQuota(
        metadata=make_metadata(ElasticQuota, name=name, namespace=namespace),
        spec=ElasticQuotaSpec(min=least, max=most),
    )
