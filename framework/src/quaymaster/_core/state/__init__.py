"""What runs where: nodes, pods and counts, as columns and as objects."""
