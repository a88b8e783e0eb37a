"""The driver of a real cluster: the port to an API server, in a process of its own."""
