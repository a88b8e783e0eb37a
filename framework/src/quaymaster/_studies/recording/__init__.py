"""Records of a cluster, and their replay."""
