"""Changes of a cluster in virtual time: actions of its operators, and failures."""
