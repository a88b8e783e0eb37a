"""An environment of Gymnasium: an agent takes the decisions of a scheduler."""
