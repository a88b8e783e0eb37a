"""Changes of a cluster in virtual time: what people do to it, and what befalls it."""
