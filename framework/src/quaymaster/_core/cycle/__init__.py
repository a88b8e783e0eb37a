"""The scheduling cycle: finds the node for a pod."""
