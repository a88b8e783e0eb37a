"""The scheduling cycle: from a pod to the node that it should run on."""
