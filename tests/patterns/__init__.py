"""The regular expressions of the product: all are listed, and take linear time."""
