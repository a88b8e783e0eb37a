"""A Gymnasium environment: an agent makes the decisions of a scheduler."""
