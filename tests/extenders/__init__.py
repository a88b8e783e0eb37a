"""Our decisions with extenders, compared with the real kube-scheduler's."""
