"""Checks the features that an author passes to `pods` and `nodes`."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence

from quaymaster._api.objects import ApiObject
from quaymaster._authors.testing.contract.features import Feature
from quaymaster._base.suggestions import did_you_mean

__all__ = ["checked_features"]


def checked_features(
    strategy: str, maker: Callable[..., ApiObject], features: Iterable[object]
) -> Sequence[Feature]:
    """Return features, each a mapping with arguments of a maker.

    Args:
        strategy: The name of the function that got the features.
        maker: The maker, such as `make_pod`.
        features: The features.

    Raises:
        TypeError: One is not a mapping, or the maker has no such argument.
    """
    checked: list[Feature] = []
    names = list(inspect.signature(maker).parameters)
    for feature in features:
        if not isinstance(feature, Mapping):
            what = f"expected arguments of {maker.__name__} in a dict, such as"
            example = '{"labels": {"tier": "gold"}}'
            raise TypeError(f"{strategy}: {what} {example}, got {feature!r}")
        for name in feature:
            if name not in names:
                hint = did_you_mean(str(name), names)
                text = f"{maker.__name__} has no argument {name!r}{hint}"
                raise TypeError(f"{strategy}: {text}")
        checked.append(feature)
    return checked
