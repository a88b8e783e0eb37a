"""What it takes to run on a cluster: rights, manifests, and checks before the start."""
