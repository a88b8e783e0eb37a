"""An environment of Gymnasium: an agent takes the decisions of a scheduler."""

from importlib.util import find_spec

if find_spec("gymnasium") is None:
    raise ModuleNotFoundError(
        "quaymaster.gym needs Gymnasium: pip install 'quaymaster[gym]'",
        name="gymnasium",
    )
